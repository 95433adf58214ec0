//! A body: the whole set of a list, named by its hash (protocol R1).
//!
//! ```text
//! magic    8 bytes      "PACTRVB1"
//! groups   …            as in `groups`
//! ```
//! 12 bytes, 8 for every group, 16 for every entry: at most 24 a listed id.

use std::fmt;

use crate::{
    entries::Entries,
    expiry::{Listed, Row},
    groups::{self, BodyError},
    name::BodyName,
};

const MAGIC: &str = "PACTRVB1";

/// The whole set of a list in memory, with the name and size of its one wire form.
#[derive(Clone, PartialEq, Eq)]
pub struct Body {
    entries: Entries,
    name: BodyName,
    size: u64,
}

impl Body {
    /// The body of these entries. Of one entry with two expiries the later one counts.
    pub fn of(listed: impl IntoIterator<Item = Listed>) -> Body {
        Body::encode(listed.into_iter().collect()).0
    }

    /// Reads a body; its name is then a fact about the bytes, which the caller compares with the name that a head gives.
    pub fn from_bytes(bytes: &[u8]) -> Result<Body, BodyError> {
        let groups = bytes.strip_prefix(MAGIC.as_bytes()).ok_or(BodyError::Magic { wanted: MAGIC })?;
        let rows = groups::decode(groups)?;
        Ok(Body { entries: set_of(rows)?, name: BodyName::of(bytes), size: size(bytes) })
    }

    /// The body of a set, and its bytes.
    pub(crate) fn encode(entries: Entries) -> (Body, Vec<u8>) {
        let bytes = bytes_of(&entries);
        (Body { name: BodyName::of(&bytes), size: size(&bytes), entries }, bytes)
    }

    /// The one wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        bytes_of(&self.entries)
    }

    /// The set.
    pub fn entries(&self) -> &Entries {
        &self.entries
    }

    /// SHA-256 of the wire form.
    pub fn name(&self) -> &BodyName {
        &self.name
    }

    /// Bytes of the wire form.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The size of a body of so many entries in one group, the smallest there is.
    pub(crate) fn least_size(count: u64) -> u64 {
        let groups = count.min(1);
        12 + 8 * groups + count.saturating_mul(16)
    }

    /// How many entries.
    pub fn count(&self) -> u64 {
        u64::try_from(self.entries.len()).unwrap_or(u64::MAX)
    }
}

/// A set of rows of the wire, refusing one entry in two groups.
pub(crate) fn set_of(mut rows: Vec<Row>) -> Result<Entries, BodyError> {
    rows.sort_unstable();
    let each_once = rows.is_sorted_by(|a, b| a.entry < b.entry);
    if each_once { Ok(Entries::from_sorted(rows)) } else { Err(BodyError::Order) }
}

fn bytes_of(entries: &Entries) -> Vec<u8> {
    let rows = entries.by_expiry();
    let mut bytes = Vec::with_capacity(MAGIC.len() + groups::encoded_len(&rows));
    bytes.extend_from_slice(MAGIC.as_bytes());
    groups::encode(&rows, &mut bytes);
    bytes
}

fn size(bytes: &[u8]) -> u64 {
    u64::try_from(bytes.len()).unwrap_or(u64::MAX)
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Body({} entries, {})", self.entries.len(), self.name)
    }
}

#[cfg(test)]
mod tests;
