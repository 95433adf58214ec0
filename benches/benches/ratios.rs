//! `cargo ratios`: what a decision costs, as ratios within one run. One JSON object on standard output.
//! `cargo ratios PART …` measures the parts `decisions`, `million` and `sidecar` alone.

use std::{
    alloc::System,
    collections::{BTreeMap, HashMap},
    env,
    hint::black_box,
    path::Path,
    time::Instant,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use cap::Cap;
use ed25519_dalek::{Signer as _, SigningKey};
use pact_benches::{
    lists::{MillionList, bytes_per_id, nth},
    rounds::{Loop, Medians},
    wire::measures::measure,
    world::{Caller, Failure, World, action, wall},
};
use pact_mandate::{Call, Format, Monotonic, Now, limits::FAMILIAR_AFTER};
use pact_verifier::{Presented, PresentedProof, Verifier, proof::FreshProof};

/// Counts what is allocated, for `list.million.bytes_per_id`.
#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// Many short rounds: then RAW and the decisions find caches and clock speed alike.
const ROUNDS: usize = 1500;
const RUNS: usize = 1;
/// So many callers take turns in a cold loop that none of their keys becomes a familiar one.
const STRANGERS: usize = ROUNDS / 6;
const _: () = assert!(FAMILIAR_AFTER > 7);
const PARTS: [&str; 3] = ["decisions", "million", "sidecar"];

/// One prepared call: everything that is made before the clock starts.
struct Prepared {
    presented: Presented,
    proof: PresentedProof,
    call: Call,
}

/// Makes the `n`-th call of a caller.
type Prepare = fn(&World, &Caller, usize) -> Result<Prepared, Failure>;

fn main() -> Result<(), Failure> {
    // Cargo says `--bench`.
    let parts: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(&part.as_str())) {
        return Err(format!("{unknown} is no part; these are: {}", PARTS.join(", ")).into());
    }
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|wanted| wanted == part);
    let folder = tempfile::tempdir()?;
    let world = World::new(now()?, folder.path())?;
    let mut ratios = BTreeMap::new();
    if wanted("decisions") {
        ratios.extend(decisions(&world)?);
    }
    if wanted("million") {
        ratios.extend(million(world.now)?);
    }
    if wanted("sidecar") {
        let hosted = Path::new(env!("CARGO_BIN_EXE_hosted"));
        ratios.extend(measure(&world, hosted, folder.path(), &eprintln)?);
    }
    println(&serde_json::to_string(&ratios)?);
    Ok(())
}

/// The loops around `admit`, RAW and the two crates.
fn decisions(world: &World) -> Result<BTreeMap<&'static str, f64>, Failure> {
    let count = (ROUNDS + 1) * RUNS;
    // No two proofs are alike in all loops together, and no caller of a cold one comes often.
    let warm = |set: usize, prepare: Prepare| -> Result<Vec<Prepared>, Failure> {
        (set * count..(set + 1) * count).map(|n| prepare(world, &world.caller, n)).collect()
    };
    let strange = |set: usize, prepare: Prepare| -> Result<Vec<Prepared>, Failure> {
        let callers = (0..STRANGERS).map(|n| world.new_caller(set * STRANGERS + n));
        let callers: Vec<Caller> = callers.collect::<Result<_, _>>()?;
        (set * count..(set + 1) * count)
            .zip(callers.iter().cycle())
            .map(|(n, by)| prepare(world, by, n))
            .collect()
    };
    let cold = world.cold();
    let medians = Medians::of(
        ROUNDS,
        vec![
            raw(),
            admit("tenuo.cold", world, &cold, strange(0, prepare_tenuo)?),
            admit("tenuo.warm", world, &world.verifier, warm(1, prepare_tenuo)?),
            admit("biscuit.cold", world, &cold, strange(2, prepare_biscuit)?),
            admit("biscuit.warm", world, &world.verifier, warm(3, prepare_biscuit)?),
            tenuo_crate(world)?,
            biscuit_crate(world)?,
        ],
    );
    for (name, time) in medians.iter() {
        eprintln(&format!("{name}: {:.1} µs", time / 1000.0));
    }
    let raw = medians.get("raw");
    Ok(BTreeMap::from([
        ("tenuo.cold.4", medians.get("tenuo.cold") / (5.0 * raw)),
        ("tenuo.warm", medians.get("tenuo.warm") / raw),
        ("tenuo.cold.4.vs_crate", medians.get("tenuo.cold") / medians.get("tenuo.crate")),
        ("biscuit.cold.3.vs_crate", medians.get("biscuit.cold") / medians.get("biscuit.crate")),
    ]))
}

