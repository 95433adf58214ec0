//! Tenuo's published vectors, found through `PACT_VECTORS` (the folder that holds `tenuo.json`).

use std::{fs, path::PathBuf};

use pact_mandate::{PublicKey, SecretKey, Signature, Signer, cbor::Writer};
use pact_revocation::Entry;
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{at, call, code, hex, permits, trust};
use crate::{
    format::{
        Authority,
        tenuo::{envelope, open, warrant::Warrant},
    },
    proof::{Audience, tenuo as proof},
    trust::TrustSnapshot,
};

/// Cases where the published verdict is known to be wrong or to contradict another text, and what is right here.
const CONTESTED: [(&str, &str); 2] = [
    // The text calls self-delegation from execution to execution forbidden; the protocol's 5.4 allows it.
    ("A.16", "accepted"),
    // The child hangs off the other root.
    ("A.23", "tenuo_wrong_parent"),
];

fn vectors() -> Value {
    let folder = std::env::var("PACT_VECTORS").expect("PACT_VECTORS names the folder of tenuo.json");
    let text = fs::read(PathBuf::from(folder).join("tenuo.json")).expect("tenuo.json is readable");
    serde_json::from_slice(&text).expect("tenuo.json is JSON")
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("{name} is a text"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("{name} is a list"))
}

fn secret(seed_hex: &str) -> SecretKey {
    SecretKey::from_seed(&hex(seed_hex).try_into().unwrap()).unwrap()
}

/// The snapshot that trusts the case's root, or nobody.
fn trust_of(case: &Value) -> TrustSnapshot {
    match case["trusted_root_seed"].as_str() {
        Some(seed) => trust(secret(seed).public_key()),
        None => TrustSnapshot::new(Vec::new()).unwrap(),
    }
}

fn stack(chain: &[Value]) -> Vec<u8> {
    let mut writer = Writer::new();
    writer.array(chain.len());
    let mut bytes = writer.into_bytes();
    for warrant in chain {
        bytes.extend(hex(warrant.as_str().unwrap()));
    }
    bytes
}

#[test]
#[ignore = "needs PACT_VECTORS"]
fn c2_every_published_warrant_is_read_and_its_signature_judged() {
    let vectors = vectors();
    let warrants = list(&vectors, "warrants");
    assert_eq!(warrants.len(), 44);
    for one in warrants {
        let section = text(one, "section");
        let bytes = hex(text(one, "envelope_hex"));
        let [envelope] = envelope::split(&bytes).unwrap()[..] else { panic!("{section}: not one warrant") };
        assert_eq!(envelope.payload, hex(text(one, "payload_hex")), "{section}");
        assert_eq!(Sha256::digest(envelope.payload).to_vec(), hex(text(one, "payload_sha256")), "{section}");
        let warrant = Warrant::read(envelope.payload).unwrap_or_else(|fault| panic!("{section}: {fault}"));
        // The forged one names another issuer than the key that signed it.
        let issuer = PublicKey::from_bytes(&warrant.issuer).unwrap();
        let verifies = issuer.verify(&envelope.signed_bytes(), &envelope.signature).is_ok();
        assert_eq!(verifies, one["signature_verifies"].as_bool().unwrap(), "{section}");
    }
}

#[test]
#[ignore = "needs PACT_VECTORS"]
fn c2_every_published_chain_gets_its_verdict() {
    let vectors = vectors();
    let cases = list(&vectors, "chain_cases");
    assert_eq!(cases.len(), 40);
    for case in cases {
        let id = text(case, "id");
        let opened = open(&stack(list(case, "chain")), &trust_of(case), at(case["now"].as_u64().unwrap()));
        let verdict = text(case, "spec_verdict");
        if let Some(revoked) = case["revoked_ids"].as_array() {
            // The chain itself holds; a list stops it by any of its ids (protocol R3).
            let entries = opened.unwrap_or_else(|fault| panic!("{id}: {fault}")).entries;
            for listed in revoked {
                let bare = listed.as_str().unwrap().strip_prefix("tnu_wrt_").unwrap();
                assert!(entries.contains(&Entry::of_warrant(&hex(bare).try_into().unwrap())), "{id}");
            }
        } else if let Some((_, expected)) = CONTESTED.iter().find(|(contested, _)| *contested == id) {
            assert_eq!(code(opened), *expected, "{id}");
        } else if verdict == "accept" {
            assert_eq!(code(opened), "accepted", "{id}");
        } else {
            assert!(verdict.starts_with("reject"), "{id}: {verdict}");
            assert_eq!(code(opened), expected_code(id), "{id}");
        }
    }
}

