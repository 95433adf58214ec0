//! The store in a folder of its own (protocol P6, P7).
//!
//! A record is one `write` to a file that only this process appends to; no `fsync` follows, so it costs little. What was
//! written survives the death of the process, because the system holds it; it may not survive the death of the system,
//! and therefore each file names the boot during which it was written: after another boot the record counts as broken.
//! So it does with a new or empty folder, a file that is missing, torn, altered or cut short, and a witness (a small
//! synced file that says how far the record reached at the least) that is missing or says otherwise.
//!
//! # A broken record begins anew
//! Every proof that could have been used up to the beginning is refused. The beginning is now, or the latest moment at
//! which the folder shows that a proof can have been recorded, if that is later: after a reboot the wall clock may be
//! behind what it was (protocol T1). The witness is synced ahead of the clock, at most once in
//! [`WITNESS_SECONDS`](crate::limits::WITNESS_SECONDS), so the beginning is late by no more than that; without a witness
//! it is the latest end of a proof that some file still shows.
//!
//! When that moment is further ahead than [`MAX_CLOCK_BEHIND_SECONDS`], the
//! clock is wrong now, or was wrong then. The store cannot know which, and does not open ([`OpenError::ClockBehind`]):
//! set the clock and start again. Only when the clock is right and ran ahead before, remove the folder: the proofs that
//! were used under the wrong clock can be used again when that time comes.
//!
//! # What this does not stop
//! Who may write to the folder can put an older copy of all of it back during one boot, or make up files that fit: the
//! checks are no signatures. With the clock right, removing files or the whole folder gives no used proof back.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use pact_mandate::{Now, UnixTime, hex};

use super::{
    ProofId, ReplayFault, ReplayHealth, ReplayStore, StoreFailure,
    record::{self, Record},
    seen::Bounds,
    segment,
    state::State,
};
use crate::limits::{MAX_CLOCK_BEHIND_SECONDS, MAX_PROOFS, MAX_PROOFS_PER_GRANT, MAX_PROOFS_PER_HOLDER};

#[cfg(test)]
mod tests;

/// Proofs in a folder that this process alone uses.
#[derive(Debug)]
pub struct FileReplay {
    folder: PathBuf,
    state: Mutex<State>,
    /// Held until the store is dropped, or the process dies.
    _lock: File,
}

/// One start of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootId([u8; 16]);

/// Why a folder cannot be a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another process has it.
    #[error("another process uses this folder of used proofs: give each its own")]
    InUse,
    /// T1: the clock is behind the record by more than can be waited for.
    #[error(
        "proofs were used until {until}, and the clock says {now}: set the clock and start again; only if the clock is right and ran ahead before, remove the folder of used proofs (what was used then can be used again when that time comes)"
    )]
    ClockBehind {
        /// The latest moment at which a proof can have been used.
        until: UnixTime,
        /// What the clock says.
        now: UnixTime,
    },
    /// The system said no.
    #[error("the folder of used proofs cannot be used: {0}")]
    Failed(#[from] StoreFailure),
}

impl BootId {
    /// No boot's.
    pub(super) const NONE: BootId = BootId([0; 16]);

    /// That of the running system. `None` where the system has none: then every start of the store counts as the first.
    pub fn of_this_system() -> Option<BootId> {
        let text = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
        hex::decode_exactly(&digits).map(BootId)
    }

    /// These 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> BootId {
        BootId(bytes)
    }

    pub(super) fn as_bytes(self) -> [u8; 16] {
        self.0
    }
}

impl FileReplay {
    /// Opens the folder, which is made when it is not there, and continues its record if that is unbroken.
    pub fn open(folder: &Path, boot: Option<BootId>, now: Now) -> Result<FileReplay, OpenError> {
        FileReplay::open_bounded(
            folder,
            boot,
            now,
            Bounds { proofs: MAX_PROOFS, per_holder: MAX_PROOFS_PER_HOLDER, per_grant: MAX_PROOFS_PER_GRANT },
        )
    }

    fn open_bounded(
        folder: &Path,
        boot: Option<BootId>,
        now: Now,
        bounds: Bounds,
    ) -> Result<FileReplay, OpenError> {
        let failed = |error: io::Error| StoreFailure::new("open the folder", &error);
        fs::create_dir_all(folder).map_err(failed)?;
        let lock = lock(folder)?;
        let numbers = segment::numbers(folder).map_err(failed)?;
        let state = if let Some(record) = boot.and_then(|boot| Record::read(folder, boot, &numbers)) {
            State::after(folder, record, bounds)?
        } else {
            let since = beginning(folder, &numbers, now.wall)?;
            State::anew(folder, boot, numbers.last().copied(), since, bounds)?
        };
        let store = FileReplay { folder: folder.to_owned(), state: Mutex::new(state), _lock: lock };
        store.remove_all_but(&numbers);
        Ok(store)
    }

    /// Removes files that are no longer needed. One that cannot be removed does no harm, since no header asks for it.
    fn remove_all_but(&self, numbers: &[u64]) {
        let Ok(state) = self.state.lock() else { return };
        for number in numbers.iter().filter(|number| state.oldest() > **number) {
            let _ = fs::remove_file(segment::path(&self.folder, *number));
        }
    }
}

fn lock(folder: &Path) -> Result<File, OpenError> {
    let failed = |error: io::Error| OpenError::Failed(StoreFailure::new("lock the folder", &error));
    let file = OpenOptions::new().create(true).append(true).open(folder.join("lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(OpenError::InUse),
        Err(TryLockError::Error(error)) => Err(failed(error)),
    }
}

/// When a record begins that cannot be continued: not before the last moment at which a proof can have been used.
fn beginning(folder: &Path, numbers: &[u64], now: UnixTime) -> Result<UnixTime, OpenError> {
    let until = record::latest_use(folder, numbers);
    if until.since(now) > MAX_CLOCK_BEHIND_SECONDS {
        return Err(OpenError::ClockBehind { until, now });
    }
    Ok(until.max(now))
}

impl ReplayStore for FileReplay {
    fn record(&self, proof: &ProofId, now: Now) -> Result<(), ReplayFault> {
        // A lock is poisoned by a panic in the middle of a change; what is known since then is not to be relied on.
        let poisoned = StoreFailure { doing: "rely on its memory after a panic", kind: io::ErrorKind::Other };
        let mut state = self.state.lock().map_err(|_| poisoned)?;
        state.record(&self.folder, proof, now.wall)
    }

    fn health(&self) -> ReplayHealth {
        let poisoned = StoreFailure { doing: "rely on its memory after a panic", kind: io::ErrorKind::Other };
        match self.state.lock() {
            Ok(state) => state.health(),
            Err(_) => ReplayHealth { since: UnixTime::MAX, held: 0, limit: 0, failed: Some(poisoned) },
        }
    }
}

impl Drop for FileReplay {
    /// An orderly end: the witness then knows every record. Without it the witness knows less, and is right all the same.
    fn drop(&mut self) {
        if let Ok(state) = self.state.get_mut() {
            let _ = state.end(&self.folder);
        }
    }
}
