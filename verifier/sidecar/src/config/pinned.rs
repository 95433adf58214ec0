//! Public keys of the configuration: `KEY`, or `KID:KEY` where their issuer publishes them under a name of its own.

use std::str::FromStr;

use pact_mandate::{KeyId, PublicKey, hex, key::KeyError};
use pact_verifier::trust::{NotAPoint, RootKey};
use serde::{Deserialize, Serialize};

/// Characters of a P-256 point: 33 bytes, compressed, in hex. No Ed25519 key has as many.
const POINT_CHARS: usize = 66;

/// A key that signs lists: 43 characters of base64url.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PinnedKey {
    /// Its name; without one, the key's thumbprint.
    pub id: KeyId,
    /// The key.
    pub key: PublicKey,
}

/// A key at which chains may begin: 43 characters of base64url, or, for Biscuits alone (protocol K5), the 66 hex digits of
/// a compressed point of P-256.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PinnedRoot(RootKey);

/// Why a text pins no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PinnedKeyError {
    /// No key id, or no Ed25519 key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// No P-256 key.
    #[error(transparent)]
    Point(#[from] NotAPoint),
}

impl FromStr for PinnedKey {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<PinnedKey, KeyError> {
        let (id, key) = split(text)?;
        let key: PublicKey = key.parse()?;
        Ok(PinnedKey { id: id.unwrap_or_else(|| key.thumbprint().into()), key })
    }
}

impl PinnedRoot {
    /// The key and its name; without one, its thumbprint.
    pub fn key(&self) -> &RootKey {
        &self.0
    }
}

impl FromStr for PinnedRoot {
    type Err = PinnedKeyError;

    fn from_str(text: &str) -> Result<PinnedRoot, PinnedKeyError> {
        let (id, key) = split(text)?;
        if key.len() == POINT_CHARS {
            return Ok(PinnedRoot(RootKey::p256(id, key)?));
        }
        let PinnedKey { id, key } = text.parse()?;
        Ok(PinnedRoot(RootKey::Ed25519 { id, key }))
    }
}

impl TryFrom<String> for PinnedKey {
    type Error = KeyError;

    fn try_from(text: String) -> Result<PinnedKey, KeyError> {
        text.parse()
    }
}

impl TryFrom<String> for PinnedRoot {
    type Error = PinnedKeyError;

    fn try_from(text: String) -> Result<PinnedRoot, PinnedKeyError> {
        text.parse()
    }
}

impl From<PinnedKey> for String {
    fn from(pinned: PinnedKey) -> String {
        format!("{}:{}", pinned.id, pinned.key)
    }
}

impl From<PinnedRoot> for String {
    fn from(pinned: PinnedRoot) -> String {
        match pinned.0 {
            RootKey::Ed25519 { id, key } => PinnedKey { id, key }.into(),
            RootKey::P256 { id, sec1 } => format!("{id}:{}", hex::encode(&sec1)),
        }
    }
}

/// The name, where there is one, and the key. No key id has a colon.
fn split(text: &str) -> Result<(Option<KeyId>, &str), KeyError> {
    match text.split_once(':') {
        Some((id, key)) => Ok((Some(id.parse()?), key)),
        None => Ok((None, text)),
    }
}
