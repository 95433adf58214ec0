//! The compatible lists byte by byte, and their rules (protocol R6) with a fixed clock.

use std::sync::Arc;

use pact_mandate::{Format, SecretKey, Signer, limits::MAX_LIFETIME_SECONDS};
use sha2::{Digest, Sha256};

use super::{
    biscuit::{BiscuitList, BiscuitListError},
    tenuo::{self, TenuoList, TenuoListError},
};
use crate::{
    Entry, FloorInMemory, Held, Keeper, ListRefusal, ListVersion, Lists,
    testing::{T0, at, issuer, key, now, pinned},
};

fn warrant(number: u8) -> [u8; 16] {
    [number; 16]
}

fn tenuo_list(version: u64, warrants: &[u8], seconds: u64) -> TenuoList {
    TenuoList {
        version: ListVersion::try_from(version).unwrap(),
        issued_at: at(T0 + seconds),
        warrants: warrants.iter().map(|number| warrant(*number)).collect(),
    }
}

fn keeper(signer: &SecretKey) -> Keeper {
    Keeper::new(issuer(), Format::Tenuo, pinned(&[signer]), FloorInMemory::default()).unwrap()
}

fn offer(
    keeper: &mut Keeper,
    signer: &SecretKey,
    list: &TenuoList,
    seconds: u64,
) -> Result<Arc<Held>, ListRefusal> {
    keeper.accept_compatible(&list.sign(signer).unwrap(), now(seconds))
}

fn revoked(held: &Arc<Held>, number: u8, seconds: u64) -> bool {
    let lists = Lists::none().with(Arc::clone(held));
    lists
        .fresh(&issuer(), Format::Tenuo, now(seconds))
        .unwrap()
        .contains(&Entry::of_warrant(&warrant(number)))
}

#[test]
fn the_boards_golden_biscuit_list_is_reproduced() {
    let seed: [u8; 32] = Sha256::digest(b"pact-board-ed25519/0123456789abcdef0123456789abcdef").into();
    let board = SecretKey::from_seed(&seed).unwrap().named("derived-1".parse().unwrap());
    assert_eq!(board.public_key().to_string(), "D5T2moudqkmPooUqXJ5ASZvejmYNA4yB3RD12LinPzQ");
    let list = BiscuitList::new(ListVersion::FIRST, at(T0), [&[0xaa][..]]).sign(&board).unwrap();
    let wanted = concat!(
        r#"{"payload":"{\"format\":\"biscuit\",\"issued_at\":\"2027-01-02T03:04:05Z\",\"revoked\":[\"aa\"],\"version\":1}","#,
        r#""signature":"ed25519:derived-1:"#,
        r#"8jd2uqLgOcGHhz1QfPvxKiYEJVY5ZUUEQOppfcFypVNj5hLUxT9JmLqbURoPUAkRVPYgm2Aiyr3IU93ycMHjDQ"}"#
    );
    assert_eq!(String::from_utf8(list.clone()).unwrap(), wanted);
    // Its one id is no block's signature, so it would revoke nothing: it does not load.
    let keys = pinned(&[&board]);
    assert_eq!(BiscuitList::open(&list, &keys).unwrap_err(), BiscuitListError::Id { at: 0 });
}

#[test]
fn a_biscuit_list_comes_back() {
    let signer = key(1);
    let blocks = [[7u8; 64], [8u8; 64]];
    let list = BiscuitList::new(ListVersion::FIRST, at(T0), blocks.iter().map(|block| &block[..]));
    let list = list.sign(&signer).unwrap();
    let opened = BiscuitList::open(&list, &pinned(&[&signer])).unwrap();
    assert_eq!((opened.version(), opened.issued_at()), (ListVersion::FIRST, at(T0)));
    assert_eq!(opened.entries(), blocks.map(|block| Entry::of_block(&block)));
    assert!(matches!(BiscuitList::open(&list, &pinned(&[&key(2)])), Err(BiscuitListError::Signed(_))));
}

/// A P-256 signature as a token carries it, with the two forms of r‖s: as signed, and with low s.
fn p256_block(message: u8) -> (Vec<u8>, [Vec<u8>; 2]) {
    use p256::ecdsa::{SigningKey, signature::Signer as _};
    let signature: p256::ecdsa::Signature = SigningKey::from_slice(&[7; 32]).unwrap().sign(&[message]);
    let low = signature.normalize_s().unwrap_or(signature);
    (signature.to_der().as_bytes().to_vec(), [signature.to_bytes().to_vec(), low.to_bytes().to_vec()])
}

