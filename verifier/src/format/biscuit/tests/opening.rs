//! Signatures, roots, ends, and what an opened token says.

use biscuit_auth::{builder::Algorithm, format::schema};
use p256::ecdsa::Signature as P256Signature;
use pact_mandate::MandateId;
use pact_revocation::Entry;
use prost::Message;

use super::forge::*;
use crate::{
    format::biscuit::BiscuitFault,
    trust::{RootKey, TrustSnapshot},
};

#[test]
fn c3_a_token_of_the_exported_shape_opens() {
    let token = pact();
    let opened = open_at(&token, NOW).unwrap();
    assert_eq!(opened.issuer.as_str(), "issuer.example");
    assert_eq!(opened.root.as_str(), "root");
    assert_eq!(opened.holder, Some(holder()));
    assert_eq!(opened.expires_at.seconds(), END_SECONDS);
    assert_eq!(opened.source, None);
    assert_eq!(opened.ids.len(), 2);
    assert!(opened.ids.iter().all(|id| id.len() == 128));
}

#[test]
fn r1_every_block_mandate_and_key_can_be_listed() {
    let token = pact();
    let opened = open_at(&token, NOW).unwrap();
    let outer = schema::Biscuit::decode(token.as_slice()).unwrap();
    let mandate = |text: &str| Entry::of_mandate(text.parse::<MandateId>().unwrap());
    let RootKey::Ed25519 { key, .. } = root_key(&root()) else { panic!("an Ed25519 root") };
    let expected = [
        Entry::of_block(&outer.authority.signature),
        Entry::of_block(&outer.blocks[0].signature),
        mandate(MANDATE),
        mandate("22222222-2222-4222-8222-222222222222"),
        Entry::of_key(&key.thumbprint()),
        Entry::of_key(&holder().thumbprint()),
    ];
    assert_eq!(opened.entries, expected);
}

#[test]
fn c3_an_unknown_root_key_id_is_refused_and_an_absent_one_tries_all() {
    let token = pact();
    let mut outer = schema::Biscuit::decode(token.as_slice()).unwrap();
    outer.root_key_id = Some(1);
    let refused = open_at(&outer.encode_to_vec(), NOW).unwrap_err();
    assert_eq!(refused, BiscuitFault::UnknownRoot { id: Some(1) });
    outer.root_key_id = None;
    let opened = open_at(&outer.encode_to_vec(), NOW).unwrap();
    assert_eq!(opened.root.as_str(), "root");
    // The id is a hint: it names another trusted root, which did not sign.
    outer.root_key_id = Some(root_id(&p256_root()));
    let refused = open_at(&outer.encode_to_vec(), NOW).unwrap_err();
    assert_eq!(refused, BiscuitFault::BadSignature { candidates: 1 });
}

#[test]
fn k2_an_issuer_that_may_not_speak_biscuit_is_refused() {
    let mut silent = issuer("issuer.example", vec![root_key(&root())]);
    silent.speaks.formats.clear();
    let trust = TrustSnapshot::new(vec![silent]).unwrap();
    let refused = crate::format::biscuit::open(&pact(), &trust, at(NOW)).unwrap_err();
    assert_eq!(refused, BiscuitFault::FormatNotSpoken);
}

fn p256(blocks: &[&str]) -> Vec<u8> {
    mint_under(&p256_root(), blocks).to_vec().unwrap()
}

/// The rule that finding 5 breaks: a P-256 signature has a twin, so the id is that of the low-s form.
#[test]
fn k5_a_p256_block_has_one_id_whichever_twin_signed_it() {
    let token = p256(&[&authority()]);
    let mut twin = schema::Biscuit::decode(token.as_slice()).unwrap();
    let signature = P256Signature::from_der(&twin.authority.signature).unwrap();
    let (r, s) = signature.split_scalars();
    let flipped = P256Signature::from_scalars(r, -s).unwrap();
    twin.authority.signature = flipped.to_der().as_bytes().to_vec();
    let twin = twin.encode_to_vec();
    assert_ne!(twin, token);
    let (one, other) = (open_at(&token, NOW).unwrap(), open_at(&twin, NOW).unwrap());
    assert_eq!(one.ids, other.ids);
    assert_eq!(one.entries, other.entries);
    let low = signature.normalize_s().unwrap_or(signature);
    assert_eq!(one.entries[0], Entry::of_block(&low.to_bytes()));
    assert_eq!(one.root.as_str(), "root-p256");
}

#[test]
fn k5_mixed_chains_name_each_block_by_the_kind_of_its_signer() {
    let opened = open_at(&p256(&[&authority(), &leaf()]), NOW).unwrap();
    assert_eq!(opened.ids.iter().map(String::len).collect::<Vec<_>>(), [128, 128]);
    // Appended blocks are signed by Ed25519 keys as they are.
    let token = mint(&[&authority(), &leaf()]);
    let raw = biscuit_auth::UnverifiedBiscuit::from(&token).unwrap().revocation_identifiers();
    let ids: Vec<String> = raw.iter().map(|id| pact_mandate::hex::encode(id)).collect();
    assert_eq!(open_at(&token, NOW).unwrap().ids, ids);
}

