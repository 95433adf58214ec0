//! A key at which chains begin.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use p256::{EncodedPoint, ecdsa::VerifyingKey as P256Key};
use pact_mandate::{KeyId, PublicKey, hex, key::Thumbprint};
use sha2::{Digest, Sha256};

/// A key at which chains of an issuer may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootKey {
    /// For every format.
    Ed25519 {
        /// The name under which the issuer publishes it.
        id: KeyId,
        /// The key.
        key: PublicKey,
    },
    /// For Biscuit alone (protocol K5): the compressed SEC1 point.
    P256 {
        /// The name under which the issuer publishes it.
        id: KeyId,
        /// 33 bytes, checked to be a point of the curve.
        sec1: [u8; 33],
    },
}

/// Why a text is no P-256 root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a P-256 key is the 66 lower-case hex digits of a compressed point of the curve")]
pub struct NotAPoint;

impl RootKey {
    /// The P-256 key of that text: the 66 lower-case hex digits of a compressed point, and no other spelling of it.
    /// Without a name it is called by its thumbprint.
    pub fn p256(id: Option<KeyId>, digits: &str) -> Result<RootKey, NotAPoint> {
        let sec1: [u8; 33] = hex::decode_exactly(digits).ok_or(NotAPoint)?;
        let thumbprint = RootKey::p256_thumbprint(&sec1).ok_or(NotAPoint)?;
        Ok(RootKey::P256 { id: id.unwrap_or_else(|| thumbprint.into()), sec1 })
    }

    /// The name under which the issuer publishes it.
    pub fn id(&self) -> &KeyId {
        match self {
            RootKey::Ed25519 { id, .. } | RootKey::P256 { id, .. } => id,
        }
    }

    /// The bytes of the public key: 32 of Ed25519, 33 of P-256.
    pub fn public_bytes(&self) -> &[u8] {
        match self {
            RootKey::Ed25519 { key, .. } => key.as_bytes(),
            RootKey::P256 { sec1, .. } => sec1,
        }
    }

    /// The number by which a Biscuit names it: the first four bytes of the SHA-256 of the public key, big-endian.
    pub fn biscuit_id(&self) -> u32 {
        let digest: [u8; 32] = Sha256::digest(self.public_bytes()).into();
        let [a, b, c, d, ..] = digest;
        u32::from_be_bytes([a, b, c, d])
    }

    /// The RFC 7638 thumbprint, under which a list names the key (protocol R3). `None` only for bytes that are no
    /// point of P-256, which no [`TrustSnapshot`](super::TrustSnapshot) holds.
    pub fn thumbprint(&self) -> Option<Thumbprint> {
        match self {
            RootKey::Ed25519 { key, .. } => Some(key.thumbprint()),
            RootKey::P256 { sec1, .. } => RootKey::p256_thumbprint(sec1),
        }
    }

    /// RFC 7638 over the members of RFC 7518 6.2.1: `crv`, `kty`, `x`, `y`. `None` for bytes that are no
    /// compressed point: SEC 1 knows other spellings of one, and a key that has two would be two keys (protocol K3).
    pub fn p256_thumbprint(sec1: &[u8; 33]) -> Option<Thumbprint> {
        let key = P256Key::from_sec1_bytes(sec1).ok()?;
        if key.to_encoded_point(true).as_bytes() != sec1 {
            return None;
        }
        let point: EncodedPoint = key.to_encoded_point(false);
        let (x, y) = (URL_SAFE_NO_PAD.encode(point.x()?), URL_SAFE_NO_PAD.encode(point.y()?));
        Some(Thumbprint::of_jwk_members(&format!(r#"{{"crv":"P-256","kty":"EC","x":"{x}","y":"{y}"}}"#)))
    }
}
