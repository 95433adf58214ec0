//! The format's own crate as a second opinion: whatever we accept, it accepts. Where it accepts and we refuse, the rule
//! stands in the table.

use std::{cell::RefCell, collections::BTreeMap};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{Call, PublicKey, Signer};
use proptest::{prelude::*, test_runner::TestRunner};
use tenuo::{Authorizer, meta_envelope::args_from_json, wire};

use super::{
    at,
    forge::{self, NOW, key},
    open, permits,
    seeds::Dice,
    trust,
};
use crate::{
    format::Authority,
    proof::{Audience, FreshProof, tenuo as proof},
};

mod growth;

use growth::grow;

/// What the crate accepts and we refuse, with the rule under which we do.
const OURS: [(&str, &str); 27] = [
    ("tenuo_encoding", "G8: one warrant has one encoding, down to the order of every member"),
    ("tenuo_key_order", "G9: nothing is named twice, and keys ascend"),
    ("tenuo_missing_field", "C2: the depth is always written"),
    ("tenuo_misplaced_field", "C2: bounds belong to issuer warrants"),
    ("tenuo_unknown_type", "G19: types are not truncated"),
    ("tenuo_too_long", "1.4: names have at most 256 bytes"),
    (
        "tenuo_constraint_malformed",
        "C2: a pattern, root, network, URL or conjunction that could limit nothing",
    ),
    ("tenuo_reserved_tool", "G7: names that Tenuo keeps for itself"),
    ("tenuo_unknown_extension", "G10: unknown extensions of tenuo. and pact. may restrict"),
    ("tenuo_bad_extension", "C6: a source is an issuer's name"),
    ("tenuo_misplaced_source", "C6: only the first warrant names a source"),
    ("tenuo_bad_threshold", "G32: a threshold needs approvers"),
    ("tenuo_not_a_root", "G11, G36: an intermediate does not stand alone"),
    ("tenuo_lives_too_long", "G5, G37: 90 days"),
    ("tenuo_not_yet_valid", "T2: 30 seconds"),
    ("tenuo_other_session", "A.23: one chain, one session"),
    ("tenuo_clearance_raised", "G1b: absent clearance is none"),
    ("tenuo_tool_added", "G28: an empty set derives only itself"),
    ("tenuo_tool_reopened", "G4b: a restricted tool does not come back"),
    (
        "tenuo_constraint_widened",
        "1.4: only listed narrowings, and none of what is not evaluated but the identical",
    ),
    ("tenuo_bounds_dropped", "G2: bounds are inherited"),
    ("tenuo_issue_depth_exceeded", "G3: issue depth is enforced"),
    ("tenuo_approvals_dropped", "G12b: approvers are kept"),
    ("tenuo_approval_required", "G12a: required approvers are required"),
    ("tenuo_tool_restricted", "G4b: a star does not stand for a restricted tool"),
    ("tenuo_unjudged_constraint", "C2: kinds that are not evaluated deny"),
    ("tenuo_unjudged_value", "C2, C4: values that a constraint cannot be held against deny"),
];

/// How often which pair of verdicts came up.
#[derive(Debug, Default)]
struct Seen {
    both_accept: u32,
    both_refuse: u32,
    ours_alone: BTreeMap<&'static str, u32>,
}

/// One generated case.
struct Case {
    stack: Vec<u8>,
    call: Call,
    holder: u8,
}

#[test]
fn c2_whatever_is_accepted_here_the_formats_crate_accepts() {
    let seen = RefCell::new(Seen::default());
    let mut runner = TestRunner::new(ProptestConfig { cases: 3000, ..ProptestConfig::default() });
    let law = runner.run(&any::<u64>(), |seed| {
        compare(&grow(&mut Dice::new(seed)), &mut seen.borrow_mut())
            .map_err(|why| TestCaseError::fail(format!("seed {seed}: {why}")))
    });
    law.unwrap();
    let seen = seen.into_inner();
    assert!(seen.both_accept > 300 && seen.both_refuse > 300 && seen.ours_alone.len() > 8, "{seen:?}");
}

fn compare(case: &Case, seen: &mut Seen) -> Result<(), String> {
    check_one_encoding(case)?;
    let (ours, theirs) = (our_verdict(case), their_verdict(case));
    match (ours, theirs) {
        (Ok(()), Ok(())) => seen.both_accept += 1,
        (Err(_), Err(_)) => seen.both_refuse += 1,
        (Ok(()), Err(why)) => return Err(format!("accepted here, refused there: {why}")),
        (Err(code), Ok(())) if OURS.iter().any(|(listed, _)| *listed == code) => {
            *seen.ours_alone.entry(code).or_default() += 1;
        }
        (Err(code), Ok(())) => return Err(format!("{code} is refused here alone, under no listed rule")),
    }
    Ok(())
}

