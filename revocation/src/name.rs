//! The name of a body or delta: the SHA-256 of its bytes.

use std::{fmt, str::FromStr};

use pact_mandate::hex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// SHA-256 of a body's or delta's bytes, written as 64 lower-case hex digits. Whoever holds the name can check the bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BodyName([u8; 32]);

/// A text that is not the name of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the name of a body is 64 lower-case hex digits")]
pub struct NotABodyName;

impl BodyName {
    /// The name of these bytes.
    pub fn of(bytes: &[u8]) -> BodyName {
        BodyName(Sha256::digest(bytes).into())
    }

    /// A digest as a delta carries it.
    pub(crate) const fn from_digest(digest: [u8; 32]) -> BodyName {
        BodyName(digest)
    }

    /// The digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl FromStr for BodyName {
    type Err = NotABodyName;

    fn from_str(text: &str) -> Result<BodyName, NotABodyName> {
        hex::decode_exactly(text).map(BodyName).ok_or(NotABodyName)
    }
}

impl TryFrom<String> for BodyName {
    type Error = NotABodyName;

    fn try_from(text: String) -> Result<BodyName, NotABodyName> {
        text.parse()
    }
}

impl From<BodyName> for String {
    fn from(name: BodyName) -> String {
        name.to_string()
    }
}

impl fmt::Display for BodyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for BodyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BodyName({self})")
    }
}