fn prepare_tenuo(world: &World, caller: &Caller, n: usize) -> Result<Prepared, Failure> {
    let asked = world.asked(n)?;
    let proof = world.tenuo_proof(caller, &asked, n)?;
    Ok(Prepared {
        presented: Presented::tenuo(&caller.stack)?,
        proof,
        call: world.verifier.policy().judge(asked)?,
    })
}

fn prepare_biscuit(world: &World, caller: &Caller, n: usize) -> Result<Prepared, Failure> {
    let asked = world.asked(n)?;
    let proof = world.dpop_proof(caller, &asked, n)?;
    Ok(Prepared {
        presented: Presented::biscuit(&caller.token)?,
        proof,
        call: world.verifier.policy().judge(asked)?,
    })
}

/// From credential bytes and a parsed call to the permit.
fn admit<'a>(name: &'static str, world: &'a World, verifier: &'a Verifier, calls: Vec<Prepared>) -> Loop<'a> {
    let mut calls = calls.into_iter();
    Loop::new(name, RUNS, move |_| {
        let Some(Prepared { presented, proof, call }) = calls.next() else {
            unreachable!("one for each run")
        };
        let permit = verifier.admit(presented, &proof, call, &world.lists, world.now);
        assert!(permit.is_ok(), "{name}: {:?}", permit.err());
        black_box(permit.ok());
    })
}

/// RAW: one strict verification over 400 bytes.
fn raw() -> Loop<'static> {
    let key = SigningKey::from_bytes(&[8; 32]);
    let message = [0x33; 400];
    let signature = key.sign(&message);
    let public = key.verifying_key();
    Loop::new("raw", RUNS, move |_| {
        assert!(public.verify_strict(black_box(&message), black_box(&signature)).is_ok());
    })
}

/// The crate's own decoding and check of the same stack with the same kind of proof.
fn tenuo_crate(world: &World) -> Result<Loop<'static>, Failure> {
    use tenuo::{Authorizer, constraints::ConstraintValue, crypto::Signature, wire};

    let asked = world.asked(0)?;
    let PresentedProof::Tenuo { signature, fresh: Some(fresh) } =
        world.tenuo_proof(&world.caller, &asked, usize::MAX)?
    else {
        return Err("a Tenuo proof".into());
    };
    let stack = STANDARD.decode(&world.caller.stack)?;
    let root = tenuo::PublicKey::from_bytes(world.issuer_key().as_bytes())?;
    let authorizer = Authorizer::builder().trusted_root(root).build()?;
    let signature = Signature::from_bytes(signature.as_bytes())?;
    let text = |text: &str| ConstraintValue::String(text.to_owned());
    let raw: HashMap<String, ConstraintValue> = HashMap::from([
        ("project".to_owned(), text("web")),
        ("task_id".to_owned(), text("11111111-1111-4111-8111-111111111111")),
        ("cost_usd".to_owned(), ConstraintValue::Float(1.25)),
        ("runs".to_owned(), ConstraintValue::Integer(3)),
    ]);
    let mut signed = raw.clone();
    signed.insert("text".to_owned(), text(&format!("{:0>94}", 0)));
    signed.extend(proof_members(world, &asked, &fresh).map(|(name, value)| (name.to_owned(), value)));
    let at = i64::try_from(world.now.wall.seconds())?;
    let action = action()?;
    Ok(Loop::new("tenuo.crate", RUNS, move |_| {
        let verdict = wire::decode_stack(black_box(&stack)).and_then(|stack| {
            let (links, tool) = (&stack.0, action.as_str());
            authorizer.check_chain_with_pop_args_as_of(links, tool, &signed, &raw, Some(&signature), &[], at)
        });
        assert!(verdict.is_ok(), "{:?}", verdict.err());
        black_box(verdict.ok());
    }))
}

