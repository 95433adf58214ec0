//! The one form under which a P-256 signature names its block (protocol K5, R1).

use p256::ecdsa::Signature;

/// A P-256 signature as r‖s with the lower of its two values of s: who turns s into n − s has the same signature in
/// other bytes, and must not have another block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LowS([u8; 64]);

impl LowS {
    /// From the DER that a token carries.
    pub fn from_der(bytes: &[u8]) -> Option<LowS> {
        LowS::of(Signature::from_der(bytes).ok()?)
    }

    /// From r‖s, with either s.
    pub fn from_fixed(bytes: &[u8]) -> Option<LowS> {
        LowS::of(Signature::from_slice(bytes).ok()?)
    }

    /// The 64 bytes.
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }

    fn of(signature: Signature) -> Option<LowS> {
        let low = signature.normalize_s().unwrap_or(signature);
        let bytes: &[u8] = &low.to_bytes();
        bytes.try_into().ok().map(LowS)
    }
}

#[cfg(test)]
mod tests {
    use p256::ecdsa::{SigningKey, signature::Signer};

    use super::*;

    #[test]
    fn k5_a_signature_its_twin_and_their_der_have_one_form() {
        let key = SigningKey::from_slice(&[7; 32]).unwrap();
        for message in 0..16_u8 {
            let made: Signature = key.sign(&[message]);
            let (r, s) = made.split_scalars();
            let twin = Signature::from_scalars(r, -*s).unwrap();
            let low = LowS::from_fixed(&made.to_bytes()).unwrap();
            let forms = [
                LowS::from_fixed(&twin.to_bytes()),
                LowS::from_der(made.to_der().as_bytes()),
                LowS::from_der(twin.to_der().as_bytes()),
                LowS::from_fixed(low.as_bytes()),
            ];
            assert_eq!(forms, [Some(low); 4]);
            assert_eq!(Signature::from_slice(low.as_bytes()).unwrap().normalize_s(), None, "it is low");
        }
        for none in [&[][..], &[0; 64], &[0xff; 64], &[1; 63]] {
            assert_eq!((LowS::from_fixed(none), LowS::from_der(none)), (None, None));
        }
    }
}
