//! Strict verification, in the time of the lenient one.
//!
//! `verify_strict` of the library decompresses R, which costs about a tenth of a verification, only to ask whether R is
//! of small order. The lenient `verify` already demands that R equal, byte for byte, the canonical encoding of the point
//! it computes. So once it has passed, R is of small order exactly when its y is one of five.

use curve25519_dalek::Scalar;
use ed25519_dalek::{Signature, Verifier, VerifyingKey};
use sha2::{Digest, Sha512};

use super::{familiar::FAMILIAR, multiples::Multiples};

/// Whether the strict rules hold: canonical S, neither R nor A of small order, and R = S·B − k·A without a cofactor.
/// `key` was found not to be of small order when it was made.
pub(super) fn verifies(key: &VerifyingKey, message: &[u8], signature: &[u8; 64]) -> bool {
    let verifies = judge(key, FAMILIAR.multiples(key).as_deref(), message, signature);
    if verifies {
        FAMILIAR.verified(key);
    }
    verifies
}

/// The verdict, which is the same with multiples of −A at hand and without.
pub(super) fn judge(
    key: &VerifyingKey,
    minus_a: Option<&Multiples>,
    message: &[u8],
    signature: &[u8; 64],
) -> bool {
    let signature = Signature::from_bytes(signature);
    if is_of_small_order(signature.r_bytes()) {
        return false;
    }
    match minus_a {
        None => key.verify(message, &signature).is_ok(),
        Some(minus_a) => is_equation_met(key, minus_a, message, &signature),
    }
}

/// The lenient rules of the library: S is canonical, and S·B − k·A encodes to R.
fn is_equation_met(key: &VerifyingKey, minus_a: &Multiples, message: &[u8], signature: &Signature) -> bool {
    let s: Option<Scalar> = Scalar::from_canonical_bytes(*signature.s_bytes()).into();
    let Some(s) = s else { return false };
    let k =
        Sha512::new().chain_update(signature.r_bytes()).chain_update(key.as_bytes()).chain_update(message);
    let k = Scalar::from_bytes_mod_order_wide(&k.finalize().into());
    minus_a.times_plus_base(&k, &s).compress().as_bytes() == signature.r_bytes()
}

fn is_of_small_order(point: &[u8; 32]) -> bool {
    let mut y = *point;
    y[31] &= 0x7f;
    SMALL_ORDER.contains(&y)
}

/// The y of every point of small order, without the sign of its x: 1 and −1 (order 1 and 2), 0 (order 4), and the two of
/// order 8.
const SMALL_ORDER: [[u8; 32]; 5] = [
    spread(0x01, 0x00, 0x00),
    spread(0xec, 0xff, 0x7f),
    spread(0x00, 0x00, 0x00),
    [
        0xc7, 0x17, 0x6a, 0x70, 0x3d, 0x4d, 0xd8, 0x4f, 0xba, 0x3c, 0x0b, 0x76, 0x0d, 0x10, 0x67, 0x0f, 0x2a,
        0x20, 0x53, 0xfa, 0x2c, 0x39, 0xcc, 0xc6, 0x4e, 0xc7, 0xfd, 0x77, 0x92, 0xac, 0x03, 0x7a,
    ],
    [
        0x26, 0xe8, 0x95, 0x8f, 0xc2, 0xb2, 0x27, 0xb0, 0x45, 0xc3, 0xf4, 0x89, 0xf2, 0xef, 0x98, 0xf0, 0xd5,
        0xdf, 0xac, 0x05, 0xd3, 0xc6, 0x33, 0x39, 0xb1, 0x38, 0x02, 0x88, 0x6d, 0x53, 0xfc, 0x05,
    ],
];

const fn spread(first: u8, middle: u8, last: u8) -> [u8; 32] {
    let mut bytes = [middle; 32];
    bytes[0] = first;
    bytes[31] = last;
    bytes
}
