//! Keys against RFC 8032, RFC 8037 and every point of small order.

use curve25519_dalek::{
    EdwardsPoint, Scalar,
    constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION},
};
use ed25519_dalek::{Signer as _, SigningKey, Verifier as _};
use proptest::prelude::*;
use sha2::Sha512;

use super::{multiples::Multiples, *};
use crate::limits::FAMILIAR_AFTER;

/// What is said of a signature by a key that was never seen, and by one that is familiar; the two never differ.
fn verifies(key: &[u8; 32], message: &[u8], signature: [u8; 64]) -> bool {
    let key = PublicKey::from_bytes(key).unwrap().0;
    let multiples = Multiples::of(-key.to_edwards());
    let [new, familiar] =
        [None, Some(&multiples)].map(|minus_a| strict::judge(&key, minus_a, message, &signature));
    assert_eq!(new, familiar);
    new
}

fn hex(text: &str) -> Vec<u8> {
    text.as_bytes()
        .chunks(2)
        .map(|b| u8::from_str_radix(std::str::from_utf8(b).unwrap(), 16).unwrap())
        .collect()
}

#[test]
fn the_thumbprint_is_that_of_rfc_8037_a_3() {
    let key: PublicKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".parse().unwrap();
    assert_eq!(key.thumbprint().to_string(), "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
}

#[test]
fn rfc_8032_test_2_verifies_and_its_neighbours_do_not() {
    let key = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";
    let key: [u8; 32] = hex(key).try_into().unwrap();
    let signature: [u8; 64] = hex(
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00",
    )
    .try_into()
    .unwrap();
    assert!(verifies(&key, &[0x72], signature));
    assert!(!verifies(&key, &[0x73], signature));
    for at in 0..64 {
        let mut bent = signature;
        bent[at] ^= 1;
        assert!(!verifies(&key, &[0x72], bent), "byte {at}");
    }
}

/// The eight points of small order in every encoding that decompresses, canonical or not.
#[test]
fn k5_weak_keys_are_refused_whatever_their_encoding() {
    let encodings = [
        "0100000000000000000000000000000000000000000000000000000000000000",
        "0100000000000000000000000000000000000000000000000000000000000080",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "0000000000000000000000000000000000000000000000000000000000000080",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
    ];
    for encoding in encodings {
        let bytes: [u8; 32] = hex(encoding).try_into().unwrap();
        assert!(PublicKey::from_bytes(&bytes).is_err(), "{encoding}");
    }
}

#[test]
fn a_key_id_has_no_colon() {
    assert!("derived-1".parse::<KeyId>().is_ok());
    for bad in ["", "a:b", "a b", "ä", &"a".repeat(129)] {
        assert!(bad.parse::<KeyId>().is_err(), "{bad}");
    }
}

/// k of RFC 8032: SHA-512 over R, A and the message.
fn challenge(r: &[u8; 32], a: &[u8; 32], message: &[u8]) -> Scalar {
    let digest = Sha512::new().chain_update(r).chain_update(a).chain_update(message).finalize();
    Scalar::from_bytes_mod_order_wide(&digest.into())
}

/// A message and signature with the commitment `r`, of small order, that satisfy the equation under A = a·B + `torsion`:
/// S = k·a, for a message with r + k·torsion = 0.
fn with_small_commitment(r: EdwardsPoint, a: Scalar, torsion: EdwardsPoint) -> Option<([u8; 2], [u8; 64])> {
    let (r_bytes, key) = (r.compress().0, (ED25519_BASEPOINT_POINT * a + torsion).compress().0);
    (0..64).map(|n| [n, 0x55]).find_map(|message| {
        let k = challenge(&r_bytes, &key, &message);
        let balanced = r + torsion * k == EdwardsPoint::default();
        let signature = [r_bytes, (k * a).to_bytes()].concat();
        balanced.then(|| (message, signature.try_into().unwrap()))
    })
}

#[test]
fn k5_a_commitment_of_small_order_is_refused_though_the_equation_holds() {
    let a = Scalar::from(0x1234_5678_9abc_u64);
    let mut judged = 0;
    for (r, torsion) in EIGHT_TORSION.into_iter().flat_map(|r| EIGHT_TORSION.map(|torsion| (r, torsion))) {
        let Some((message, signature)) = with_small_commitment(r, a, torsion) else { continue };
        let key = (ED25519_BASEPOINT_POINT * a + torsion).compress().0;
        let library = VerifyingKey::from_bytes(&key).unwrap();
        let parsed = ed25519_dalek::Signature::from_bytes(&signature);
        assert!(library.verify(&message, &parsed).is_ok(), "the case is what it says");
        assert!(library.verify_strict(&message, &parsed).is_err());
        assert!(!verifies(&key, &message, signature));
        judged += 1;
    }
    assert!(judged >= 20, "commitments of every order occur: {judged}");
}

/// Bytes that come near a signature: whole ones, ones with a changed byte, and ones with S + L.
fn near_signatures() -> impl Strategy<Value = ([u8; 32], Vec<u8>, [u8; 64])> {
    let message = proptest::collection::vec(any::<u8>(), 0..40);
    (any::<[u8; 32]>(), message, 0..3u8, 0..64usize, any::<u8>()).prop_map(
        |(secret, message, kind, at, byte)| {
            let signing = SigningKey::from_bytes(&secret);
            let mut signature = signing.sign(&message).to_bytes();
            match kind {
                0 => {}
                1 => signature[at] = byte,
                _ => {
                    let shifted = plus_order(&signature[32..]);
                    signature[32..].copy_from_slice(&shifted);
                }
            }
            (signing.verifying_key().to_bytes(), message, signature)
        },
    )
}

/// S + L: the same scalar, in an encoding that is not canonical.
fn plus_order(scalar: &[u8]) -> Vec<u8> {
    let order = hex("edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010");
    let mut carry = 0;
    let add = |(a, b): (&u8, u8)| {
        let sum = u16::from(*a) + u16::from(b) + carry;
        carry = sum >> 8;
        u8::try_from(sum & 0xff).unwrap()
    };
    scalar.iter().zip(order).map(add).collect()
}

#[test]
fn k5_a_key_that_became_familiar_keeps_its_verdicts() {
    let signing = SigningKey::from_bytes(&[0x5a; 32]);
    let key = PublicKey::from_bytes(signing.verifying_key().as_bytes()).unwrap();
    for number in 0..3 * FAMILIAR_AFTER {
        let message = number.to_be_bytes();
        let signature = signing.sign(&message).to_bytes();
        assert!(key.verify(&message, &Signature::from_bytes(signature)).is_ok(), "{number}");
        let mut bent = signature;
        bent[40] ^= 1;
        assert!(key.verify(&message, &Signature::from_bytes(bent)).is_err(), "{number}");
        assert!(key.verify(b"other", &Signature::from_bytes(signature)).is_err(), "{number}");
    }
    assert!(familiar::FAMILIAR.multiples(&key.0).is_some());
}

proptest! {
    #[test]
    fn k5_it_is_verify_strict_of_the_library((key, message, signature) in near_signatures()) {
        let ours = verifies(&key, &message, signature);
        let parsed = ed25519_dalek::Signature::from_bytes(&signature);
        let library = VerifyingKey::from_bytes(&key).unwrap().verify_strict(&message, &parsed);
        prop_assert_eq!(ours, library.is_ok());
    }
}
