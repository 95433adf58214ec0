//! Proofs of our own making.

use std::collections::BTreeMap;

use pact_mandate::{SecretKey, Signer};

use super::*;

const ID: [u8; 16] = [0xab; 16];
const NOW: u64 = 1_700_000_010;

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn audience() -> Audience {
    "https://tools.example/mcp".parse().unwrap()
}

fn holder() -> SecretKey {
    SecretKey::from_seed(&[2; 32]).unwrap()
}

fn call(tool: &str, action: &str, arguments: &str) -> Call {
    Call {
        asked: Asked {
            tool: tool.to_owned(),
            arguments: Json::parse(arguments.as_bytes()).unwrap(),
            params: [7; 32],
        },
        judged: pact_mandate::Judged { action: action.parse().unwrap(), arguments: BTreeMap::new() },
    }
}

fn read(arguments: &str) -> Call {
    call("read", "task.read", arguments)
}

fn fresh(seconds: u64) -> FreshProof {
    FreshProof { id: [9; 16], issued_at: at(seconds) }
}

fn sign_p1(call: &Call, fresh: &FreshProof) -> Result<Signature, TenuoProofFault> {
    let message = message_p1(&ID, &call.judged.action, &call.asked, &audience(), fresh)?;
    Ok(holder().sign(&message).unwrap())
}

fn verify_p1(
    call: &Call,
    signature: &Signature,
    fresh: &FreshProof,
    now: u64,
) -> Result<ProvenBy, TenuoProofFault> {
    verify(&ID, holder().public_key(), call, &audience(), signature, Some(fresh), at(now))
}

fn sign_stock(call: &Call, seconds: u64) -> Signature {
    let message = message_stock(&ID, &call.judged.action, &call.asked.arguments, at(seconds)).unwrap();
    holder().sign(&message).unwrap()
}

fn verify_stock_at(call: &Call, signature: &Signature, now: u64) -> Result<ProvenBy, TenuoProofFault> {
    verify(&ID, holder().public_key(), call, &audience(), signature, None, at(now))
}