/// The members of protocol P1 as the crate takes them.
fn proof_members(
    world: &World,
    asked: &pact_mandate::Asked,
    fresh: &FreshProof,
) -> [(&'static str, tenuo::constraints::ConstraintValue); 5] {
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use tenuo::constraints::ConstraintValue::{Integer, String};

    [
        ("@aud", String(world.audience().as_str().to_owned())),
        ("@iat", Integer(i64::try_from(fresh.issued_at.seconds()).unwrap_or(i64::MAX))),
        ("@id", String(URL_SAFE_NO_PAD.encode(fresh.id))),
        ("@params", String(URL_SAFE_NO_PAD.encode(asked.params))),
        ("@tool", String(asked.tool.clone())),
    ]
}

/// The crate's own parsing, verification and authorization of the same token for the same call.
fn biscuit_crate(world: &World) -> Result<Loop<'static>, Failure> {
    use base64::engine::general_purpose::URL_SAFE;
    use biscuit_auth::{
        Algorithm, Biscuit, PublicKey,
        builder::{AuthorizerBuilder, Term, fact, int, string},
        datalog::RunLimits,
    };

    let token = URL_SAFE.decode(&world.caller.token)?;
    let root = PublicKey::from_bytes(world.issuer_key().as_bytes(), Algorithm::Ed25519)?;
    let policy = AuthorizerBuilder::new()
        .policy("allow if tool($t), project($p), right($p, $t)")?
        .policy("deny if true")?
        .set_limits(RunLimits { max_time: std::time::Duration::from_secs(2), ..RunLimits::default() });
    let facts = [
        fact("tool", &[string("task.work")]),
        fact("project", &[string("web")]),
        fact("time", &[Term::Date(world.now.wall.seconds())]),
        fact("arg", &[string("task_id"), string("11111111-1111-4111-8111-111111111111")]),
        fact("arg", &[string("cost_usd"), int(1_250_000)]),
        fact("arg", &[string("runs"), int(3_000_000)]),
    ];
    Ok(Loop::new("biscuit.crate", RUNS, move |_| {
        let verdict = Biscuit::from(black_box(&token), root).and_then(|token| {
            let builder =
                facts.iter().try_fold(policy.clone(), |builder, fact| builder.fact(fact.clone()))?;
            builder.build(&token)?.authorize()
        });
        assert_eq!(verdict.ok(), Some(0));
    }))
}

/// The list of a million ids: its size on the wire and in memory, and one look-up.
fn million(now: Now) -> Result<BTreeMap<&'static str, f64>, Failure> {
    let list = MillionList::publish(now)?;
    let before = HEAP.allocated();
    let lists = list.load(now)?;
    let retained = HEAP.allocated().saturating_sub(before);
    let fresh = lists.fresh(list.issuer(), Format::Tenuo, now)?;
    let entries: Vec<_> = (0..20_000).map(|n| (nth(n * 50), nth(2_000_000 + n))).collect();
    // A look-up is so short that a run of the loop is a thousand of them, half found and half not.
    let look_up = Loop::new("lookup", 1, |run| {
        for (listed, absent) in entries.iter().cycle().skip(run % 40 * 500).take(500) {
            assert!(fresh.contains(black_box(listed)) && !fresh.contains(black_box(absent)));
        }
    });
    let medians = Medians::of(ROUNDS / 5, vec![raw(), look_up]);
    eprintln(&format!("lookup: {:.0} ns", medians.get("lookup") / 1000.0));
    Ok(BTreeMap::from([
        ("list.million.bytes_per_id", bytes_per_id(retained)),
        ("list.million.wire_bytes_per_id", list.wire_bytes_per_id()),
        ("list.million.lookup", medians.get("lookup") / 1000.0 / medians.get("raw")),
    ]))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a main reads the clock once; Tenuo's crate mints by the same one"
)]
fn now() -> Result<Now, Failure> {
    Ok(Now::new(wall()?, Monotonic::from_origin(Instant::now().elapsed())))
}

#[expect(clippy::print_stdout, reason = "the ratios are this program's output")]
fn println(line: &str) {
    println!("{line}");
}

#[expect(clippy::print_stderr, reason = "times are for the person who watches")]
fn eprintln(line: &str) {
    eprintln!("{line}");
}