#[test]
fn k5_r1_a_biscuit_list_names_p256_blocks_in_whatever_form_and_revokes_the_low_s_one() {
    let signer = key(1);
    let keys = pinned(&[&signer]);
    let mut high = 0;
    for message in 0..16 {
        let (der, [raw, low]) = p256_block(message);
        high += usize::from(raw != low);
        // What the verifier looks up: protocol R1.
        let wanted = Entry::of_block(&low);
        for form in [&der, &raw, &low] {
            let list = BiscuitList::new(ListVersion::FIRST, at(T0), [&form[..]]).sign(&signer).unwrap();
            let opened = BiscuitList::open(&list, &keys).unwrap();
            assert!(opened.entries().contains(&wanted), "{message}: {} bytes", form.len());
            assert!(opened.entries().len() <= 2);
        }
    }
    assert!(high > 0 && high < 16, "both kinds were tried: {high}");
}

#[test]
fn a_biscuit_id_that_is_no_signature_keeps_the_list_from_loading() {
    let signer = key(1);
    let (der, _) = p256_block(1);
    let trailing = [&der[..], &[0]].concat();
    for id in [&[][..], &[7; 63], &[7; 65], &der[..der.len() - 1], &trailing, &[0x30, 6, 2, 1, 0, 2, 1, 1]] {
        let blocks = [&[7; 64][..], id];
        let list = BiscuitList::new(ListVersion::FIRST, at(T0), blocks).sign(&signer).unwrap();
        let refused = BiscuitList::open(&list, &pinned(&[&signer])).unwrap_err();
        assert_eq!(refused, BiscuitListError::Id { at: 1 }, "{} bytes", id.len());
    }
}

#[test]
fn a_biscuit_list_that_is_spelled_otherwise_is_refused() {
    let signer = key(1);
    let list = BiscuitList::new(ListVersion::FIRST, at(T0), [&[7u8; 64][..]]).sign(&signer).unwrap();
    let text = String::from_utf8(list).unwrap();
    for (from, to) in
        [("{\"payload\"", "{ \"payload\""), ("05Z", "05+00:00"), ("0707", "0A0A"), ("biscuit", "tenuo")]
    {
        let bent = text.replacen(from, to, 1);
        assert_ne!(bent, text);
        assert!(BiscuitList::open(bent.as_bytes(), &pinned(&[&signer])).is_err(), "{to}");
    }
}

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

#[test]
fn r5_a_compatible_list_is_fresh_for_sixty_seconds_and_speaks_for_its_format_alone() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let held = offer(&mut keeper, &signer, &tenuo_list(1, &[1], 0), 0).unwrap();
    let lists = Lists::none().with(held);
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(60)).is_ok());
    assert_eq!(lists.fresh(&issuer(), Format::Tenuo, now(61)).unwrap_err().code(), "list_stale");
    assert_eq!(lists.fresh(&issuer(), Format::Biscuit, now(0)).unwrap_err().code(), "list_missing");
}

#[test]
fn r6_a_compatible_list_of_the_same_ids_is_a_refresh() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
    let refreshed = offer(&mut keeper, &signer, &tenuo_list(1, &[2, 1], 50), 50).unwrap();
    assert!(revoked(&refreshed, 1, 110));
    let older = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 49), 50).unwrap_err();
    assert_eq!(older.code(), "list_older");
}

#[test]
fn r6_an_id_missing_from_a_compatible_list_stays_revoked_for_the_longest_lifetime() {
    let signer = key(1);
    for version in [1, 2] {
        let mut keeper = keeper(&signer);
        offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], 10), 10).unwrap();
        assert!(revoked(&held, 1, 10) && revoked(&held, 2, 10));
        let last = MAX_LIFETIME_SECONDS + 10;
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], last), last).unwrap();
        assert!(revoked(&held, 1, last));
        let over = last + 700;
        let held = offer(&mut keeper, &signer, &tenuo_list(version, &[2], over), over).unwrap();
        assert!(!revoked(&held, 1, over) && revoked(&held, 2, over));
    }
}

#[test]
fn r6_a_compatible_list_with_added_ids_at_the_same_version_is_equivocation() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2], 0), 0).unwrap();
    let refused = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 2, 3], 1), 1).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_equivocation", true));
    let refused = offer(&mut keeper, &signer, &tenuo_list(1, &[1, 3], 1), 1).unwrap_err();
    assert_eq!(refused.code(), "list_equivocation");
}

#[test]
fn r6_a_compatible_list_with_a_lower_version_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &signer, &tenuo_list(2, &[1], 0), 0).unwrap();
    assert_eq!(
        offer(&mut keeper, &signer, &tenuo_list(1, &[1], 1), 1).unwrap_err().code(),
        "list_lower_version"
    );
}

#[test]
fn r7_a_compatible_list_under_a_new_key_keeps_the_ids() {
    let (old, new) = (key(1), key(2));
    let mut keeper = keeper(&old);
    offer(&mut keeper, &old, &tenuo_list(900, &[1], 0), 0).unwrap();
    keeper.pin(pinned(&[&new]));
    let held = offer(&mut keeper, &new, &tenuo_list(1, &[2], 1), 1).unwrap();
    assert!(revoked(&held, 1, 1) && revoked(&held, 2, 1));
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