/// Whatever opens here is read there too, and written there to the very bytes that were read here.
fn check_one_encoding(case: &Case) -> Result<(), String> {
    if open(&case.stack, &trust(key(1).public_key()), at(NOW)).is_err() {
        return Ok(());
    }
    for warrant in decode(&case.stack)? {
        let written = wire::to_vec(&warrant.payload).map_err(|fault| fault.to_string())?;
        if written != warrant.payload_bytes {
            return Err("opened here, though the crate writes its content otherwise".to_owned());
        }
    }
    Ok(())
}

/// By the crate: a stack, or one warrant alone.
fn decode(stack: &[u8]) -> Result<Vec<tenuo::Warrant>, String> {
    match wire::decode_stack(stack) {
        Ok(stack) => Ok(stack.0),
        Err(fault) => Ok(vec![wire::decode(stack).map_err(|_| fault.to_string())?]),
    }
}

fn audience() -> Audience {
    "https://tools.example/mcp".parse().unwrap()
}

const FRESH: FreshProof = FreshProof { id: [9; 16], issued_at: pact_mandate::UnixTime::EPOCH };

fn fresh() -> FreshProof {
    FreshProof { issued_at: at(NOW - 7), ..FRESH }
}

/// Chain, proof and leaf.
fn our_verdict(case: &Case) -> Result<(), &'static str> {
    let opened =
        permits(&case.stack, &trust(key(1).public_key()), NOW, &case.call).map_err(|fault| fault.code())?;
    let Authority::Tenuo(leaf) = &opened.authority else { panic!("opened as another format") };
    let message =
        proof::message_p1(leaf.id(), &case.call.judged.action, &case.call.asked, &audience(), &fresh())
            .unwrap();
    let signature = key(case.holder).sign(&message).unwrap();
    let holder: PublicKey = opened.holder.unwrap();
    proof::verify(leaf.id(), &holder, &case.call, &audience(), &signature, Some(&fresh()), at(NOW))
        .map(|_| ())
        .map_err(|fault| fault.code())
}

/// The crate, asked with the arguments of the proof and those of the constraints apart.
fn their_verdict(case: &Case) -> Result<(), String> {
    let warrants = decode(&case.stack)?;
    let leaf = warrants.last().ok_or("empty")?;
    let authorizer = Authorizer::builder()
        .trusted_root(tenuo::PublicKey::from_bytes(&forge::public(1)).unwrap())
        .build()
        .map_err(|fault| fault.to_string())?;
    let arguments = json_of(&case.call);
    let judged = args_from_json(&arguments).map_err(|fault| fault.to_string())?;
    let ours = format!(
        r#""@aud":"{}","@iat":{},"@id":"{}","@params":"{}","@tool":"{}""#,
        audience().as_str(),
        fresh().issued_at.seconds(),
        URL_SAFE_NO_PAD.encode(fresh().id),
        URL_SAFE_NO_PAD.encode(case.call.asked.params),
        case.call.asked.tool,
    );
    let separator = if arguments == "{}" { "" } else { "," };
    let proven = args_from_json(&arguments.replacen('{', &format!("{{{ours}{separator}"), 1)).unwrap();
    // The proof is made by our code and checked by theirs.
    let id: [u8; 16] =
        super::hex(leaf.id().to_string().strip_prefix("tnu_wrt_").unwrap()).try_into().unwrap();
    let message =
        proof::message_p1(&id, &case.call.judged.action, &case.call.asked, &audience(), &fresh()).unwrap();
    let signature = key(case.holder).sign(&message).unwrap();
    let signature = tenuo::Signature::from_bytes(signature.as_bytes()).unwrap();
    let tool = case.call.judged.action.as_str();
    let now = i64::try_from(NOW).unwrap();
    authorizer
        .check_chain_with_pop_args_as_of(&warrants, tool, &proven, &judged, Some(&signature), &[], now)
        .map(|_| ())
        .map_err(|fault| fault.to_string())
}

fn json_of(call: &Call) -> String {
    let mut text = Vec::new();
    write_plain(&call.asked.arguments, &mut text);
    String::from_utf8(text).unwrap()
}

fn write_plain(json: &pact_mandate::Json, out: &mut Vec<u8>) {
    use pact_mandate::Json;
    match json {
        Json::Null => out.extend(b"null"),
        Json::Bool(truth) => out.extend(truth.to_string().bytes()),
        Json::Number(number) => out.extend(number.text().bytes()),
        Json::String(text) => out.extend(format!("{text:?}").bytes()),
        Json::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                out.extend((at > 0).then_some(b','));
                write_plain(item, out);
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (at, member) in members.iter().enumerate() {
                out.extend((at > 0).then_some(b','));
                out.extend(format!("{:?}:", member.name).bytes());
                write_plain(&member.value, out);
            }
            out.push(b'}');
        }
    }
}