/// The refusal of each published case that is to be refused.
fn expected_code(id: &str) -> &'static str {
    match id {
        // Of a warrant whose parent is not the one above it the issuer shows first.
        "A.3-swapped" | "A.3-missing-middle" | "A.4" => "tenuo_wrong_issuer",
        "A.5" | "A.5-at-expiry" => "tenuo_expired",
        "A.10" => "tenuo_wrong_depth",
        "A.11" | "A.15" => "tenuo_constraint_widened",
        "A.12" | "A.23-strict" => "tenuo_wrong_parent",
        "A.13" => "tenuo_outlives_parent",
        "A.14-forged" => "tenuo_signature_invalid",
        "A.17" => "tenuo_clearance_raised",
        other => panic!("{other} has no expected refusal"),
    }
}

#[test]
#[ignore = "needs PACT_VECTORS"]
fn p3_the_canonical_fixture_of_proofs_is_signed_to_the_same_bytes() {
    let vectors = vectors();
    let fixture = &vectors["pop"]["canonical_fixture"];
    let (issuer, holder) =
        (secret(text(fixture, "issuer_priv_hex")), secret(text(fixture, "holder_priv_hex")));
    let cases = list(fixture, "cases");
    assert_eq!(cases.len(), 11);
    for case in cases {
        let name = text(case, "name");
        let warrant = base64::Engine::decode(
            &base64::engine::general_purpose::URL_SAFE_NO_PAD,
            text(case, "warrant_b64"),
        )
        .unwrap();
        let [envelope] = envelope::split(&warrant).unwrap()[..] else { panic!("{name}: not one warrant") };
        issuer.public_key().verify(&envelope.signed_bytes(), &envelope.signature).unwrap();
        let id = Warrant::read(envelope.payload).unwrap().id;
        let call = call(text(case, "tool"), &case["args"].to_string());
        let now = at(case["timestamp"].as_u64().unwrap());
        let message = proof::message_stock(&id, &call.judged.action, &call.asked.arguments, now).unwrap();
        let expected = Signature::from_bytes(hex(text(case, "expected_signature_hex")).try_into().unwrap());
        assert_eq!(holder.sign(&message).unwrap(), expected, "{name}");
        let audience: Audience = "https://tools.example/mcp".parse().unwrap();
        proof::verify(&id, holder.public_key(), &call, &audience, &expected, None, now).unwrap();
    }
}

#[test]
#[ignore = "needs PACT_VECTORS"]
fn c2_every_adversarial_stack_gets_the_wanted_verdict() {
    let vectors = vectors();
    let cases = list(&vectors["adversarial"], "cases");
    assert_eq!(cases.len(), 20);
    for case in cases {
        let (id, name) = (text(case, "id"), text(case, "name"));
        // A minimum of clearance for a tool is the policy of another verifier; there is none here to be set.
        // Entries of a list in other forms are the list's to refuse.
        if case.get("clearance_requirement").is_some()
            || name.contains("SRL entry bare")
            || name.contains("dashed")
        {
            continue;
        }
        let now = case["now"].as_u64().unwrap();
        let call = call(text(case, "tool"), &case["args"].to_string());
        let result = permits(&hex(text(case, "stack_hex")), &trust_of(case), now, &call);
        if text(case, "we_want") == "accept" {
            let opened = result.unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let Authority::Tenuo(leaf) = &opened.authority else {
                panic!("{name}: opened as another format")
            };
            let signature = Signature::from_bytes(hex(text(case, "pop_hex")).try_into().unwrap());
            let audience: Audience = "https://tools.example/mcp".parse().unwrap();
            let holder = opened.holder.unwrap();
            proof::verify(leaf.id(), &holder, &call, &audience, &signature, None, at(now)).unwrap();
        } else if let Some(revoked) = case["revoked_ids"].as_array() {
            let listed = revoked[0].as_str().unwrap().strip_prefix("tnu_wrt_").unwrap();
            let entry = Entry::of_warrant(&hex(listed).try_into().unwrap());
            assert!(result.unwrap().entries.contains(&entry), "{name}");
        } else {
            assert_eq!(code(result), refusal_of(id), "{name}");
        }
    }
}

/// The refusal of each adversarial stack, by the rule that it breaks.
fn refusal_of(id: &str) -> &'static str {
    match id {
        "G2" => "tenuo_bounds_dropped",
        "G4b" => "tenuo_tool_restricted",
        "G5" => "tenuo_lives_too_long",
        "G6" => "tenuo_stack_too_deep",
        "G7" => "tenuo_reserved_tool",
        "G8a" => "tenuo_encoding",
        "G9" => "tenuo_key_order",
        "G11" => "tenuo_not_a_root",
        "G12a" => "tenuo_approval_required",
        "G13" => "tenuo_expired",
        "G26" => "tenuo_other_session",
        "G27" => "tenuo_not_executable",
        "G28" => "tenuo_tool_added",
        "G30" => "tenuo_arguments_changed",
        "G33" => "tenuo_untrusted_root",
        other => panic!("{other} has no expected refusal"),
    }
}
