//! A delta: what was added since an earlier list (protocol R1).
//!
//! ```text
//! magic    8 bytes      "PACTRVD1"
//! from     u64          number of the list it starts from
//! base     32 bytes     SHA-256 of that list's body
//! left     u32          groups with an expiry (in minutes) below this have left the list since
//! groups   …            the entries added since, as in `groups`
//! ```
//! The new set is: the base's entries whose expiry is not below `left`, and the added ones; where an entry is in both,
//! the later expiry counts. Encoded as a body it must hash to the name that the head gives.

use std::fmt;

use crate::{
    body::{Body, set_of},
    entries::Entries,
    expiry::{Minute, Row},
    groups::{self, BodyError},
    list::ListVersion,
    name::BodyName,
};

const MAGIC: &str = "PACTRVD1";

/// The entries added since one earlier list.
#[derive(Clone, PartialEq, Eq)]
pub struct Delta {
    from: ListVersion,
    base: BodyName,
    left: Minute,
    added: Entries,
}

impl Delta {
    /// A delta of nothing from a list to itself; [`Delta::extended`] makes it grow with the list.
    pub(crate) fn from_list(from: ListVersion, base: BodyName) -> Delta {
        Delta { from, base, left: Minute::ZERO, added: Entries::none() }
    }

    /// The delta from the same list to the next one, which gained `added` and lost what expires before `left`.
    pub(crate) fn extended(&self, added: &[Row], left: Minute) -> Delta {
        let rows = self.added.rows().iter().chain(added).filter(|row| row.until >= left);
        Delta {
            left: left.max(self.left),
            added: Entries::from_rows(rows.copied().collect()),
            ..self.clone()
        }
    }

    /// Reads a delta.
    pub fn from_bytes(bytes: &[u8]) -> Result<Delta, BodyError> {
        let rest = bytes.strip_prefix(MAGIC.as_bytes()).ok_or(BodyError::Magic { wanted: MAGIC })?;
        let (from, rest) = rest.split_first_chunk::<8>().ok_or(BodyError::Truncated)?;
        let (base, rest) = rest.split_first_chunk::<32>().ok_or(BodyError::Truncated)?;
        let (left, rest) = groups::take_u32(rest)?;
        Ok(Delta {
            from: ListVersion::try_from(u64::from_be_bytes(*from)).map_err(|_| BodyError::Version)?,
            base: BodyName::from_digest(*base),
            left: Minute::from_number(left),
            added: set_of(groups::decode(rest)?)?,
        })
    }

    /// The one wire form.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(64);
        bytes.extend_from_slice(MAGIC.as_bytes());
        bytes.extend_from_slice(&self.from.get().to_be_bytes());
        bytes.extend_from_slice(self.base.as_bytes());
        bytes.extend_from_slice(&self.left.number().to_be_bytes());
        groups::encode(&self.added.by_expiry(), &mut bytes);
        bytes
    }

    /// Number of the list it starts from.
    pub fn from(&self) -> ListVersion {
        self.from
    }

    /// Name of the body it starts from.
    pub fn base(&self) -> &BodyName {
        &self.base
    }

    /// What was added.
    pub fn added(&self) -> &Entries {
        &self.added
    }

    /// The set that it makes of its base. Whether `base` is its base is the caller's to check.
    pub(crate) fn applied_to(&self, base: &Body) -> Entries {
        let kept = base.entries().rows().iter().filter(|row| row.until >= self.left);
        Entries::from_rows(kept.chain(self.added.rows()).copied().collect())
    }
}

impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Delta(from {}, {} entries)", self.from, self.added.len())
    }
}
