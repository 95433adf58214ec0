//! Keys and signatures: Ed25519, strictly (protocol K5).

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::VerifyingKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::limits::MAX_KEY_ID_CHARS;

mod familiar;
mod multiples;
mod strict;
#[cfg(test)]
mod tests;

/// The name of a key: by default its RFC 7638 thumbprint, or a name that its operator chose (no `:`).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct KeyId(String);

/// An Ed25519 public key that is worth checking signatures with: on the curve, canonically encoded, not of small order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PublicKey(VerifyingKey);

/// An Ed25519 signature as it came: 64 bytes, claiming nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

/// Why bytes or text are no key, key id or signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Not base64url without padding of 32 bytes.
    #[error("a public key is 43 characters of base64url (32 bytes, no padding)")]
    NotAKey,
    /// Not the canonical encoding of a point of the curve.
    #[error("the public key is not a canonically encoded point of the Ed25519 curve")]
    NotOnCurve,
    /// A point of small order, under which anybody can make signatures.
    #[error("the public key is weak (a point of small order)")]
    Weak,
    /// A key id outside its grammar.
    #[error("a key id is 1 to 128 printable ASCII characters without ':' or spaces")]
    NotAKeyId,
    /// Not base64url without padding of 64 bytes.
    #[error("a signature is 86 characters of base64url (64 bytes, no padding)")]
    NotASignature,
}

/// The signature is not one of that key over those bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the signature does not verify under key {key}")]
pub struct BadSignature {
    /// Thumbprint of the key that was tried.
    pub key: Thumbprint,
}

/// The RFC 7638 SHA-256 thumbprint of a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thumbprint([u8; 32]);

/// Something that signs: a key in memory, or a service that keeps one.
pub trait Signer {
    /// The name under which the key is published.
    fn key_id(&self) -> &KeyId;
    /// The key that verifies what this signs.
    fn public_key(&self) -> &PublicKey;
    /// Signs `message`; an error when the service that keeps the key does not answer.
    fn sign(&self, message: &[u8]) -> Result<Signature, SignerUnavailable>;
}

/// The keeper of a key gave no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("key {key} could not be used: {reason}")]
pub struct SignerUnavailable {
    /// Which key.
    pub key: KeyId,
    /// What its keeper said; never secret material.
    pub reason: String,
}

impl KeyId {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for KeyId {
    type Error = KeyError;

    fn try_from(text: String) -> Result<KeyId, KeyError> {
        let fits = (1..=MAX_KEY_ID_CHARS).contains(&text.len());
        if fits && text.bytes().all(|b| b.is_ascii_graphic() && b != b':') {
            Ok(KeyId(text))
        } else {
            Err(KeyError::NotAKeyId)
        }
    }
}

impl FromStr for KeyId {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<KeyId, KeyError> {
        KeyId::try_from(text.to_owned())
    }
}

impl From<KeyId> for String {
    fn from(id: KeyId) -> String {
        id.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyId({self})")
    }
}

impl PublicKey {
    /// Accepts 32 bytes only as the canonical encoding of a point that is not of small order.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, KeyError> {
        if !is_canonical(bytes) {
            return Err(KeyError::NotOnCurve);
        }
        let key = VerifyingKey::from_bytes(bytes).map_err(|_| KeyError::NotOnCurve)?;
        if key.is_weak() { Err(KeyError::Weak) } else { Ok(PublicKey(key)) }
    }

    /// The 32 bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// Whether `signature` is this key's over `message`, by the strict rules alone.
    pub fn verify(&self, message: &[u8], signature: &Signature) -> Result<(), BadSignature> {
        if strict::verifies(&self.0, message, &signature.0) {
            Ok(())
        } else {
            Err(BadSignature { key: self.thumbprint() })
        }
    }

    /// The RFC 7638 thumbprint of the key as a JWK (members of RFC 8037).
    pub fn thumbprint(&self) -> Thumbprint {
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{self}"}}"#);
        Thumbprint(Sha256::digest(jwk).into())
    }
}

/// Whether the y coordinate is below 2^255 − 19. (A zero x with the sign bit set is of small order and falls there.)
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let [first, middle @ .., last] = bytes;
    !(*first >= 0xed && last & 0x7f == 0x7f && middle.iter().all(|&b| b == 0xff))
}

impl FromStr for PublicKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PublicKey, KeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyError::NotAKey)?;
        PublicKey::from_bytes(&bytes.try_into().map_err(|_| KeyError::NotAKey)?)
    }
}

impl TryFrom<String> for PublicKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<PublicKey, KeyError> {
        text.parse()
    }
}

impl From<PublicKey> for String {
    fn from(key: PublicKey) -> String {
        key.to_string()
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl Thumbprint {
    /// The digest.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// A thumbprint that was computed by the same rule for a key of another kind.
    pub fn of_jwk_members(canonical_members: &str) -> Thumbprint {
        Thumbprint(Sha256::digest(canonical_members).into())
    }
}

impl FromStr for Thumbprint {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Thumbprint, KeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyError::NotAKey)?;
        bytes.try_into().map(Thumbprint).map_err(|_| KeyError::NotAKey)
    }
}

impl From<Thumbprint> for KeyId {
    fn from(thumbprint: Thumbprint) -> KeyId {
        KeyId(thumbprint.to_string())
    }
}

impl fmt::Display for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Thumbprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Thumbprint({self})")
    }
}

impl Signature {
    /// Takes the bytes as they are; only [`PublicKey::verify`] judges them.
    pub const fn from_bytes(bytes: [u8; 64]) -> Signature {
        Signature(bytes)
    }

    /// The 64 bytes.
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl FromStr for Signature {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Signature, KeyError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyError::NotASignature)?;
        bytes.try_into().map(Signature).map_err(|_| KeyError::NotASignature)
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for Signature {
    /// A proof's signature is as good as the proof, so it is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Signature(…)")
    }
}
