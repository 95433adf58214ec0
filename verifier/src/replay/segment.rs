//! One file of the store: a header that says which record it continues, then records of one size, each with a check over
//! itself and the one before.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
};

use pact_mandate::UnixTime;
use pact_revocation::disk;
use sha2::{Digest, Sha256};

use super::{
    StoreFailure,
    file::BootId,
    seen::{Used, words},
};
use crate::limits::MAX_RECORDS_PER_SEGMENT;

const MAGIC: &[u8; 16] = b"pact-replay/2\n\0\0";
const HEADER_BYTES: usize = 16 + 16 + 4 * 8 + 8 + 8;
const RECORD_BYTES: usize = 6 * 8;
/// No file of ours is longer.
const MAX_BYTES: usize = HEADER_BYTES + MAX_RECORDS_PER_SEGMENT * RECORD_BYTES;
const SUFFIX: &str = ".seen";

/// What a file says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// The boot during which it was written: what the page cache held died with it.
    pub(super) boot: BootId,
    /// Its number; the next file has the next.
    pub(super) number: u64,
    /// The first file that was still needed when this one began. All from there on must be there.
    pub(super) oldest: u64,
    /// When the unbroken record began.
    pub(super) since: UnixTime,
    /// All that ended up to here counts as forgotten.
    pub(super) floor: UnixTime,
    /// The last check of the file before, so that none of a record is cut short unnoticed once the next one began.
    pub(super) before: [u8; 8],
}

/// The file that is being written.
#[derive(Debug)]
pub(super) struct Segment {
    file: File,
    header: Header,
    check: [u8; 8],
    records: usize,
    latest_end: UnixTime,
    /// The last write did not go through whole.
    torn: bool,
}

/// A file that was read back.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) header: Header,
    /// The records up to the first that does not hold.
    pub(super) records: Vec<Used>,
    /// The check of the header, then that of each record.
    checks: Vec<[u8; 8]>,
    /// Nothing follows that does not hold.
    pub(super) is_whole: bool,
}

/// The numbers of the files in the folder, in order.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:020}{SUFFIX}"))
}

impl Segment {
    /// Begins a file. It appears under its name whole or not at all.
    pub(super) fn begin(folder: &Path, header: Header) -> Result<Segment, StoreFailure> {
        let failed = |error: io::Error| StoreFailure::new("begin a file", &error);
        let draft = folder.join("next.tmp");
        let bytes = header.to_bytes();
        fs::write(&draft, &bytes).map_err(failed)?;
        fs::rename(&draft, path(folder, header.number)).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(path(folder, header.number)).map_err(failed)?;
        let check = check_of(&bytes);
        Ok(Segment { file, header, check, records: 0, latest_end: UnixTime::EPOCH, torn: false })
    }

    /// Adds a record by one `write`, so that a process that is killed leaves it whole or not at all. A write that did
    /// not go through whole is cut off before the next.
    pub(super) fn append(&mut self, used: &Used) -> Result<(), StoreFailure> {
        if self.torn {
            let length = HEADER_BYTES.saturating_add(self.records.saturating_mul(RECORD_BYTES));
            let cut = self.file.set_len(u64::try_from(length).unwrap_or(u64::MAX));
            cut.map_err(|error| StoreFailure::new("cut off a torn record", &error))?;
            self.torn = false;
        }
        let (record, check) = to_record(used, self.check);
        match self.file.write(record.as_flattened()) {
            Ok(RECORD_BYTES) => {
                self.check = check;
                self.records = self.records.saturating_add(1);
                self.latest_end = self.latest_end.max(used.ends_at);
                Ok(())
            }
            Ok(_) => {
                self.torn = true;
                Err(StoreFailure { doing: "write a whole record", kind: io::ErrorKind::WriteZero })
            }
            Err(error) => {
                self.torn = true;
                Err(StoreFailure::new("write a record", &error))
            }
        }
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn records(&self) -> usize {
        self.records
    }

    /// The check over all that it holds.
    pub(super) fn check(&self) -> [u8; 8] {
        self.check
    }

    pub(super) fn latest_end(&self) -> UnixTime {
        self.latest_end
    }

    pub(super) fn is_full(&self) -> bool {
        self.records >= MAX_RECORDS_PER_SEGMENT
    }
}

impl Finished {
    /// Reads a file as far as it holds; `None` when not even its header does.
    pub(super) fn read(folder: &Path, number: u64) -> Option<Finished> {
        let bytes = disk::read(&path(folder, number), u64::try_from(MAX_BYTES).ok()?).ok()?;
        let (head, body) = bytes.split_at_checked(HEADER_BYTES)?;
        let header = Header::from_bytes(head).filter(|header| header.number == number)?;
        let mut check = check_of(head);
        let (mut records, mut checks) = (Vec::new(), vec![check]);
        let (chunks, rest) = body.as_chunks::<RECORD_BYTES>();
        for chunk in chunks {
            let Some(used) = from_record(chunk) else { break };
            let (expected, next) = to_record(&used, check);
            if expected.as_flattened() != chunk {
                break;
            }
            check = next;
            records.push(used);
            checks.push(check);
        }
        let is_whole = rest.is_empty() && records.len() == chunks.len();
        Some(Finished { header, records, checks, is_whole })
    }

