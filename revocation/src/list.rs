//! The number of a list.

use std::fmt;

use pact_mandate::limits::MAX_SAFE_INTEGER;
use serde::{Deserialize, Serialize};

/// The number of a list, one more exactly when its set of entries changes (protocol R1). At most 2^53 − 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct ListVersion(u64);

/// A number past 2^53 − 1, which not every JSON reader keeps exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not the number of a list: at most 2^53 − 1")]
pub struct VersionOutOfRange(pub u64);

impl ListVersion {
    /// Of a compatible list that never held an id. Our own lists start at [`ListVersion::FIRST`].
    pub const ZERO: ListVersion = ListVersion(0);
    /// Of the first list.
    pub const FIRST: ListVersion = ListVersion(1);

    /// The number.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The next number; an error after the last one.
    pub fn next(self) -> Result<ListVersion, VersionOutOfRange> {
        ListVersion::try_from(self.0.saturating_add(1))
    }
}

impl TryFrom<u64> for ListVersion {
    type Error = VersionOutOfRange;

    fn try_from(number: u64) -> Result<ListVersion, VersionOutOfRange> {
        if number > MAX_SAFE_INTEGER { Err(VersionOutOfRange(number)) } else { Ok(ListVersion(number)) }
    }
}

impl From<ListVersion> for u64 {
    fn from(version: ListVersion) -> u64 {
        version.0
    }
}

impl fmt::Display for ListVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