#[test]
fn p1_a_proof_is_for_one_call_at_one_place_by_one_key() {
    let asked = read(r#"{"path":"/a"}"#);
    let proof = fresh(NOW);
    let signature = sign_p1(&asked, &proof).unwrap();
    let proven = verify_p1(&asked, &signature, &proof, NOW).unwrap();
    assert_eq!((proven.made_at, proven.holder), (at(NOW), *holder().public_key()));
    let bad = Err(TenuoProofFault::BadSignature);
    assert_eq!(verify_p1(&read(r#"{"path":"/b"}"#), &signature, &proof, NOW), bad);
    assert_eq!(verify_p1(&call("write", "task.read", r#"{"path":"/a"}"#), &signature, &proof, NOW), bad);
    assert_eq!(verify_p1(&call("read", "task.work", r#"{"path":"/a"}"#), &signature, &proof, NOW), bad);
    assert_eq!(verify_p1(&asked, &signature, &FreshProof { id: [8; 16], ..proof }, NOW), bad);
    assert_eq!(verify_p1(&asked, &signature, &fresh(NOW + 1), NOW), bad);
    let mut other = asked.clone();
    other.asked.params = [8; 32];
    assert_eq!(verify_p1(&other, &signature, &proof, NOW), bad);
    let elsewhere: Audience = "https://other.example/mcp".parse().unwrap();
    assert_eq!(
        verify(&ID, holder().public_key(), &asked, &elsewhere, &signature, Some(&proof), at(NOW)),
        bad
    );
    let thief = SecretKey::from_seed(&[3; 32]).unwrap();
    assert_eq!(verify(&ID, thief.public_key(), &asked, &audience(), &signature, Some(&proof), at(NOW)), bad);
    assert_eq!(
        verify(&[1; 16], holder().public_key(), &asked, &audience(), &signature, Some(&proof), at(NOW)),
        bad
    );
}

#[test]
fn p1_a_proof_counts_for_60_seconds_and_may_be_5_ahead() {
    let asked = read("{}");
    let proof = fresh(NOW);
    let signature = sign_p1(&asked, &proof).unwrap();
    assert!(verify_p1(&asked, &signature, &proof, NOW + 60).is_ok());
    let made_at = at(NOW);
    assert_eq!(verify_p1(&asked, &signature, &proof, NOW + 61), Err(TenuoProofFault::TooOld { made_at }));
    assert!(verify_p1(&asked, &signature, &proof, NOW - 5).is_ok());
    assert_eq!(
        verify_p1(&asked, &signature, &proof, NOW - 6),
        Err(TenuoProofFault::FromTheFuture { made_at })
    );
    assert_eq!(verify_p1(&asked, &signature, &proof, NOW).unwrap().ends_at, at(NOW + 61));
}

#[test]
fn p2_arguments_that_begin_with_an_at_are_refused_everywhere() {
    let asked = call("read", "read", r#"{"@aud":"https://tools.example/mcp","x":1}"#);
    let reserved = TenuoProofFault::ReservedArgument("@aud".to_owned());
    assert_eq!(sign_p1(&asked, &fresh(NOW)), Err(reserved.clone()));
    let nothing = Signature::from_bytes([0; 64]);
    assert_eq!(verify_stock_at(&asked, &nothing, NOW), Err(reserved));
    let array = call("read", "read", "[1]");
    assert_eq!(verify_stock_at(&array, &nothing, NOW), Err(TenuoProofFault::NotAnObject));
}

#[test]
fn p2_a_proof_with_our_members_is_no_stock_proof_and_the_reverse() {
    let asked = call("read", "read", r#"{"path":"/a"}"#);
    let proof = fresh(NOW);
    let signature = sign_p1(&asked, &proof).unwrap();
    assert_eq!(verify_stock_at(&asked, &signature, NOW), Err(TenuoProofFault::BadSignature));
    let stock = sign_stock(&asked, NOW);
    assert_eq!(verify_p1(&asked, &stock, &proof, NOW), Err(TenuoProofFault::BadSignature));
}

#[test]
fn p3_a_stock_proof_counts_in_its_windows() {
    let asked = call("read", "read", r#"{"path":"/a"}"#);
    let window = NOW - NOW % 30;
    let signature = sign_stock(&asked, NOW);
    for now in [window - 60, window - 1, window, window + 29, window + 30, window + 89] {
        let proven = verify_stock_at(&asked, &signature, now).unwrap();
        assert_eq!((proven.made_at, proven.ends_at), (at(window), at(window + 90)), "{now}");
    }
    for now in [window - 61, window + 90] {
        assert_eq!(verify_stock_at(&asked, &signature, now), Err(TenuoProofFault::BadSignature), "{now}");
    }
}

#[test]
fn p3_a_stock_proof_needs_the_tools_name_to_be_the_action() {
    let asked = read("{}");
    let renamed = TenuoProofFault::Renamed { tool: "read".to_owned(), action: "task.read".parse().unwrap() };
    assert_eq!(verify_stock_at(&asked, &sign_stock(&asked, NOW), NOW), Err(renamed));
}

#[test]
fn p6_equal_stock_calls_in_one_window_have_one_id_and_ours_do_not() {
    let asked = call("read", "read", r#"{"a":1,"b":2.0}"#);
    let same = call("read", "read", r#"{"b":2,"a":1}"#);
    let first = verify_stock_at(&asked, &sign_stock(&asked, NOW), NOW).unwrap();
    assert_eq!(first.id, verify_stock_at(&same, &sign_stock(&same, NOW + 1), NOW + 1).unwrap().id);
    let one = fresh(NOW);
    let two = FreshProof { id: [8; 16], ..one };
    let ids =
        [one, two].map(|proof| verify_p1(&asked, &sign_p1(&asked, &proof).unwrap(), &proof, NOW).unwrap().id);
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn p1_numbers_are_signed_as_they_are_judged_or_not_at_all() {
    let message = |arguments: &str| {
        let asked = read(arguments);
        message_stock(&ID, &asked.judged.action, &asked.asked.arguments, at(NOW))
    };
    assert_eq!(message(r#"{"x":1.0}"#), message(r#"{"x":1}"#));
    assert_eq!(message(r#"{"x":[{"a":2.50}]}"#), message(r#"{"x":[{"a":2.5}]}"#));
    assert_ne!(message(r#"{"x":null}"#), message("{}"), "null is kept");
    for inexact in ["9223372036854775808", "0.1000000000000000000001", "9007199254740993.0"] {
        let refused = Err(TenuoProofFault::InexactNumber("x".to_owned()));
        assert_eq!(message(&format!(r#"{{"x":{inexact}}}"#)), refused, "{inexact}");
    }
}

#[test]
fn p1_our_members_stand_among_the_arguments_in_order() {
    let asked = read(r#"{"z":1,"!":2,"A":3}"#);
    let message = message_p1(&ID, &asked.judged.action, &asked.asked, &audience(), &fresh(NOW)).unwrap();
    let positions: Vec<usize> = ["a!", "d@aud", "d@iat", "c@id", "g@params", "e@tool", "aA", "az"]
        .iter()
        .map(|key| message.windows(key.len()).position(|window| window == key.as_bytes()).unwrap())
        .collect();
    assert!(positions.is_sorted(), "{positions:?}");
}
