//! The Biscuit list byte by byte.

use pact_mandate::{SecretKey, Signer as _};
use sha2::{Digest, Sha256};

use crate::{
    Entry, ListVersion,
    compat::biscuit::{BiscuitList, BiscuitListError},
    testing::{T0, at, key, pinned},
};

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
