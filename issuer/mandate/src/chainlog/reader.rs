//! The reading side: line by line, in bounded memory.

use serde::{Serialize, de::DeserializeOwned};

use super::{Checkpoint, Line, LineHash, LogId};
use crate::{
    canonical::{self, CanonicalError},
    limits::MAX_LOG_LINE_BYTES,
    signed::{Authentic, KeyRing, Signed, SignedError},
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
    /// Lines after the last checkpoint that was opened: they hang together, and nobody is known to have signed for them.
    pub unsealed: u64,
    /// The hash of the last line.
    pub last: LineHash,
    before: LineHash,
}

/// One line.
#[derive(Debug)]
pub enum Read<T> {
    /// An entry.
    Entry(T),
    /// A checkpoint that a key of the ring signed over this very place.
    Checkpoint(Box<Authentic<Checkpoint>>),
}

/// One line that follows the one before it. A checkpoint was not opened: nobody is known to have signed it.
#[derive(Debug)]
pub enum Linked<T> {
    /// An entry.
    Entry(T),
    /// What [`ChainReader::seal`] opens.
    Checkpoint(Signed<Checkpoint>),
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
        match self.link(line)? {
            Linked::Entry(entry) => Ok(Read::Entry(entry)),
            Linked::Checkpoint(signed) => Ok(Read::Checkpoint(Box::new(self.seal(signed, keys)?))),
        }
    }

    /// Reads the next line and sees that it follows; whatever it holds, it seals nothing yet. A line that does not follow
    /// changes nothing, so that it can be tried as the first one of another log.
    pub fn link<T: Serialize + DeserializeOwned>(&mut self, line: &[u8]) -> Result<Linked<T>, Broken> {
        let number = self.lines().saturating_add(1);
        self.follow(line).map_err(|why| Broken { line: number, why })
    }

    /// Opens the checkpoint that was the last line, and with it seals every line up to there.
    pub fn seal(
        &mut self,
        checkpoint: Signed<Checkpoint>,
        keys: &impl KeyRing,
    ) -> Result<Authentic<Checkpoint>, Broken> {
        let line = self.lines();
        let authentic = checkpoint.open(keys).map_err(|fault| Broken { line, why: fault.into() })?;
        let misplaced = Broken { line, why: WhyBroken::Misplaced };
        let Some(standing) = self.standing.as_mut() else { return Err(misplaced) };
        let Checkpoint { at, log, previous, seq, .. } = *authentic.statement();
        let last = standing.first.saturating_add(standing.lines).saturating_sub(1);
        if (log, seq, previous) != (standing.log, last, standing.before) {
            return Err(misplaced);
        }
        (standing.sealed_at, standing.unsealed) = (Some(at), 0);
        Ok(authentic)
    }

    /// What was read so far; `None` before the first line.
    pub fn standing(&self) -> Option<Standing> {
        self.standing
    }

    fn lines(&self) -> u64 {
        self.standing.map_or(0, |standing| standing.lines)
    }

    fn follow<T: Serialize + DeserializeOwned>(&mut self, bytes: &[u8]) -> Result<Linked<T>, WhyBroken> {
        if bytes.len() > MAX_LOG_LINE_BYTES {
            return Err(WhyBroken::TooLong);
        }
        let line: Line<T> = canonical::from_bytes(bytes)?;
        let before = self.before(&line)?;
        let linked = match (line.checkpoint, line.entry) {
            (None, Some(entry)) => Linked::Entry(entry),
            (Some(signed), None) => Linked::Checkpoint(signed),
            _ => return Err(WhyBroken::NotOne),
        };
        self.standing = Some(Standing {
            lines: before.lines.saturating_add(1),
            unsealed: before.unsealed.saturating_add(1),
            last: LineHash::of(bytes),
            before: before.last,
            ..before
        });
        Ok(linked)
    }

    /// What was before this line, if it follows.
    fn before<T>(&self, line: &Line<T>) -> Result<Standing, WhyBroken> {
        let Some(standing) = self.standing else {
            if line.seq == 0 && line.previous != LineHash::START {
                return Err(WhyBroken::Unlinked);
            }
            let (log, first, last) = (line.log, line.seq, line.previous);
            return Ok(Standing { log, first, lines: 0, sealed_at: None, unsealed: 0, last, before: last });
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
