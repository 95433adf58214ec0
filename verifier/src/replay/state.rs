//! The store's memory and the file that is being written, kept equal.

use std::{fs, path::Path};

use pact_mandate::UnixTime;

use super::{
    ProofId, ReplayFault, ReplayHealth, StoreFailure,
    file::BootId,
    record::Record,
    seen::{Bounds, Seen, Used},
    segment::{self, Header, Segment},
    witness::Witness,
};
use crate::limits::WITNESS_SECONDS;

#[derive(Debug)]
pub(super) struct State {
    seen: Seen,
    segment: Segment,
    /// Files that still hold what is remembered, with the latest end in each.
    earlier: Vec<(u64, UnixTime)>,
    /// The witness says that nothing is recorded later than this.
    until: UnixTime,
    /// The latest wall time at which something was.
    latest_use: UnixTime,
    failed: Option<StoreFailure>,
}

impl State {
    /// Continues what an earlier process of this boot left.
    pub(super) fn after(folder: &Path, record: Record, bounds: Bounds) -> Result<State, StoreFailure> {
        let mut seen = Seen::new(bounds);
        let mut earlier = Vec::new();
        for file in &record.finished {
            seen.raise_floor(file.header.floor);
            earlier.push((file.header.number, file.latest_end()));
        }
        let before = record.finished.last().and_then(|file| file.last_check().copied()).unwrap_or_default();
        record.finished.into_iter().flat_map(|file| file.records).for_each(|used| seen.insert(used));
        let floor = seen.floor();
        forget_ended(&mut earlier, floor);
        let number = record.last.number.saturating_add(1);
        let oldest = earlier.first().map_or(number, |(number, _)| *number);
        let header = Header { number, oldest, floor, before, ..record.last };
        State::begin(folder, header, seen, earlier, record.until)
    }

    /// Begins anew: of what was before, nothing is known but that it was over at `since`.
    pub(super) fn anew(
        folder: &Path,
        boot: Option<BootId>,
        last: Option<u64>,
        since: UnixTime,
        bounds: Bounds,
    ) -> Result<State, StoreFailure> {
        let number = last.map_or(0, |last| last.saturating_add(1));
        // Without a boot id no later process can continue this record: all zeros is no boot's.
        let boot = boot.unwrap_or(BootId::NONE);
        let header = Header { boot, number, oldest: number, since, floor: UnixTime::EPOCH, before: [0; 8] };
        State::begin(folder, header, Seen::new(bounds), Vec::new(), since)
    }

    fn begin(
        folder: &Path,
        header: Header,
        seen: Seen,
        earlier: Vec<(u64, UnixTime)>,
        until: UnixTime,
    ) -> Result<State, StoreFailure> {
        let segment = Segment::begin(folder, header)?;
        witness(&segment, until).write(folder)?;
        Ok(State { seen, segment, earlier, until, latest_use: until, failed: None })
    }

    pub(super) fn record(
        &mut self,
        folder: &Path,
        proof: &ProofId,
        now: UnixTime,
    ) -> Result<(), ReplayFault> {
        let since = self.segment.header().since;
        if proof.first_use() <= since {
            return Err(ReplayFault::BeforeStore { first_use: proof.first_use(), since });
        }
        let used = Used::of(proof);
        self.seen.judge(&used, now)?;
        let written = self.write(folder, &used, now);
        self.failed = written.err();
        written?;
        self.latest_use = self.latest_use.max(now);
        self.seen.insert(used);
        Ok(())
    }

    fn write(&mut self, folder: &Path, used: &Used, now: UnixTime) -> Result<(), StoreFailure> {
        if self.segment.is_full() {
            self.turn(folder)?;
        }
        if now > self.until {
            let until = now.plus(WITNESS_SECONDS);
            witness(&self.segment, until).write(folder)?;
            self.until = until;
        }
        self.segment.append(used)
    }

    /// Begins the next file, which says what is no longer needed; when the witness says so too, that is removed.
    pub(super) fn turn(&mut self, folder: &Path) -> Result<(), StoreFailure> {
        let floor = self.seen.floor();
        let full = (self.segment.header().number, self.segment.latest_end());
        let mut earlier = self.earlier.clone();
        earlier.push(full);
        let ended = forget_ended(&mut earlier, floor);
        let number = full.0.saturating_add(1);
        let oldest = earlier.first().map_or(number, |(number, _)| *number);
        let before = self.segment.check();
        let header = Header { number, oldest, floor, before, ..*self.segment.header() };
        let next = Segment::begin(folder, header)?;
        // Nothing is added to a file of which the witness does not know.
        witness(&next, self.until).write(folder)?;
        self.segment = next;
        self.earlier = earlier;
        for number in ended {
            let _ = fs::remove_file(segment::path(folder, number));
        }
        Ok(())
    }

    /// The last word of a process: from here on nothing is recorded.
    pub(super) fn end(&self, folder: &Path) -> Result<(), StoreFailure> {
        witness(&self.segment, self.latest_use).write(folder)
    }

    pub(super) fn oldest(&self) -> u64 {
        self.segment.header().oldest
    }

    pub(super) fn health(&self) -> ReplayHealth {
        ReplayHealth {
            since: self.segment.header().since,
            held: self.seen.len(),
            limit: self.seen.limit(),
            failed: self.failed,
        }
    }
}

fn witness(segment: &Segment, until: UnixTime) -> Witness {
    Witness {
        number: segment.header().number,
        records: u64::try_from(segment.records()).unwrap_or(u64::MAX),
        check: segment.check(),
        until,
    }
}

/// Takes away the oldest files whose every record ended up to the floor.
fn forget_ended(files: &mut Vec<(u64, UnixTime)>, floor: UnixTime) -> Vec<u64> {
    let ended = files.iter().take_while(|(_, latest)| *latest <= floor).count();
    files.drain(..ended).map(|(number, _)| number).collect()
}

#[cfg(test)]
impl State {
    /// From now on each write fails.
    pub(super) fn break_for_test(&mut self, path: &Path) {
        self.segment.break_for_test(path);
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }
}
