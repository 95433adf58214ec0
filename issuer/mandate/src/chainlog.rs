//! Lines that hang together by their hashes, with signed checkpoints among them (protocol M7).
//!
//! A log is lines of canonical JSON, each ended by a newline. Every line names its log, its place from 0 on and the
//! SHA-256 of the line before it, so that no line can be changed, moved or taken out without a later one telling. A
//! checkpoint is a line whose content is a signed statement about all lines before it; what follows the last checkpoint
//! is only as good as the disk it lies on.
//!
//! Nothing here writes a file. [`ChainLog`] makes the next line of an [`Entry`] and counts it once its caller says that it
//! was written; [`ChainReader`] reads lines back.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    canonical::CanonicalError,
    limits::MAX_LOG_LINE_BYTES,
    signed::{Extensions, Signed, SignedError, Statement},
    time::UnixTime,
};

mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use reader::{Broken, ChainReader, Linked, Read, Standing, WhyBroken};
pub use writer::{ChainLog, Entry, NextLine};

/// The name of one log: 16 random bytes, as base64url. No two logs share one, so a line of one is no line of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LogId([u8; 16]);

/// The SHA-256 of a line without its newline, as base64url. That of the line before the first is all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LineHash([u8; 32]);

/// A text that is no [`LogId`] or no [`LineHash`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not base64url without padding of {bytes} bytes")]
pub struct NotBytes {
    /// How many were wanted.
    pub bytes: usize,
}

/// What a checkpoint says: at that time, the log stood at this place, after a line of this hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// When it was signed.
    pub at: UnixTime,
    /// Extensions that a reader must know.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crit: Vec<String>,
    /// Extensions.
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub ext: Extensions,
    /// Which log.
    pub log: LogId,
    /// The hash of the line before this one, and with it every line before.
    pub previous: LineHash,
    /// The place of the checkpoint's own line.
    pub seq: u64,
    /// [`Checkpoint::TYP`].
    pub typ: String,
}

/// Why there is no next line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainLogError {
    /// The entry has no canonical form.
    #[error("the entry cannot be written: {0}")]
    Entry(#[from] CanonicalError),
    /// Longer than a reader takes.
    #[error("the line would be longer than {MAX_LOG_LINE_BYTES} bytes")]
    TooLong,
    /// No checkpoint was signed.
    #[error("no checkpoint: {0}")]
    Checkpoint(#[from] SignedError),
}

/// A line as it is written: an entry or a checkpoint, never both.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "T: serde::de::DeserializeOwned"))]
struct Line<T> {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    checkpoint: Option<Signed<Checkpoint>>,
    #[serde(default = "none", skip_serializing_if = "Option::is_none")]
    entry: Option<T>,
    log: LogId,
    previous: LineHash,
    seq: u64,
}

fn none<T>() -> Option<T> {
    None
}

impl Statement for Checkpoint {
    const TYP: &'static str = "pact-checkpoint/1";
    const MAX_BYTES: usize = 4096;

    fn typ(&self) -> &str {
        &self.typ
    }

    fn crit(&self) -> &[String] {
        &self.crit
    }
}

impl LogId {
    /// These random bytes.
    pub const fn from_random(bytes: [u8; 16]) -> LogId {
        LogId(bytes)
    }
}

impl LineHash {
    /// That of the line before the first.
    pub const START: LineHash = LineHash([0; 32]);

    /// Of a line without its newline.
    pub fn of(line: &[u8]) -> LineHash {
        LineHash(Sha256::digest(line).into())
    }
}

fn decode<const N: usize>(text: &str) -> Result<[u8; N], NotBytes> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| bytes.try_into().ok());
    bytes.ok_or(NotBytes { bytes: N })
}

macro_rules! as_text {
    ($name:ident) => {
        impl FromStr for $name {
            type Err = NotBytes;

            fn from_str(text: &str) -> Result<$name, NotBytes> {
                decode(text).map($name)
            }
        }

        impl TryFrom<String> for $name {
            type Error = NotBytes;

            fn try_from(text: String) -> Result<$name, NotBytes> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
            }
        }
    };
}

as_text!(LogId);
as_text!(LineHash);
