//! A set of entries in memory: 20 bytes an entry, and an index of their first bits.

use std::{fmt, ops::Range};

use crate::{
    entry::Entry,
    expiry::{Listed, Minute, Row},
};

/// A set of entries with their expiries, sorted. A look-up reads the index once and then searches about sixteen rows.
#[derive(Clone, PartialEq, Eq)]
pub struct Entries {
    rows: Box<[Row]>,
    /// Where the rows start whose entry begins with these bits; one more at the end.
    starts: Box<[u32]>,
    bits: u32,
}

impl Entries {
    /// No entries.
    pub fn none() -> Entries {
        Entries::from_rows(Vec::new())
    }

    /// Sorts; of one entry with two expiries the later one counts.
    pub(crate) fn from_rows(mut rows: Vec<Row>) -> Entries {
        rows.sort_unstable();
        rows.dedup_by(|next, kept| {
            let same = next.entry == kept.entry;
            if same {
                kept.until = next.until;
            }
            same
        });
        Entries::from_sorted(rows)
    }

    /// Takes rows that are sorted by entry, each once.
    pub(crate) fn from_sorted(rows: Vec<Row>) -> Entries {
        let bits = rows.len().checked_ilog2().unwrap_or(0).saturating_sub(4).clamp(1, 20);
        let starts = index(&rows, bits);
        Entries { rows: rows.into_boxed_slice(), starts, bits }
    }

    /// Whether the entry is in the set.
    pub fn contains(&self, entry: &Entry) -> bool {
        self.find(entry).is_some()
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All of them, sorted by entry. The expiries are those of the list: whole minutes.
    pub fn iter(&self) -> impl Iterator<Item = Listed> + '_ {
        self.rows.iter().map(|row| Listed::from(*row))
    }

    /// Bytes of memory that the set holds on to.
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.rows) + size_of_val(&*self.starts)
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    pub(crate) fn find(&self, entry: &Entry) -> Option<Minute> {
        let rows = self.rows.get(self.bucket(prefix(entry, self.bits)))?;
        let at = rows.binary_search_by(|row| row.entry.cmp(entry)).ok()?;
        rows.get(at).map(|row| row.until)
    }

    /// Whether the entry of that row is in the set, for as long or longer.
    pub(crate) fn outlives(&self, row: &Row) -> bool {
        self.find(&row.entry).is_some_and(|until| until >= row.until)
    }

    /// The rows by expiry, and by entry within one expiry: the order of the wire.
    pub(crate) fn by_expiry(&self) -> Vec<Row> {
        let mut rows = self.rows.to_vec();
        rows.sort_by_key(|row| row.until);
        rows
    }

    fn bucket(&self, prefix: usize) -> Range<usize> {
        let start = |at: usize| self.starts.get(at).map_or(0, |&start| widen(start));
        start(prefix)..start(prefix.saturating_add(1))
    }
}

/// `starts[p]` is the number of rows whose first bits are below `p`.
fn index(rows: &[Row], bits: u32) -> Box<[u32]> {
    let mut starts = vec![0; (1 << bits) + 1];
    let mut at = 0;
    for (prefix_of_bucket, start) in starts.iter_mut().enumerate() {
        while rows.get(at).is_some_and(|row| prefix(&row.entry, bits) < prefix_of_bucket) {
            at += 1;
        }
        // Bodies are bounded to far fewer rows than 2^32; a larger set would only be searched in too narrow a bucket,
        // so it is kept out of reach by `limits::MAX_ENTRIES`.
        *start = u32::try_from(at).unwrap_or(u32::MAX);
    }
    starts.into_boxed_slice()
}

fn prefix(entry: &Entry, bits: u32) -> usize {
    let [a, b, c, d, ..] = *entry.as_bytes();
    widen(u32::from_be_bytes([a, b, c, d]) >> (32 - bits))
}

fn widen(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl FromIterator<Listed> for Entries {
    fn from_iter<I: IntoIterator<Item = Listed>>(listed: I) -> Entries {
        Entries::from_rows(listed.into_iter().map(Row::from).collect())
    }
}

impl fmt::Debug for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Entries({})", self.len())
    }
}
