//! The reading side: line by line, in bounded memory.

use serde::{Serialize, de::DeserializeOwned};

use super::{Checkpoint, Line, LineHash, LogId};
use crate::{
    canonical::{self, CanonicalError},
    limits::MAX_LOG_LINE_BYTES,
    signed::{KeyRing, SignedError},
    time::UnixTime,
};

/// A log as far as it was read.
#[derive(Clone, Debug, Default)]
pub struct ChainReader {
    standing: Option<Standing>,
}

/// What the lines read so far amount to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which log.
    pub log: LogId,
    /// The place of the first line that was read: 0 for a whole log, more for a later file of one.
    pub first: u64,
    /// Lines that were read.
    pub lines: u64,
    /// When the last checkpoint was signed; `None` before the first.
    pub sealed_at: Option<UnixTime>,
    /// Lines after the last checkpoint: they hang together, and nobody signed for them.
    pub unsealed: u64,
    last: LineHash,
}

/// One line.
#[derive(Debug)]
pub enum Read<T> {
    /// An entry.
    Entry(T),
    /// A checkpoint that a key of the ring signed over this very place.
    Checkpoint(Checkpoint),
}

/// Why a line is none of this log. Lines are counted from 1, as editors do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct Broken {
    /// Which line of those that were read.
    pub line: u64,
    /// Why.
    pub why: WhyBroken,
}

/// What does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyBroken {
    /// Too long.
    #[error("it is longer than {MAX_LOG_LINE_BYTES} bytes")]
    TooLong,
    /// No line of a log, or in another form than the canonical one.
    #[error("{0}")]
    Form(#[from] CanonicalError),
    /// Neither an entry nor a checkpoint, or both.
    #[error("it holds neither an entry nor a checkpoint, or both")]
    NotOne,
    /// Of another log.
    #[error("it belongs to the log {found}, and the lines before it to {expected}")]
    OtherLog {
        /// The log so far.
        expected: LogId,
        /// The log of the line.
        found: LogId,
    },
    /// Lines are missing, doubled or in another order.
    #[error("it is number {found} of its log, and {expected} was to follow")]
    OutOfPlace {
        /// What was to follow.
        expected: u64,
        /// What came.
        found: u64,
    },
    /// The line before it is not the one that was there when it was written.
    #[error("the line before it was changed after it was written")]
    Unlinked,
    /// A checkpoint that nobody of the ring signed, or one that says something else than its place.
    #[error("its checkpoint does not hold: {0}")]
    Checkpoint(#[from] SignedError),
    /// A signed checkpoint of another place or log.
    #[error("its checkpoint was signed for another place")]
    Misplaced,
}

impl ChainReader {
    /// Before the first line. A file that begins in the middle of its log is read from there.
    pub fn new() -> ChainReader {
        ChainReader::default()
    }

    /// Reads the next line, without its newline. After an error nothing more can be said of the log.
    pub fn read<T: Serialize + DeserializeOwned>(
        &mut self,
        line: &[u8],
        keys: &impl KeyRing,
    ) -> Result<Read<T>, Broken> {
        let number = self.standing.map_or(0, |standing| standing.lines).saturating_add(1);
        self.judge(line, keys).map_err(|why| Broken { line: number, why })
    }

    /// What was read so far; `None` before the first line.
    pub fn standing(&self) -> Option<Standing> {
        self.standing
    }

    fn judge<T: Serialize + DeserializeOwned>(
        &mut self,
        bytes: &[u8],
        keys: &impl KeyRing,
    ) -> Result<Read<T>, WhyBroken> {
        if bytes.len() > MAX_LOG_LINE_BYTES {
            return Err(WhyBroken::TooLong);
        }
        let line: Line<T> = canonical::from_bytes(bytes)?;
        let before = self.follow(&line)?;
        let (read, sealed_at) = match (line.checkpoint, line.entry) {
            (None, Some(entry)) => (Read::Entry(entry), None),
            (Some(signed), None) => {
                let checkpoint = signed.open(keys)?.statement().clone();
                if (checkpoint.log, checkpoint.seq, checkpoint.previous)
                    != (line.log, line.seq, line.previous)
                {
                    return Err(WhyBroken::Misplaced);
                }
                let at = checkpoint.at;
                (Read::Checkpoint(checkpoint), Some(at))
            }
            _ => return Err(WhyBroken::NotOne),
        };
        self.standing = Some(Standing {
            lines: before.lines.saturating_add(1),
            unsealed: if sealed_at.is_some() { 0 } else { before.unsealed.saturating_add(1) },
            sealed_at: sealed_at.or(before.sealed_at),
            last: LineHash::of(bytes),
            ..before
        });
        Ok(read)
    }

    /// What was before this line, if it follows.
    fn follow<T>(&self, line: &Line<T>) -> Result<Standing, WhyBroken> {
        let Some(standing) = self.standing else {
            if line.seq == 0 && line.previous != LineHash::START {
                return Err(WhyBroken::Unlinked);
            }
            let (log, first, last) = (line.log, line.seq, line.previous);
            return Ok(Standing { log, first, lines: 0, sealed_at: None, unsealed: 0, last });
        };
        let expected = standing.first.saturating_add(standing.lines);
        if line.log != standing.log {
            return Err(WhyBroken::OtherLog { expected: standing.log, found: line.log });
        }
        if line.seq != expected {
            return Err(WhyBroken::OutOfPlace { expected, found: line.seq });
        }
        if line.previous == standing.last { Ok(standing) } else { Err(WhyBroken::Unlinked) }
    }
}
