//! Signatures, roots, ends, and what an opened token says.

use biscuit_auth::format::schema;
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
