//! What the journal adds up to.

use std::path::PathBuf;

use pact_mandate::{Format, IssuerId, MandateId, UnixTime};
use pact_revocation::Listed;

use super::{
    LeftOut, StoreError,
    error::JournalFault,
    event::{Event, Line, Settings},
};
use crate::{
    chain::{NotUnrevoked, UnrevokedChain},
    compatible::Compatible,
    keyring::{KeyEntry, Keyring, Role},
    limits::DEFAULT_KEY_CACHE_SECONDS,
    records::{Name, Records},
    revoke::Revocation,
};

/// Everything, in memory.
#[derive(Debug)]
pub struct State {
    /// Where it stands, for errors.
    journal: PathBuf,
    settings: Option<Settings>,
    keyring: Keyring,
    records: Records,
    listed: Vec<Listed>,
    compatible: Compatible,
    lines: u64,
    /// Lines that are not in the journal any more.
    left_out: u64,
}

impl State {
    /// Before the first line of that journal.
    pub(super) fn of(journal: PathBuf) -> State {
        State {
            journal,
            settings: None,
            keyring: Keyring::default(),
            records: Records::default(),
            listed: Vec::new(),
            compatible: Compatible::default(),
            lines: 0,
            left_out: 0,
        }
    }

    /// Before the first line of the same journal.
    pub(super) fn beginning(&self) -> State {
        State::of(self.journal.clone())
    }

    /// Whose folder it is; `None` before its first line.
    pub fn settings(&self) -> Option<&Settings> {
        self.settings.as_ref()
    }

    /// The issuer's name.
    pub fn issuer(&self) -> Option<&IssuerId> {
        self.settings.as_ref().map(|settings| &settings.issuer)
    }

    /// Seconds for which a published key set may be cached.
    pub fn key_cache(&self) -> u64 {
        self.settings.as_ref().map_or(DEFAULT_KEY_CACHE_SECONDS, |settings| settings.key_cache)
    }

    /// The keys, without their secrets.
    pub fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Mandates and credentials.
    pub fn records(&self) -> &Records {
        &self.records
    }

    /// All that was ever listed, in that order.
    pub fn listed(&self) -> &[Listed] {
        &self.listed
    }

    /// What the two compatible lists hold.
    pub fn compatible(&self) -> &Compatible {
        &self.compatible
    }

    /// Lines of the journal.
    pub(crate) const fn lines(&self) -> u64 {
        self.lines
    }

    /// A number that grows with every line and every compaction, and never goes back.
    pub(super) const fn lines_ever(&self) -> u64 {
        self.lines.saturating_add(self.left_out)
    }

    /// The chain down to that mandate, when it may be handed on or exported now.
    pub fn unrevoked(&self, id: MandateId, now: UnixTime) -> Result<UnrevokedChain, ChainUnusable> {
        let records = self.records.chain(id).map_err(ChainUnusable::Records)?;
        let keys = self.keyring.verifying(Role::Mandate, now);
        UnrevokedChain::verify(&records, &keys, now).map_err(ChainUnusable::Chain)
    }

    /// The latest end of anything that a key signed: when it may go (protocol K6).
    pub fn last_expiry(&self, key: &KeyEntry) -> UnixTime {
        let mandates = self.records.mandates().filter(|record| *record.signed.unverified_key_id() == key.kid);
        let credentials = self.records.credentials().iter().filter(|record| record.key == key.kid);
        let ends =
            mandates.map(|record| record.expires_at).chain(credentials.map(|record| record.expires_at));
        ends.max().unwrap_or(UnixTime::EPOCH)
    }

