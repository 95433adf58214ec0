//! The part that bodies and deltas share: entries grouped by expiry.
//!
//! ```text
//! groups   u32          how many groups follow
//! group    u32          expiry: whole minutes since 1970-01-01T00:00Z, rising strictly from group to group
//!          u32          how many entries follow, at least 1
//!          16 bytes …   entries, rising strictly
//! ```
//! All integers are big-endian. One entry is in one group only. A set has exactly one such form.

use crate::{
    entry::Entry,
    expiry::{Minute, Row},
    limits::MAX_ENTRIES,
};

/// Why bytes are no body or delta.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// Does not start as one.
    #[error("the bytes do not start with {wanted}")]
    Magic {
        /// The eight characters that were expected.
        wanted: &'static str,
    },
    /// Ends too early, or announces more than there is.
    #[error("the bytes end inside a group")]
    Truncated,
    /// More after the last group.
    #[error("there are bytes after the last group")]
    Trailing,
    /// More entries than the bound.
    #[error("there are more than {MAX_ENTRIES} entries")]
    TooMany,
    /// A group without entries.
    #[error("a group is empty")]
    EmptyGroup,
    /// Groups or entries out of order, or repeated.
    #[error("groups and entries must rise strictly, each entry once")]
    Order,
    /// A delta that starts past the last list number.
    #[error("the list number is out of range")]
    Version,
}

/// Appends the groups of rows that are sorted by expiry, then entry.
pub(crate) fn encode(rows: &[Row], out: &mut Vec<u8>) {
    let groups = || rows.chunk_by(|a, b| a.until == b.until);
    put_u32(groups().count(), out);
    for group in groups() {
        let until = group.first().map_or(0, |row| row.until.number());
        out.extend_from_slice(&until.to_be_bytes());
        put_u32(group.len(), out);
        for row in group {
            out.extend_from_slice(row.entry.as_bytes());
        }
    }
}

/// How many bytes [`encode`] appends.
pub(crate) fn encoded_len(rows: &[Row]) -> usize {
    4 + 8 * rows.chunk_by(|a, b| a.until == b.until).count() + 16 * rows.len()
}

/// Reads what [`encode`] writes, and nothing else. The rows come in the order of the wire.
pub(crate) fn decode(bytes: &[u8]) -> Result<Vec<Row>, BodyError> {
    // Whatever the counts say, there are no more entries than bytes for them.
    let most = bytes.len() / 16;
    if u64::try_from(most).is_ok_and(|most| most > MAX_ENTRIES + MAX_ENTRIES / 2 + 1) {
        return Err(BodyError::TooMany);
    }
    let (groups, mut rest) = take_u32(bytes)?;
    let mut rows: Vec<Row> = Vec::with_capacity(most);
    let mut last = None;
    for _ in 0..groups {
        let until;
        (until, rest) = take_group(rest, &mut rows)?;
        if last.is_some_and(|last| last >= until) {
            return Err(BodyError::Order);
        }
        last = Some(until);
    }
    if u64::try_from(rows.len()).is_ok_and(|rows| rows > MAX_ENTRIES) {
        return Err(BodyError::TooMany);
    }
    if rest.is_empty() { Ok(rows) } else { Err(BodyError::Trailing) }
}

fn take_group<'a>(bytes: &'a [u8], rows: &mut Vec<Row>) -> Result<(Minute, &'a [u8]), BodyError> {
    let (until, rest) = take_u32(bytes)?;
    let until = Minute::from_number(until);
    let (count, rest) = take_u32(rest)?;
    let length = usize::try_from(count).ok().and_then(|count| count.checked_mul(16));
    let (group, rest) =
        length.and_then(|length| rest.split_at_checked(length)).ok_or(BodyError::Truncated)?;
    let (entries, _) = group.as_chunks::<16>();
    if entries.is_empty() {
        return Err(BodyError::EmptyGroup);
    }
    if !entries.is_sorted_by(|a, b| a < b) {
        return Err(BodyError::Order);
    }
    rows.extend(entries.iter().map(|entry| Row { entry: Entry::from_bytes(*entry), until }));
    Ok((until, rest))
}

pub(crate) fn take_u32(bytes: &[u8]) -> Result<(u32, &[u8]), BodyError> {
    let (number, rest) = bytes.split_first_chunk::<4>().ok_or(BodyError::Truncated)?;
    Ok((u32::from_be_bytes(*number), rest))
}

fn put_u32(number: usize, out: &mut Vec<u8>) {
    // Sets are bounded far below 2^32 (`limits::MAX_ENTRIES`) before they are encoded.
    out.extend_from_slice(&u32::try_from(number).unwrap_or(u32::MAX).to_be_bytes());
}
