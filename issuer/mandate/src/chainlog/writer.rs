//! The writing side.

use serde::Serialize;

use super::{ChainLogError, Checkpoint, LineHash, LogId};
use crate::{
    canonical::{self, CanonicalError},
    key::Signer,
    limits::MAX_LOG_LINE_BYTES,
    signed::{Extensions, Prepared, Statement},
    time::UnixTime,
};

/// A log as far as it was written.
#[derive(Clone, Debug)]
pub struct ChainLog {
    log: LogId,
    seq: u64,
    previous: LineHash,
    unsealed: u64,
}

/// What a line is to say, as canonical JSON. It knows nothing of its place, so it is made before anybody waits for the log.
#[derive(Clone, Debug)]
pub struct Entry(Vec<u8>);

/// The next line of a log. It counts when [`ChainLog::written`] takes it; one that was not written is dropped, and its
/// place is free again.
#[derive(Debug)]
#[must_use = "a line counts when it was written"]
pub struct NextLine {
    bytes: Vec<u8>,
    hash: LineHash,
    seals: bool,
}

impl Entry {
    /// The canonical form of any structure.
    pub fn new<T: Serialize>(content: &T) -> Result<Entry, CanonicalError> {
        canonical::to_bytes(content).map(Entry)
    }

    /// The same for a structure that declares its members in their canonical order and holds no map and no float: what
    /// `serde_json` writes of it is canonical already, in a fraction of the time. Whoever calls this has a test that holds
    /// the two equal; a log with any other line could not be read.
    pub fn of_sorted<T: Serialize>(content: &T) -> Result<Entry, CanonicalError> {
        let bytes = serde_json::to_vec(content);
        bytes.map(Entry).map_err(|error| CanonicalError::Unserialisable(error.to_string()))
    }

    /// The JSON.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl ChainLog {
    /// A log without any line.
    pub const fn begin(log: LogId) -> ChainLog {
        ChainLog { log, seq: 0, previous: LineHash::START, unsealed: 0 }
    }

    /// The line of an entry.
    pub fn entry(&self, entry: &Entry) -> Result<NextLine, ChainLogError> {
        self.line("entry", &entry.0, false)
    }

    /// The line of a checkpoint over everything that was written.
    pub fn checkpoint(&self, at: UnixTime, signer: &dyn Signer) -> Result<NextLine, ChainLogError> {
        let checkpoint = Checkpoint {
            at,
            crit: Vec::new(),
            ext: Extensions::new(),
            log: self.log,
            previous: self.previous,
            seq: self.seq,
            typ: Checkpoint::TYP.to_owned(),
        };
        let authentic = Prepared::new(checkpoint)?.sign(signer)?;
        self.line("checkpoint", &authentic.signed().to_bytes()?, true)
    }

    /// Counts a line that this log made and that its caller wrote, whole.
    pub fn written(&mut self, line: &NextLine) {
        self.seq = self.seq.saturating_add(1);
        self.previous = line.hash;
        self.unsealed = if line.seals { 0 } else { self.unsealed.saturating_add(1) };
    }

    /// Lines since the last checkpoint.
    pub fn unsealed(&self) -> u64 {
        self.unsealed
    }

    /// Which log.
    pub fn id(&self) -> LogId {
        self.log
    }

    /// The hash of the last line that was written.
    pub fn last(&self) -> LineHash {
        self.previous
    }

    /// `{"entry":…,"log":…,"previous":…,"seq":…}`, members in canonical order.
    fn line(&self, kind: &str, content: &[u8], seals: bool) -> Result<NextLine, ChainLogError> {
        let (log, previous, seq) = (self.log, self.previous, self.seq);
        let place = format!(",\"log\":\"{log}\",\"previous\":\"{previous}\",\"seq\":{seq}}}");
        let mut bytes = Vec::with_capacity(content.len().saturating_add(place.len()).saturating_add(32));
        for part in [b"{\"", kind.as_bytes(), b"\":", content, place.as_bytes()] {
            bytes.extend_from_slice(part);
        }
        if bytes.len() > MAX_LOG_LINE_BYTES {
            return Err(ChainLogError::TooLong);
        }
        let hash = LineHash::of(&bytes);
        bytes.push(b'\n');
        Ok(NextLine { bytes, hash, seals })
    }
}

impl NextLine {
    /// The line with its newline, to be written by one write.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
