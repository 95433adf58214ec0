//! The store in a folder of its own (protocol P6, P7).
//!
//! A record is one `write` to a file that only this process appends to; no `fsync` follows, so it costs little. What was
//! written survives the death of the process, because the system holds it; it may not survive the death of the system,
//! and therefore each file names the boot during which it was written: after another boot the record counts as broken.
//! So it does with a new or empty folder, a file that is missing, torn or altered. A broken record begins anew: every
//! proof made up to then, plus the accepted skew, is refused.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::Mutex,
};

use pact_mandate::{Now, UnixTime, hex};

use super::{
    ProofId, ReplayFault, ReplayHealth, ReplayStore, StoreFailure,
    seen::{Bounds, Seen, Used},
    segment::{self, Finished, Header, Segment},
};
use crate::limits::{MAX_PROOFS, MAX_PROOFS_PER_HOLDER};

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
    /// The system said no.
    #[error("the folder of used proofs cannot be used: {0}")]
    Failed(#[from] StoreFailure),
}

#[derive(Debug)]
struct State {
    seen: Seen,
    segment: Segment,
    /// Files that still hold what is remembered, with the latest end in each.
    earlier: Vec<(u64, UnixTime)>,
    failed: Option<StoreFailure>,
}

/// What an earlier process left, if it can be relied on.
struct Record {
    last: Header,
    finished: Vec<Finished>,
}

impl BootId {
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
            Bounds { proofs: MAX_PROOFS, per_holder: MAX_PROOFS_PER_HOLDER },
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
        let state = match boot.and_then(|boot| read(folder, boot, &numbers)) {
            Some(record) => State::after(folder, record, bounds)?,
            None => State::anew(folder, boot, numbers.last().copied(), now.wall, bounds)?,
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

/// The record of the folder, if it is unbroken: the last file names the first that is needed, and each from there on is
/// there, whole, of this boot and of one beginning.
fn read(folder: &Path, boot: BootId, numbers: &[u64]) -> Option<Record> {
    let last = Finished::read(folder, *numbers.last()?)?;
    let header = last.header;
    let mut finished = Vec::new();
    for number in header.oldest..header.number {
        finished.push(Finished::read(folder, number)?);
    }
    finished.push(last);
    let continues = |file: &Finished| file.header.boot == boot && file.header.since == header.since;
    finished.iter().all(continues).then_some(Record { last: header, finished })
}

impl State {
    /// Continues what an earlier process of this boot left.
    fn after(folder: &Path, record: Record, bounds: Bounds) -> Result<State, StoreFailure> {
        let mut seen = Seen::new(bounds);
        let mut earlier = Vec::new();
        for file in &record.finished {
            seen.raise_floor(file.header.floor);
            let latest = file.records.iter().map(|used| used.ends_at).max().unwrap_or(UnixTime::EPOCH);
            earlier.push((file.header.number, latest));
        }
        record.finished.into_iter().flat_map(|file| file.records).for_each(|used| seen.insert(used));
        let floor = seen.floor();
        forget_ended(&mut earlier, floor);
        let number = record.last.number.saturating_add(1);
        let oldest = earlier.first().map_or(number, |(number, _)| *number);
        let segment = Segment::begin(folder, Header { number, oldest, floor, ..record.last })?;
        Ok(State { seen, segment, earlier, failed: None })
    }

    /// Begins anew: of what was before, nothing is known.
    fn anew(
        folder: &Path,
        boot: Option<BootId>,
        last: Option<u64>,
        now: UnixTime,
        bounds: Bounds,
    ) -> Result<State, StoreFailure> {
        let number = last.map_or(0, |last| last.saturating_add(1));
        // Without a boot id no later process can continue this record: all zeros is no boot's.
        let boot = boot.unwrap_or(BootId([0; 16]));
        let header = Header { boot, number, oldest: number, since: now, floor: UnixTime::EPOCH };
        let segment = Segment::begin(folder, header)?;
        Ok(State { seen: Seen::new(bounds), segment, earlier: Vec::new(), failed: None })
    }

    fn record(&mut self, folder: &Path, proof: &ProofId, now: UnixTime) -> Result<(), ReplayFault> {
        let since = self.segment.header().since;
        if proof.first_use() <= since {
            return Err(ReplayFault::BeforeStore { first_use: proof.first_use(), since });
        }
        let used = Used::of(proof);
        self.seen.judge(&used, now)?;
        let written = self.write(folder, &used);
        self.failed = written.err();
        written?;
        self.seen.insert(used);
        Ok(())
    }

    fn write(&mut self, folder: &Path, used: &Used) -> Result<(), StoreFailure> {
        if self.segment.is_full() {
            self.turn(folder)?;
        }
        self.segment.append(used)
    }

    /// Begins the next file, which says what is no longer needed; only then is that removed.
    fn turn(&mut self, folder: &Path) -> Result<(), StoreFailure> {
        let floor = self.seen.floor();
        let full = (self.segment.header().number, self.segment.latest_end());
        let mut earlier = self.earlier.clone();
        earlier.push(full);
        let ended = forget_ended(&mut earlier, floor);
        let number = full.0.saturating_add(1);
        let oldest = earlier.first().map_or(number, |(number, _)| *number);
        self.segment = Segment::begin(folder, Header { number, oldest, floor, ..*self.segment.header() })?;
        self.earlier = earlier;
        for number in ended {
            let _ = fs::remove_file(segment::path(folder, number));
        }
        Ok(())
    }

    fn oldest(&self) -> u64 {
        self.segment.header().oldest
    }
}

/// Takes away the oldest files whose every record ended up to the floor.
fn forget_ended(files: &mut Vec<(u64, UnixTime)>, floor: UnixTime) -> Vec<u64> {
    let ended = files.iter().take_while(|(_, latest)| *latest <= floor).count();
    files.drain(..ended).map(|(number, _)| number).collect()
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
            Ok(state) => ReplayHealth {
                since: state.segment.header().since,
                held: state.seen.len(),
                limit: state.seen.limit(),
                failed: state.failed,
            },
            Err(_) => ReplayHealth { since: UnixTime::MAX, held: 0, limit: 0, failed: Some(poisoned) },
        }
    }
}