    /// The check that stood after so many records.
    pub(super) fn check_after(&self, records: u64) -> Option<&[u8; 8]> {
        self.checks.get(usize::try_from(records).ok()?)
    }

    pub(super) fn last_check(&self) -> Option<&[u8; 8]> {
        self.checks.last()
    }

    /// The latest end of a record; the epoch when there is none.
    pub(super) fn latest_end(&self) -> UnixTime {
        self.records.iter().map(|used| used.ends_at).max().unwrap_or(UnixTime::EPOCH)
    }
}

impl Header {
    fn to_bytes(self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend(self.boot.as_bytes());
        for number in [self.number, self.oldest, self.since.seconds(), self.floor.seconds()] {
            bytes.extend(number.to_be_bytes());
        }
        bytes.extend(self.before);
        bytes.extend(check_of(&bytes));
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Header> {
        let rest = bytes.strip_prefix(MAGIC)?;
        let (boot, rest) = rest.split_first_chunk::<16>()?;
        let (number, rest) = rest.split_first_chunk::<8>()?;
        let (oldest, rest) = rest.split_first_chunk::<8>()?;
        let (since, rest) = rest.split_first_chunk::<8>()?;
        let (floor, rest) = rest.split_first_chunk::<8>()?;
        let (before, _) = rest.split_first_chunk::<8>()?;
        let header = Header {
            boot: BootId::from_bytes(*boot),
            number: u64::from_be_bytes(*number),
            oldest: u64::from_be_bytes(*oldest),
            since: u64::from_be_bytes(*since).try_into().ok()?,
            floor: u64::from_be_bytes(*floor).try_into().ok()?,
            before: *before,
        };
        (header.to_bytes() == bytes).then_some(header)
    }
}

/// Key, holder, grant, end, and a check over them and the check before: one block of SHA-256.
fn to_record(used: &Used, before: [u8; 8]) -> ([[u8; 8]; 6], [u8; 8]) {
    let (key, more_key) = used.key;
    let words = [key, more_key, used.holder, used.grant, used.ends_at.seconds()];
    let [key, more_key, holder, grant, end] = words.map(u64::to_be_bytes);
    let check = check_of([before, key, more_key, holder, grant, end].as_flattened());
    ([key, more_key, holder, grant, end, check], check)
}

fn from_record(record: &[u8; RECORD_BYTES]) -> Option<Used> {
    let [key, more_key, holder, grant, end, _] = words(record);
    Some(Used { key: (key, more_key), holder, grant, ends_at: end.try_into().ok()? })
}

pub(super) fn check_of(bytes: &[u8]) -> [u8; 8] {
    let mut check = [0; 8];
    check.iter_mut().zip(Sha256::digest(bytes)).for_each(|(to, from)| *to = from);
    check
}

#[cfg(test)]
impl Segment {
    /// From now on each write fails.
    pub(super) fn break_for_test(&mut self, path: &Path) {
        self.file = File::open(path).unwrap();
    }
}