    /// Whether a line fits, without taking it in: one that does not must never stand in the journal.
    pub(super) fn check(&self, line: &Line) -> Result<(), StoreError> {
        match &line.event {
            Event::Opened(_) if self.settings.is_some() => return Err(self.misfit(JournalFault::Beginning)),
            Event::Opened(settings) => Keyring::new(settings.keys.clone()).map(drop)?,
            _ if self.settings.is_none() => return Err(self.misfit(JournalFault::Beginning)),
            Event::Key(entry) => self.keyring_copy()?.insert(entry.clone())?,
            Event::KeysChanged(entries) => {
                let mut keyring = self.keyring_copy()?;
                entries.iter().try_for_each(|entry| keyring.replace(entry.clone()))?;
            }
            Event::Mandate(record) => self.records.check_mandate(record)?,
            Event::Credential(record) => self.records.check_credential(record)?,
            Event::Revocation(revocation) => self.records.check_revocation(revocation)?,
            // Later, it would raise numbers that were given out.
            Event::LeftOut(_) if self.lines != 1 => return Err(self.misfit(JournalFault::Beginning)),
            Event::LeftOut(_) => {}
        }
        Ok(())
    }

    fn keyring_copy(&self) -> Result<Keyring, StoreError> {
        Ok(Keyring::new(self.keyring.entries().to_vec())?)
    }

    /// Takes a line in.
    pub(super) fn apply(&mut self, line: Line) -> Result<(), StoreError> {
        self.check(&line)?;
        match line.event {
            Event::Opened(settings) => {
                self.keyring = Keyring::new(settings.keys.clone())?;
                self.settings = Some(settings);
            }
            Event::Key(entry) => self.keyring.insert(entry)?,
            Event::KeysChanged(entries) => {
                entries.into_iter().try_for_each(|entry| self.keyring.replace(entry))?;
            }
            Event::Mandate(record) => self.records.add_mandate(record)?,
            Event::Credential(record) => self.records.add_credential(record)?,
            Event::Revocation(revocation) => self.revoke(&revocation)?,
            Event::LeftOut(LeftOut { lines, tenuo, biscuit }) => {
                self.left_out = lines;
                self.compatible = Compatible::numbered(tenuo, biscuit);
            }
        }
        self.lines += 1;
        Ok(())
    }

    fn revoke(&mut self, revocation: &Revocation) -> Result<(), StoreError> {
        self.records.add_revocation(revocation)?;
        if let Name::Key(key) = revocation.target
            && let Some(entry) = self.keyring.find(&key.to_string()).cloned()
        {
            self.keyring.replace(KeyEntry { revoked_at: Some(revocation.at), ..entry })?;
        }
        self.listed.extend(revocation.listed.iter().map(crate::revoke::ListedName::listed));
        self.compatible.add(revocation);
        Ok(())
    }

    /// Whether all that has not ended by `ended` is the same here and there: settings, keys, records, what is listed and
    /// in which order, and the numbers of the lists.
    pub(super) fn says_the_same(&self, other: &State, ended: UnixTime) -> bool {
        let listed = |state: &State| -> Vec<Listed> {
            state.listed.iter().filter(|listed| listed.expires_at > ended).copied().collect()
        };
        let compatible = |state: &State| {
            [Format::Tenuo, Format::Biscuit].map(|format| {
                state
                    .compatible
                    .of(format)
                    .map(|ids| (ids.version(), ids.unexpired(ended).collect::<Vec<_>>()))
            })
        };
        let opened = |state: &State| state.settings.clone();
        opened(self) == opened(other)
            && self.keyring.entries() == other.keyring.entries()
            && self.records.says_the_same(&other.records, ended)
            && listed(self) == listed(other)
            && compatible(self) == compatible(other)
    }

    fn misfit(&self, fault: JournalFault) -> StoreError {
        StoreError::Journal { path: self.journal.clone(), line: self.lines + 1, fault }
    }
}

/// Why a mandate cannot be built on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainUnusable {
    /// It is not on record.
    #[error(transparent)]
    Records(crate::records::RecordsError),
    /// Its chain does not hold.
    #[error(transparent)]
    Chain(NotUnrevoked),
}
