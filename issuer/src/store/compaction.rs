//! A shorter journal: what ended long ago is left out, so that commands stay fast. The old one is kept beside it under
//! another name, because it says who granted what to whom; whether and when it goes is its owner's affair.
//!
//! The new journal takes the place of the old one by one rename. A process that is killed before it leaves the old one,
//! one that is killed after it the new one. Readers notice, and read it from its beginning.

use std::{
    collections::BTreeSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use pact_mandate::{Format, MandateId, UnixTime};
use pact_revocation::{disk, limits::KEEP_AFTER_EXPIRY_SECONDS};
use serde::{Deserialize, Serialize};

use super::{
    State, Store, StoreError, Writer,
    event::{Event, Line},
    folder::replace_file,
    journal::{self, Journal},
};
use crate::{
    compatible::CompatibleIds,
    record::{CredentialId, CredentialRecord},
    records::Name,
    revoke::Revocation,
};

/// What must be known of the lines that were left out. It is the second line of a journal, and of no other place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// With the number of lines that stay, how many there ever were, this one counted anew each time.
    pub lines: u64,
    /// By how much the revocations among them had raised the number of the Tenuo list.
    pub tenuo: u64,
    /// By how much they had raised that of the Biscuit list.
    pub biscuit: u64,
}

/// What a compaction did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compaction {
    /// Lines of the journal before.
    pub before: u64,
    /// Lines that it has now.
    pub after: u64,
    /// Where the old journal is; `None` when there was nothing to leave out, and the journal is as it was.
    pub archive: Option<PathBuf>,
}

impl Writer<'_> {
    /// Leaves out what ended more than `keep` seconds ago, and at least as long ago as a list must still name it.
    pub fn compact(&mut self, keep: u64, now: UnixTime) -> Result<Compaction, StoreError> {
        let ended = now.minus(keep.max(KEEP_AFTER_EXPIRY_SECONDS));
        let path = self.store.folder.journal();
        let old = Journal::new(path.clone()).read_new()?;
        let lines = old.len();
        let new = Kept::at(&self.store.state, ended, &old).lines(old, now);
        check(&self.store.state, &new, ended)?;
        let before = self.store.state.lines();
        if new.len() >= lines {
            return Ok(Compaction { before, after: before, archive: None });
        }
        let archive = self.store.folder.old_journal(self.store.state.lines_ever());
        keep_old(&path, &archive).map_err(StoreError::io(&archive))?;
        let replaced = replace_file(&path, &journal::bytes(&path, &new)?, disk::PRIVATE);
        // Also when that failed: the rename may have happened, and what was read is then of another file.
        let read = self.store.read_anew();
        replaced?;
        read?;
        Ok(Compaction { before, after: self.store.state.lines(), archive: Some(archive) })
    }
}

/// A second name for the old journal; a compaction that was killed may have given it already. No other file has it: the
/// number in it only grows.
fn keep_old(path: &Path, archive: &Path) -> io::Result<()> {
    match fs::hard_link(path, archive) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let (one, other) = (fs::metadata(path)?, fs::metadata(archive)?);
            if (one.dev(), one.ino()) == (other.dev(), other.ino()) { Ok(()) } else { Err(error) }
        }
        other => other,
    }
}

/// Reads the new journal as everybody will, before anybody can.
fn check(old: &State, new: &[Line], ended: UnixTime) -> Result<(), StoreError> {
    let mut state = old.beginning();
    new.iter().try_for_each(|line| state.apply(line.clone()))?;
    if state.says_the_same(old, ended) { Ok(()) } else { Err(StoreError::Compaction) }
}

/// What has not ended, and what it cannot be without.
struct Kept<'a> {
    state: &'a State,
    ended: UnixTime,
    credentials: BTreeSet<CredentialId>,
    mandates: BTreeSet<MandateId>,
}

