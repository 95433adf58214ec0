//! The Tenuo list byte by byte.

use pact_mandate::{SecretKey, Signer};

use super::tenuo_list;
use crate::{
    Entry,
    compat::tenuo::{self, TenuoListError},
    testing::{T0, at, key, pinned},
};

#[test]
fn a_tenuo_list_is_this_cbor() {
    let signer = key(1);
    let bytes = tenuo_list(3, &[0xab], 0).sign(&signer).unwrap();
    let wanted = [
        b"\xa2\x67payload\xa4\x6brevoked_ids\x81\x78\x28tnu_wrt_abababababababababababababababab".as_slice(),
        b"\x67version\x03\x69issued_at\x742027-01-02T03:04:05Z\x66issuer\x82\x01\x58\x20",
        signer.public_key().as_bytes(),
        b"\x69signature\x82\x01\x58\x40",
    ]
    .concat();
    assert_eq!(bytes[..wanted.len()], wanted);
    assert_eq!(bytes.len(), wanted.len() + 64);
    let opened = tenuo::open(&bytes, &pinned(&[&signer])).unwrap();
    assert_eq!((opened.version().get(), opened.issued_at()), (3, at(T0)));
    assert_eq!(opened.entries(), [Entry::of_warrant(&[0xab; 16])]);
}

#[test]
fn a_tenuo_list_is_refused_when_anything_of_it_is_changed() {
    let signer = key(1);
    let keys = pinned(&[&signer]);
    let bytes = tenuo_list(3, &[1, 2], 0).sign(&signer).unwrap();
    for at in 0..bytes.len() {
        let mut bent = bytes.clone();
        bent[at] ^= 1;
        assert!(tenuo::open(&bent, &keys).is_err(), "byte {at}");
        assert!(tenuo::open(&bytes[..at], &keys).is_err(), "length {at}");
    }
    assert!(tenuo::open(&[&bytes[..], &[0]].concat(), &keys).is_err());
    assert_eq!(tenuo::open(&bytes, &pinned(&[&key(2)])).unwrap_err(), TenuoListError::UnknownKey);
}

/// Signs a payload whose id and time are spelled as given.
fn spelled(signer: &SecretKey, id: &str, time: &str) -> Vec<u8> {
    let mut payload = pact_mandate::cbor::Writer::new();
    payload.map(4);
    payload.text("revoked_ids");
    payload.array(1);
    payload.text(id);
    payload.text("version");
    payload.unsigned(1);
    payload.text("issued_at");
    payload.text(time);
    payload.text("issuer");
    payload.array(2);
    payload.unsigned(1);
    payload.bytes(signer.public_key().as_bytes());
    let payload = payload.into_bytes();
    let signature = signer.sign(&[b"tenuo-warrant-v1tenuo-srl-v1", &payload[..]].concat()).unwrap();
    let mut list = pact_mandate::cbor::Writer::after([b"\xa2\x67payload", &payload[..]].concat());
    list.text("signature");
    list.array(2);
    list.unsigned(1);
    list.bytes(signature.as_bytes());
    list.into_bytes()
}

#[test]
fn a_tenuo_id_that_would_revoke_nothing_keeps_the_list_from_loading() {
    let signer = key(1);
    let keys = pinned(&[&signer]);
    let good = "tnu_wrt_0123456789abcdef0123456789abcdef";
    let time = "2027-01-02T03:04:05.123456789Z";
    assert!(tenuo::open(&spelled(&signer, good, time), &keys).is_ok());
    for id in [
        "0123456789abcdef0123456789abcdef",
        "01234567-89ab-cdef-0123-456789abcdef",
        "tnu_wrt_0123456789ABCDEF0123456789ABCDEF",
        "tnu_wrt_0123456789abcdef0123456789abcde",
        "tnu_wrt_0123456789abcdef0123456789abcdef0",
        "",
    ] {
        let refused = tenuo::open(&spelled(&signer, id, time), &keys).unwrap_err();
        assert_eq!(refused, TenuoListError::Id { at: 0 }, "{id}");
    }
}

#[test]
fn a_tenuo_time_has_one_spelling() {
    let signer = key(1);
    let keys = pinned(&[&signer]);
    let id = "tnu_wrt_0123456789abcdef0123456789abcdef";
    let opens = |time: &str| tenuo::open(&spelled(&signer, id, time), &keys);
    for good in ["05Z", "05.100Z", "05.000001Z", "05.000000001Z", "05.999999999Z"] {
        let opened = opens(&format!("2027-01-02T03:04:{good}"));
        assert_eq!(opened.unwrap().issued_at(), at(T0), "{good}");
    }
    for bad in
        ["05.1Z", "05.000Z", "05.100000Z", "05.000000000Z", "05+00:00", "05z", "05.1234567890Z", "60Z", "05"]
    {
        assert_eq!(opens(&format!("2027-01-02T03:04:{bad}")).unwrap_err(), TenuoListError::Time, "{bad}");
    }
}

/// Tenuo's own crate loads what we sign, and we load what it signs.
#[test]
fn tenuos_own_crate_agrees() {
    let signer = key(1);
    let ours = tenuo_list(7, &[0xab, 0xcd], 0).sign(&signer).unwrap();
    let theirs = ::tenuo::SignedRevocationList::from_bytes(&ours).unwrap();
    let keys = ::tenuo::SigningKey::from_bytes(&[1; 32]);
    theirs.verify(&keys.public_key()).unwrap();
    assert_eq!(theirs.version(), 7);
    assert!(theirs.is_revoked(&format!("tnu_wrt_{}", "ab".repeat(16))));

    let theirs = ::tenuo::SignedRevocationList::builder()
        .revoke(format!("tnu_wrt_{}", "ef".repeat(16)))
        .version(8)
        .build(&keys)
        .unwrap();
    let opened = tenuo::open(&theirs.to_bytes().unwrap(), &pinned(&[&signer])).unwrap();
    assert_eq!((opened.version().get(), opened.entries()), (8, &[Entry::of_warrant(&[0xef; 16])][..]));
}
