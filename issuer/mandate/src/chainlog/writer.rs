//! The writing side.

use serde::{Serialize, de::DeserializeOwned};

use super::{ChainLogError, Checkpoint, Line, LineHash, LogId};
use crate::{
    canonical,
    key::Signer,
    signed::{Extensions, Prepared, Signed, Statement},
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

/// The next line of a log. It counts when [`ChainLog::written`] takes it; one that was not written is dropped, and its
/// place is free again.
#[derive(Debug)]
#[must_use = "a line counts when it was written"]
pub struct NextLine {
    bytes: Vec<u8>,
    hash: LineHash,
    seals: bool,
}

impl ChainLog {
    /// A log without any line.
    pub const fn begin(log: LogId) -> ChainLog {
        ChainLog { log, seq: 0, previous: LineHash::START, unsealed: 0 }
    }

    /// The line of an entry.
    pub fn entry<T: Serialize + DeserializeOwned>(&self, entry: T) -> Result<NextLine, ChainLogError> {
        self.line(None, Some(entry))
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
        self.line::<()>(Some(authentic.signed().clone()), None)
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

    fn line<T: Serialize>(
        &self,
        checkpoint: Option<Signed<Checkpoint>>,
        entry: Option<T>,
    ) -> Result<NextLine, ChainLogError> {
        let seals = checkpoint.is_some();
        let line = Line { checkpoint, entry, log: self.log, previous: self.previous, seq: self.seq };
        let mut bytes = canonical::to_bytes(&line)?;
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
