//! The log of receipts as it is written: one line after another, each in its place, sealed and synced behind the calls.

use std::{fs::File, sync::Arc};

use pact_mandate::{
    Monotonic, Now, SecretKey, UnixTime,
    chainlog::{self, ChainLog, ChainLogError, LogId},
};
use pact_verifier::receipt::{After, Closed, Gap, Opened};
use serde::Serialize;

use super::{Failure, place::Place};
use crate::limits::RECEIPTS_UNSEALED;

/// Everything about the log; one thread at a time has it.
#[derive(Debug)]
pub(super) struct Journal {
    log: ChainLog,
    place: Place,
    opening: Opening,
    failed: Option<Failure>,
    /// Decisions without a line, that no line has told of yet.
    lost: u64,
    /// Written and not yet synced.
    unsynced: Vec<Arc<File>>,
}

/// The first line of a file, or of a log in it.
#[derive(Clone, Debug)]
enum Opening {
    /// It has yet to say what it goes on from.
    Due(Option<After>),
    /// It was written.
    Done,
}

impl Journal {
    /// A log that goes on from `after`. Its first line is written before this comes back.
    pub(super) fn begin(
        log: LogId,
        place: Place,
        after: Option<After>,
        now: Now,
        signer: &SecretKey,
    ) -> Result<Journal, Failure> {
        let (log, opening) = (ChainLog::begin(log), Opening::Due(after));
        let mut journal = Journal { log, place, opening, failed: None, lost: 0, unsynced: Vec::new() };
        journal.unsynced.extend(journal.place.folder());
        journal.open(now.wall)?;
        journal.seal(now.wall, signer)?;
        Ok(journal)
    }

    /// Writes the line of a decision, or counts it as lost.
    pub(super) fn write(
        &mut self,
        entry: &chainlog::Entry,
        now: Now,
        signer: &SecretKey,
    ) -> Result<(), Failure> {
        let written = match self.failed {
            Some(failure) => Err(failure),
            None => self.ready(now, signer).and_then(|()| self.line(entry)),
        };
        if let Err(failure) = written {
            self.fail(failure);
            self.lost = self.lost.saturating_add(1);
            return Err(failure);
        }
        // Whatever becomes of the checkpoint: this line was written.
        if self.log.unsealed() >= RECEIPTS_UNSEALED
            && let Err(failure) = self.seal(now.wall, signer)
        {
            self.fail(failure);
        }
        Ok(())
    }

    /// What is done behind the calls: seals, goes on in the next file in time, and tries again what failed. Comes back
    /// with what is to be synced, outside of the lock.
    pub(super) fn tend(&mut self, now: Now, signer: &SecretKey) -> Vec<Arc<File>> {
        let done = self.try_tend(now, signer);
        match done {
            Ok(()) if self.failed.is_some() => {
                tracing::info!("receipts are written again");
                self.failed = None;
            }
            Ok(()) => {}
            Err(failure) => self.fail(failure),
        }
        std::mem::take(&mut self.unsynced)
    }

    fn try_tend(&mut self, now: Now, signer: &SecretKey) -> Result<(), Failure> {
        if !self.place.is_in_place() {
            self.place.give_up();
        }
        if self.failed.is_some() || !self.place.is_sound() || self.place.is_full(now.monotonic) {
            self.ready(now, signer)?;
        }
        if self.lost > 0 {
            let gap = Gap { at: now.wall, lost: self.lost, typ: <_>::default() };
            self.note(&gap)?;
            self.lost = 0;
        }
        // A log that failed proves by a line that it can be written again.
        if self.failed.is_some() || self.log.unsealed() > 0 {
            self.seal(now.wall, signer)?;
        }
        Ok(())
    }

    /// A file could not be synced: nobody knows what of it is on the disk, so nothing more is entrusted to it.
    pub(super) fn not_synced(&mut self) {
        self.place.give_up();
        self.fail(Failure::new("sync what it wrote", std::io::ErrorKind::Other));
    }

    /// The last lines of a run.
    pub(super) fn close(&mut self, left_out: u64, now: Now, signer: &SecretKey) -> Vec<Arc<File>> {
        let unsynced = self.tend(now, signer);
        let closed = Closed { at: now.wall, left_out, typ: <_>::default() };
        let written = self.note(&closed).and_then(|()| self.seal(now.wall, signer));
        if let Err(failure) = written {
            self.fail(failure);
        }
        unsynced.into_iter().chain(std::mem::take(&mut self.unsynced)).collect()
    }

    pub(super) fn failed(&self) -> Option<Failure> {
        self.failed
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// The name of the file that is being written.
    pub(super) fn file(&self) -> Option<String> {
        self.place.name()
    }

    fn fail(&mut self, failure: Failure) {
        if self.failed.is_none() {
            tracing::error!(%failure, "receipts cannot be written");
        }
        self.failed = Some(failure);
    }

    /// Sees that the next line goes into a file that takes it and has said what it goes on from.
    fn ready(&mut self, now: Now, signer: &SecretKey) -> Result<(), Failure> {
        let sound = self.place.is_sound();
        if sound && matches!(self.opening, Opening::Done) && self.place.is_full(now.monotonic) {
            // A file that is left ends in a checkpoint.
            self.seal(now.wall, signer)?;
            self.turn(now.monotonic)?;
        } else if !sound {
            self.turn(now.monotonic)?;
        }
        self.open(now.wall)
    }

    /// Goes on in the next file.
    fn turn(&mut self, now: Monotonic) -> Result<(), Failure> {
        if let Some((before, after)) = self.place.next(self.log.last(), now)? {
            self.unsynced.push(before);
            self.unsynced.extend(self.place.folder());
            self.opening = Opening::Due(Some(after));
        }
        Ok(())
    }

    fn open(&mut self, at: UnixTime) -> Result<(), Failure> {
        let Opening::Due(after) = self.opening.clone() else { return Ok(()) };
        self.note(&Opened { after, at, file: self.place.number(), typ: <_>::default() })?;
        self.opening = Opening::Done;
        Ok(())
    }

    fn note<T: Serialize>(&mut self, content: &T) -> Result<(), Failure> {
        let entry = chainlog::Entry::new(content).map_err(|fault| failed(&fault.into()))?;
        self.line(&entry)
    }

    fn line(&mut self, entry: &chainlog::Entry) -> Result<(), Failure> {
        let line = self.log.entry(entry).map_err(|fault| failed(&fault))?;
        self.place.append(line.bytes())?;
        self.log.written(&line);
        Ok(())
    }

    fn seal(&mut self, at: UnixTime, signer: &SecretKey) -> Result<(), Failure> {
        let line = self.log.checkpoint(at, signer).map_err(|fault| failed(&fault))?;
        self.place.append(line.bytes())?;
        self.log.written(&line);
        if let Some(file) = self.place.file()
            && !self.unsynced.iter().any(|other| Arc::ptr_eq(other, &file))
        {
            self.unsynced.push(file);
        }
        Ok(())
    }
}

/// A line that cannot be made: a fault of ours.
fn failed(fault: &ChainLogError) -> Failure {
    tracing::error!(%fault, "a line of the receipts could not be made");
    Failure::new("make a line", std::io::ErrorKind::InvalidData)
}

#[cfg(test)]
#[path = "journal/tests.rs"]
mod tests;
