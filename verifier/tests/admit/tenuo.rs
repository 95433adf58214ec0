//! Tenuo warrants, minted by the `tenuo` crate.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_mandate::{Json, Now};
use pact_revocation::Entry;
use pact_verifier::{Presented, PresentedProof, proof::params_digest, refusal::Class};
use tenuo::{
    ConstraintSet, OneOf, Range, SigningKey, Warrant,
    wire::{WarrantStack, encode_stack},
};

use crate::world::*;

fn signing(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn constraints(most: f64) -> ConstraintSet {
    let mut set = ConstraintSet::new();
    set.insert("project", OneOf::new(["web"]));
    set.insert("cost_usd", Range::max(most).unwrap());
    set
}

/// Root, one link of the issuer, and the agent's leaf: an exported chain of two mandates. The crate reads the clock of
/// the system, so the moment of the test is the one at which it minted.
pub(crate) fn mint() -> (Credential, Now) {
    let issuer = signing(ROOT);
    let hour = Duration::from_hours(1);
    let mut set = ConstraintSet::new();
    set.insert("project", OneOf::new(["web", "shop"]));
    set.insert("cost_usd", Range::max(10.0).unwrap());
    let root = Warrant::builder().capability("task.read", set.clone()).capability("task.write", set);
    let root = root.holder(issuer.public_key()).ttl(hour).build(&issuer).unwrap();
    let hand_on = |parent: &Warrant, most: f64, holder: u8| {
        let child = parent.attenuate().capability("task.read", constraints(most));
        child.holder(signing(holder).public_key()).ttl_capped_to_parent(hour).build(&issuer).unwrap()
    };
    let middle = hand_on(&root, 5.0, ROOT);
    let leaf = hand_on(&middle, 2.5, AGENT);
    let now = at(u64::try_from(leaf.issued_at().timestamp()).unwrap());
    let ids = [&root, &middle, &leaf].map(|warrant| *warrant.id().as_bytes());
    let bytes = encode_stack(&WarrantStack::new(vec![root, middle, leaf])).unwrap();
    let text = STANDARD.encode(bytes);
    let presented = Presented::tenuo(&text).unwrap();
    let entries = ids.iter().map(Entry::of_warrant).collect();
    (Credential { presented, text, leaf: ids[2], entries }, now)
}

/// What the root granted to one agent, which hands it on to another.
fn handed_on(from: u8, to: u8) -> Credential {
    let hour = Duration::from_hours(1);
    let root = Warrant::builder().capability("task.read", constraints(5.0)).ttl(hour);
    let root = root.holder(signing(from).public_key()).build(&signing(ROOT)).unwrap();
    let leaf = root.attenuate().capability("task.read", constraints(2.5)).ttl_capped_to_parent(hour);
    let leaf = leaf.holder(signing(to).public_key()).build(&signing(from)).unwrap();
    let ids = [&root, &leaf].map(|warrant| *warrant.id().as_bytes());
    let text = STANDARD.encode(encode_stack(&WarrantStack::new(vec![root, leaf])).unwrap());
    let presented = Presented::tenuo(&text).unwrap();
    Credential { presented, text, leaf: ids[1], entries: ids.iter().map(Entry::of_warrant).collect() }
}

fn world() -> (World, Credential) {
    let (credential, now) = mint();
    (World::new(now), credential)
}

#[test]
fn a_call_within_everything_is_permitted_and_the_permit_knows_why() {
    let (world, credential) = world();
    let permit = world.call(&credential, "read_file", r#"{"path":"/a","cost":2.5}"#).unwrap();
    assert_eq!(permit.chain().issuer().as_str(), ISSUER);
    assert_eq!(permit.chain().root().as_str(), "root-1");
    assert_eq!(permit.chain().ids().len(), 3);
    assert_eq!(permit.chain().holder(), Some(&public(AGENT)));
    assert_eq!(permit.proven_by(), Some(public(AGENT).thumbprint().into()));
    assert_eq!(permit.list().version.get(), 1);
    assert_eq!(permit.call().judged.action.as_str(), "task.read");
    assert_eq!(permit.into_call().asked.tool, "read_file");
}

#[test]
fn p6_the_leaves_below_one_grant_count_to_the_share_of_whom_the_root_granted_it() {
    let (world, exported) = world();
    let grant = |credential: &Credential, holder| {
        let call = world.judged("read_file", "{}").unwrap();
        let proof = world.prove(credential, &call, holder);
        *world.admit(credential, &proof, call).unwrap().proof().unwrap().grant()
    };
    let agent = Entry::of_key(&public(AGENT).thumbprint());
    for leaf in 10..13 {
        assert_eq!(grant(&handed_on(AGENT, leaf), leaf), agent);
    }
    assert_eq!(grant(&handed_on(9, 10), 10), Entry::of_key(&public(9).thumbprint()));
    // The issuer's own links in an exported chain are no grant to anybody else.
    assert_eq!(grant(&exported, AGENT), agent);
}

#[test]
fn k2_a_root_that_nobody_trusts_is_refused() {
    let (mut world, credential) = world();
    let mut other = issuer();
    other.roots.clear();
    world.verifier = world.verifier.with_trust(trust(vec![other]));
    let refused = world.call(&credential, "read_file", "{}").unwrap_err();
    assert_eq!((refused.rung(), refused.class()), (1, Class::Unauthenticated), "{refused}");
}

#[test]
fn k2_an_issuer_that_does_not_speak_the_format_is_refused() {
    let (mut world, credential) = world();
    let mut other = issuer();
    other.speaks.formats.remove(&pact_mandate::Format::Tenuo);
    world.verifier = world.verifier.with_trust(trust(vec![other]));
    assert_eq!(world.call(&credential, "read_file", "{}").unwrap_err().rung(), 1);
}

#[test]
fn c2_every_byte_of_a_stack_that_is_changed_is_refused() {
    let (world, credential) = world();
    let whole = STANDARD.decode(&credential.text).unwrap();
    for place in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        let presented = Presented::tenuo(&STANDARD.encode(bytes)).unwrap();
        let changed = Credential { presented, ..credential.clone() };
        let refused = world.call(&changed, "read_file", "{}").unwrap_err();
        assert_eq!(refused.rung(), 1, "byte {place}: {refused}");
    }
}

#[test]
fn t2_an_expired_chain_is_refused_cached_or_not() {
    let (mut world, credential) = world();
    assert_eq!(world.code(&credential, "read_file", "{}"), "permit");
    world.now = later(world.now, 3601);
    world.lists = list(world.now, &[]);
    let cached = world.call(&credential, "read_file", "{}").unwrap_err();
    assert_eq!(cached.rung(), 1, "{cached}");
    let (mut fresh, _) = self::world();
    fresh.now = world.now;
    fresh.lists = list(world.now, &[]);
    assert_eq!(fresh.call(&credential, "read_file", "{}").unwrap_err(), cached);
}

#[test]
fn p1_a_call_without_the_holders_own_proof_for_it_is_refused() {
    let (world, credential) = world();
    let call = || world.judged("read_file", r#"{"cost":1}"#).unwrap();
    let code = |proof: &PresentedProof| code(world.admit(&credential, proof, call()));
    assert_eq!(code(&PresentedProof::Missing), "proof_missing");
    assert_eq!(code(&PresentedProof::Dpop("a.b.c".to_owned())), "proof_wrong_kind");
    assert_eq!(code(&world.prove(&credential, &call(), ROOT)), "tenuo_proof_invalid");
    let other_arguments = world.judged("read_file", r#"{"cost":2}"#).unwrap();
    assert_eq!(code(&world.prove(&credential, &other_arguments, AGENT)), "tenuo_proof_invalid");
    let mut other_tool = call();
    other_tool.asked.tool = "task.read".to_owned();
    assert_eq!(code(&world.prove(&credential, &other_tool, AGENT)), "tenuo_proof_invalid");
    let mut other_params = call();
    other_params.asked.params = [9; 32];
    assert_eq!(code(&world.prove(&credential, &other_params, AGENT)), "tenuo_proof_invalid");
    let old = tenuo_p1(&credential, &call(), AGENT, world.now.wall.minus(61));
    assert_eq!(code(&old), "tenuo_proof_too_old");
    let early = tenuo_p1(&credential, &call(), AGENT, world.now.wall.plus(6));
    assert_eq!(code(&early), "tenuo_proof_from_the_future");
    assert_eq!(code(&world.prove(&credential, &call(), AGENT)), "permit");
}

#[test]
fn p3_stock_proofs_count_where_the_policy_says_so_for_a_tool_called_as_its_action() {
    let (mut world, credential) = world();
    let arguments = r#"{"cost_usd":1,"project":"web"}"#;
    let stock = |world: &World, tool, arguments| {
        let call = world.judged(tool, arguments).unwrap();
        let proof = tenuo_stock(&credential, &call, AGENT, world.now.wall);
        code(world.admit(&credential, &proof, call))
    };
    assert_eq!(stock(&world, "task.read", arguments), "stock_proof_refused");
    world.verifier = world.verifier.with_policy(policy(&format!("stock_proofs = true\n{POLICY}")));
    assert_eq!(stock(&world, "task.read", arguments), "permit");
    assert_eq!(stock(&world, "task.read", arguments), "replayed", "equal bytes within one window");
    assert_eq!(stock(&world, "read_file", "{}"), "tenuo_proof_tool_renamed");
}

#[test]
fn p3_a_stock_proof_carries_no_further_round() {
    let (mut world, credential) = world();
    world.verifier = world.verifier.with_policy(policy(&format!("stock_proofs = true\n{POLICY}")));
    let call = world.judged("task.read", r#"{"cost_usd":1,"project":"web"}"#).unwrap();
    let proof = tenuo_stock(&credential, &call, AGENT, world.now.wall);
    for more in [r#""requestState":"theirs""#, r#""inputResponses":{"a":{"action":"accept"}}"#] {
        let params = Json::parse(format!(r#"{{"name":"task.read",{more}}}"#).as_bytes()).unwrap();
        let mut added = call.clone();
        added.asked.params = params_digest("tools/call", &params).unwrap();
        assert_eq!(code(world.admit(&credential, &proof, added)), "stock_proof_covers_less", "{more}");
    }
    assert_eq!(code(world.admit(&credential, &proof, call)), "permit");
}

#[test]
fn what_the_credential_does_not_allow_is_forbidden() {
    let (world, credential) = world();
    let cases = [
        ("read_file", r#"{"cost":2.500001}"#),
        ("read_file", r#"{"project":"shop"}"#),
        ("read_file", r#"{"cost":"1"}"#),
        ("write_file", "{}"),
    ];
    for (tool, arguments) in cases {
        let refused = world.call(&credential, tool, arguments).unwrap_err();
        assert_eq!((refused.rung(), refused.class()), (4, Class::Forbidden), "{tool} {arguments}: {refused}");
    }
}

#[test]
fn k2_what_the_issuer_may_not_speak_for_is_forbidden() {
    let (mut world, credential) = world();
    let mut narrow = issuer();
    narrow.speaks.actions = vec!["task.write".parse().unwrap()];
    let by_action = world.verifier.with_trust(trust(vec![narrow.clone()]));
    narrow.speaks = issuer().speaks;
    narrow.speaks.projects = pact_verifier::trust::Projects::Only(["shop".parse().unwrap()].into());
    let by_project = world.verifier.with_trust(trust(vec![narrow]));
    for verifier in [by_action, by_project] {
        world.verifier = verifier;
        assert_eq!(world.code(&credential, "read_file", "{}"), "issuer_scope");
    }
}

#[test]
fn what_the_policy_does_not_name_is_forbidden() {
    let (world, credential) = world();
    assert_eq!(world.code(&credential, "delete_file", "{}"), "tool_not_mapped");
    assert_eq!(world.code(&credential, "read_file", r#"{"mode":"rw"}"#), "argument_not_named");
    assert_eq!(world.code(&credential, "read_file", r#"{"@id":"x"}"#), "argument_reserved");
}