#[test]
fn c3_without_a_root_key_id_a_root_of_another_kind_does_not_end_the_search() {
    let mut outer = schema::Biscuit::decode(p256(&[&authority()]).as_slice()).unwrap();
    outer.root_key_id = None;
    assert_eq!(open_at(&outer.encode_to_vec(), NOW).unwrap().root.as_str(), "root-p256");
}

#[test]
fn c3_a_token_of_an_unknown_key_is_refused() {
    let stranger = key_pair(9, Algorithm::Ed25519);
    let mut outer =
        schema::Biscuit::decode(mint_under(&stranger, &[&authority()]).to_vec().unwrap().as_slice()).unwrap();
    for id in [None, Some(root_id(&root()))] {
        outer.root_key_id = id;
        let refused = open_at(&outer.encode_to_vec(), NOW).unwrap_err();
        assert_eq!(refused.code(), "biscuit_bad_signature");
    }
}

#[test]
fn c3_links_hang_together() {
    let decode = |token: Vec<u8>| schema::Biscuit::decode(token.as_slice()).unwrap();
    let (one, other) = (decode(pact()), decode(pact()));
    let refused = |change: &dyn Fn(&mut schema::Biscuit)| {
        let mut token = one.clone();
        change(&mut token);
        assert_eq!(open_at(&token.encode_to_vec(), NOW).unwrap_err().code(), "biscuit_bad_signature");
    };
    refused(&|token| token.blocks = other.blocks.clone());
    refused(&|token| token.proof = other.proof.clone());
    refused(&|token| token.authority.next_key = other.authority.next_key.clone());
    refused(&|token| drop(token.blocks.pop()));
}

#[test]
fn c5_a_sealed_token_opens_and_a_moved_seal_does_not() {
    let sealed = |blocks: &[&str]| mint_under(&root(), blocks).seal().unwrap().to_vec().unwrap();
    let token = sealed(&[&authority(), &leaf()]);
    assert!(open_at(&token, NOW).is_ok());
    let mut outer = schema::Biscuit::decode(token.as_slice()).unwrap();
    outer.proof = schema::Biscuit::decode(sealed(&[&authority()]).as_slice()).unwrap().proof;
    assert_eq!(open_at(&outer.encode_to_vec(), NOW).unwrap_err().code(), "biscuit_bad_signature");
}

#[test]
fn t2_expiry_is_strict_in_either_spelling() {
    for check in [
        format!("check if time($t), $t <= {END}"),
        format!("check if time($t), $t < {END}"),
        format!("check if time($t), {END} >= $t"),
        format!(r#"check if tool("a"), time($now), {END} > $now, $now > 2020-01-01T00:00:00Z"#),
        format!("check if time($t), $t <= {END}; check if time($t), $t <= 2027-01-03T00:00:00Z"),
        format!("check if time($t), $t <= 2027-01-02T03:30:00Z or time($t), $t <= {END}"),
    ] {
        let token = mint(&[&check]);
        assert_eq!(open_at(&token, NOW).unwrap().expires_at.seconds(), END_SECONDS, "{check}");
        assert!(open_at(&token, END_SECONDS - 1).is_ok());
        let ended = BiscuitFault::Expired { ended: at(END_SECONDS) };
        assert_eq!(open_at(&token, END_SECONDS).unwrap_err(), ended, "{check}");
    }
}

/// A token must carry its own end; a statement that only looks like one does not count.
#[test]
fn c3_a_token_without_an_end_is_refused() {
    for check in [
        "check if true".to_owned(),
        format!("check if time($t), $t >= {END}"),
        format!("check if time($t), $t !== {END}"),
        format!("check if time($t), !($t > {END})"),
        format!("check if time($t), $t <= {END} or true"),
        format!("reject if time($t), $t <= {END}"),
        format!("check if ends($t), $t <= {END}"),
        format!("check if time($t), ends($u), $u <= {END}"),
        format!("check if time({END})"),
    ] {
        let refused = open_at(&mint(&[&check]), NOW).unwrap_err();
        assert_eq!(refused, BiscuitFault::UnboundedExpiry, "{check}");
    }
}

#[test]
fn c3_no_token_outlives_the_longest_credential() {
    let token = |date: &str| mint(&[&format!("check if time($t), $t <= {date}")]);
    assert!(open_at(&token("2027-04-02T03:04:05Z"), NOW).is_ok());
    let refused = open_at(&token("2027-04-02T03:04:06Z"), NOW).unwrap_err();
    assert_eq!(refused.code(), "biscuit_lives_too_long");
}

#[test]
fn p8_a_token_without_a_holder_opens_without_one() {
    assert_eq!(open_at(&mint(&[&authority()]), NOW).unwrap().holder, None);
}

#[test]
fn a_token_shows_nothing_of_itself() {
    let opened = open_at(&pact(), NOW).unwrap();
    let shown = format!("{:?}", opened.authority);
    assert!(
        !shown.contains("secret") && !shown.to_lowercase().contains("nextsecret") && shown.len() < 80,
        "{shown}"
    );
}
