//! What an earlier process left in the folder, and how far it can be relied on (protocol P7).

use std::path::Path;

use pact_mandate::UnixTime;

use super::{
    file::BootId,
    segment::{Finished, Header},
    witness::Witness,
};

/// A record that is unbroken.
pub(super) struct Record {
    pub(super) last: Header,
    pub(super) finished: Vec<Finished>,
    /// No proof was recorded at a later wall time.
    pub(super) until: UnixTime,
}

impl Record {
    /// The record of the folder, if it is unbroken: the last file names the first that is needed, and each from there on
    /// is there, whole, of this boot, of one beginning, and continues the one before; and the record reaches as far as
    /// the witness says.
    pub(super) fn read(folder: &Path, boot: BootId, numbers: &[u64]) -> Option<Record> {
        let witness = Witness::read(folder)?;
        let last = Finished::read(folder, *numbers.last()?)?;
        let header = last.header;
        let mut finished = Vec::new();
        for number in header.oldest..header.number {
            finished.push(Finished::read(folder, number)?);
        }
        finished.push(last);
        let holds =
            |file: &Finished| file.is_whole && file.header.boot == boot && file.header.since == header.since;
        let continues = |pair: &[Finished]| match pair {
            [before, after] => before.last_check() == Some(&after.header.before),
            _ => false,
        };
        let witnessed = finished.iter().find(|file| file.header.number == witness.number)?;
        let unbroken = finished.iter().all(holds)
            && finished.windows(2).all(continues)
            && witnessed.check_after(witness.records) == Some(&witness.check);
        unbroken.then_some(Record { last: header, finished, until: witness.until })
    }
}

/// The latest moment at which a proof can have been recorded, whatever is left of the record: what the witness says, or
/// without one the latest end of a proof, or the beginning, that some file still shows.
pub(super) fn latest_use(folder: &Path, numbers: &[u64]) -> UnixTime {
    if let Some(witness) = Witness::read(folder) {
        return witness.until;
    }
    let latest = |file: Finished| file.header.since.max(file.header.floor).max(file.latest_end());
    let files = numbers.iter().filter_map(|number| Finished::read(folder, *number));
    files.map(latest).max().unwrap_or(UnixTime::EPOCH)
}