impl Kept<'_> {
    fn at<'a>(state: &'a State, ended: UnixTime, old: &[Line]) -> Kept<'a> {
        let records = state.records();
        let targets = targets(old, ended);
        // A link that was revoked by name stays listed until it would have ended, also when its credential ended before.
        let listed = |credential: &CredentialRecord| {
            let mut minted = credential.minted.iter().filter(|minted| minted.expires_at > ended);
            minted.any(|minted| records.revoked_at(&Name::Credential(minted.id)).is_some())
        };
        // So does what one revocation listed beside its target: it stays for as long as the last of its names.
        let named = |credential: &CredentialRecord| {
            credential.minted.iter().any(|minted| targets.contains(&minted.id))
        };
        // One that stops its holder from getting another is needed for as long as there could be another.
        let credentials = || {
            let all = records.credentials().iter();
            let counts = |credential: &&CredentialRecord| {
                credential.expires_at > ended || listed(credential) || named(credential)
            };
            all.filter(counts).chain(records.stopping(ended))
        };
        let live = records.mandates().filter(|record| record.expires_at > ended).map(|record| record.id);
        let needed =
            credentials().flat_map(|credential| credential.minted.iter().map(|minted| minted.mandate));
        Kept {
            state,
            ended,
            mandates: live.chain(needed).collect(),
            credentials: credentials()
                .flat_map(|credential| credential.minted.iter().map(|minted| minted.id))
                .collect(),
        }
    }

    /// The lines of the new journal.
    fn lines(&self, old: Vec<Line>, now: UnixTime) -> Vec<Line> {
        let mut events: Vec<(UnixTime, Event)> =
            old.into_iter().filter_map(|line| Some((line.at, self.event(line.event)?))).collect();
        let left_out = LeftOut {
            lines: self.state.lines_ever().saturating_sub(u64::try_from(events.len()).unwrap_or(u64::MAX)),
            tenuo: self.raised(Format::Tenuo, &events),
            biscuit: self.raised(Format::Biscuit, &events),
        };
        // After the line that says whose journal it is.
        events.insert(events.len().min(1), (now, Event::LeftOut(left_out)));
        (0..).zip(events).map(|(n, (at, event))| Line { at, event, n }).collect()
    }

    fn event(&self, event: Event) -> Option<Event> {
        match event {
            Event::LeftOut(_) => None,
            Event::Mandate(record) => self.mandates.contains(&record.id).then_some(Event::Mandate(record)),
            Event::Credential(record) => {
                let kept = record.id().is_some_and(|id| self.credentials.contains(&id));
                kept.then_some(Event::Credential(record))
            }
            Event::Revocation(revocation) => self.revocation(revocation).map(Event::Revocation),
            Event::Opened(_) | Event::Key(_) | Event::KeysChanged(_) => Some(event),
        }
    }

    fn revocation(&self, mut revocation: Revocation) -> Option<Revocation> {
        let kept = match &revocation.target {
            Name::Mandate(id) => self.mandates.contains(id),
            Name::Credential(id) => self.credentials.contains(id),
            Name::Key(_) => true,
        };
        revocation.listed.retain(|listed| listed.expires_at > self.ended);
        kept.then_some(revocation)
    }

    /// By how much the number of a list is above what the revocations that stay make of it.
    fn raised(&self, format: Format, kept: &[(UnixTime, Event)]) -> u64 {
        let raises =
            |event: &Event| matches!(event, Event::Revocation(revocation) if revocation.raises(format));
        let staying = kept.iter().filter(|(_, event)| raises(event)).count();
        let number = self.state.compatible().of(format).map_or(0, CompatibleIds::version);
        number.saturating_sub(u64::try_from(staying).unwrap_or(u64::MAX))
    }
}

/// The credentials by whose names something was revoked that has not ended.
fn targets(old: &[Line], ended: UnixTime) -> BTreeSet<CredentialId> {
    let target = |line: &Line| match &line.event {
        Event::Revocation(Revocation { target: Name::Credential(id), listed, .. }) => {
            listed.iter().any(|listed| listed.expires_at > ended).then_some(*id)
        }
        _ => None,
    };
    old.iter().filter_map(target).collect()
}

impl Store {
    fn read_anew(&mut self) -> Result<(), StoreError> {
        self.whole = false;
        self.refresh().map(drop)
    }
}

#[cfg(test)]
mod tests;
