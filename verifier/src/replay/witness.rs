//! The witness: a small file beside the record that says how far the record reached at the least, and until when nothing
//! more can have been used. It is synced and replaced whole: when a file begins, at most every [`WITNESS_SECONDS`] while
//! proofs are recorded, and at an orderly end.
//!
//! [`WITNESS_SECONDS`]: crate::limits::WITNESS_SECONDS

use std::path::{Path, PathBuf};

use pact_mandate::UnixTime;
use pact_revocation::disk;

use super::{StoreFailure, segment::check_of};

const MAGIC: &[u8; 16] = b"pact-witness/1\n\0";
const BYTES: usize = 16 + 2 * 8 + 8 + 8 + 8;

/// What the folder must still show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Witness {
    /// The newest file.
    pub(super) number: u64,
    /// How many records it held at the least …
    pub(super) records: u64,
    /// … and the check that stood there, over these and all before them.
    pub(super) check: [u8; 8],
    /// No proof was recorded when the wall clock was later than this.
    pub(super) until: UnixTime,
}

impl Witness {
    /// That of a folder; `None` when there is none that can be relied on.
    pub(super) fn read(folder: &Path) -> Option<Witness> {
        let most = u64::try_from(BYTES).unwrap_or(u64::MAX);
        Witness::from_bytes(&disk::read(&path(folder), most).ok()?)
    }

    /// Keeps it. When this returns, it outlives the system.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreFailure> {
        disk::replace(&path(folder), &self.to_bytes(), disk::PRIVATE)
            .map_err(|error| StoreFailure::new("write the witness", &error))
    }

    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.number.to_be_bytes());
        bytes.extend(self.records.to_be_bytes());
        bytes.extend(self.check);
        bytes.extend(self.until.seconds().to_be_bytes());
        bytes.extend(check_of(&bytes));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Witness> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (records, rest) = rest.split_first_chunk::<8>()?;
        let (check, rest) = rest.split_first_chunk::<8>()?;
        let (until, _) = rest.split_first_chunk::<8>()?;
        let witness = Witness {
            number: u64::from_be_bytes(*number),
            records: u64::from_be_bytes(*records),
            check: *check,
            until: u64::from_be_bytes(*until).try_into().ok()?,
        };
        (witness.to_bytes() == bytes).then_some(witness)
    }
}

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("witness")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p7_a_witness_is_read_back_whole_or_not_at_all() {
        let until = UnixTime::try_from(1_800_000_000).unwrap();
        let witness = Witness { number: 3, records: 7, check: [9; 8], until };
        let bytes = witness.to_bytes();
        assert_eq!((bytes.len(), Witness::from_bytes(&bytes)), (BYTES, Some(witness)));
        for at in 0..bytes.len() {
            let mut bent = bytes.clone();
            bent[at] ^= 1;
            assert_eq!(Witness::from_bytes(&bent), None, "byte {at}");
            assert_eq!(Witness::from_bytes(&bytes[..at]), None, "length {at}");
        }
        assert_eq!(Witness::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }
}
