//! The data folder of the command line: a journal that only grows, the secret keys, and the signed list.
//!
//! One line of the journal is one transaction: written whole, synced, and only then answered for. A line that was cut off
//! by a crash was never answered for, and is dropped. What is listed follows from the journal; the signed list is stored
//! before anybody sees it (`lists/head` is its commit), so that no number is ever used for two lists. What ended long ago
//! can be left out of the journal ([`Writer::compact`]); that depends on the clock, so it never happens by itself.

mod compaction;
mod error;
mod event;
mod exporting;
mod folder;
mod journal;
mod lock;
mod signing;
mod state;

#[cfg(test)]
mod tests;

use std::path::Path;

use pact_mandate::{IssuerId, SecretKey, UnixTime};

pub use compaction::{Compaction, LeftOut};
pub use error::StoreError;
pub use event::{Event, Settings};
pub use exporting::NotExported;
pub use folder::Folder;
pub use lock::Lock;
pub use signing::{ListSigner, SigningError};
pub use state::{ChainUnusable, State};

use crate::keyring::{KeyEntry, Role};
use journal::Journal;

/// An open data folder: its state as of the last look.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    journal: Journal,
    state: State,
    /// Whether the state is all that the journal said at the last look.
    whole: bool,
    /// How often everything was read anew: what was counted before does not count on.
    epoch: u64,
}

/// The right to change a data folder: one process at a time. The state is that of this moment.
#[derive(Debug)]
pub struct Writer<'a> {
    store: &'a mut Store,
    lock: Lock,
}

impl Store {
    /// Makes a data folder: its first keys, its first (empty) signed list, then the first line of its journal. Until
    /// that line stands the folder is none, and this can be run again.
    pub fn create(
        dir: &Path,
        issuer: IssuerId,
        key_cache: u64,
        keys: Vec<(KeyEntry, SecretKey)>,
        now: UnixTime,
    ) -> Result<Store, StoreError> {
        let folder = Folder::create(dir)?;
        let lock = Lock::take(&folder.lock())?;
        let mut store = Store::unread(folder);
        if !store.journal.read_new()?.is_empty() {
            return Err(StoreError::Exists(dir.to_owned()));
        }
        for (entry, secret) in &keys {
            store.folder.write_secret(entry, secret)?;
        }
        let list = keys.iter().find(|(entry, _)| entry.role == Role::List && entry.is_active());
        let (_, list) = list.ok_or(StoreError::NoListKey)?;
        signing::begin(&store.folder, &issuer, list, now)?;
        let entries = keys.into_iter().map(|(entry, _)| entry).collect();
        let mut writer = Writer { store: &mut store, lock };
        writer.commit(now, Event::Opened(Settings { issuer, key_cache, keys: entries }))?;
        Ok(store)
    }

    /// Opens a data folder.
    pub fn open(dir: &Path) -> Result<Store, StoreError> {
        let folder = Folder::open(dir)?;
        let mut store = Store::unread(folder);
        store.refresh()?;
        if store.state.settings().is_none() {
            return Err(StoreError::NotAStore(dir.to_owned()));
        }
        Ok(store)
    }

    fn unread(folder: Folder) -> Store {
        Store {
            journal: Journal::new(folder.journal()),
            state: State::of(folder.journal()),
            folder,
            whole: true,
            epoch: 0,
        }
    }

    /// Takes in what other processes added. Whether anything was.
    pub fn refresh(&mut self) -> Result<bool, StoreError> {
        if self.whole
            && let Ok(changed) = self.take_in()
        {
            return Ok(changed);
        }
        // A writer whose disk failed took its line back, or this failed before: nothing counts but all of it, read anew.
        self.whole = false;
        let mut anew = Store::unread(self.folder.clone());
        anew.take_in()?;
        *self = Store { epoch: self.epoch.saturating_add(1), ..anew };
        Ok(true)
    }

    fn take_in(&mut self) -> Result<bool, StoreError> {
        let lines = self.journal.read_new()?;
        let changed = !lines.is_empty();
        for line in lines {
            self.state.apply(line)?;
        }
        Ok(changed)
    }

    /// Becomes the one writer, waiting a little while for another one to finish.
    pub fn write(&mut self) -> Result<Writer<'_>, StoreError> {
        let lock = Lock::take(&self.folder.lock())?;
        self.refresh()?;
        Ok(Writer { store: self, lock })
    }

    /// The state as of the last look.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Bytes of the journal that were taken in.
    pub(crate) fn journal_bytes(&self) -> u64 {
        self.journal.offset()
    }

    /// Where things lie.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The secret half of the key that signs in this role.
    pub fn signer(&self, role: Role) -> Result<SecretKey, StoreError> {
        self.folder.read_secret(self.state.keyring().active(role)?)
    }
}

impl Writer<'_> {
    /// The state of this moment.
    pub fn state(&self) -> &State {
        &self.store.state
    }

    /// The secret half of the key that signs in this role.
    pub fn signer(&self, role: Role) -> Result<SecretKey, StoreError> {
        self.store.signer(role)
    }

    /// Keeps the secret half of a key; the key itself counts when its event is committed.
    pub fn keep_secret(&self, entry: &KeyEntry, secret: &SecretKey) -> Result<(), StoreError> {
        self.store.folder.write_secret(entry, secret)
    }

    /// Makes one event lasting. When this returns, it survives the process and the machine.
    pub fn commit(&mut self, at: UnixTime, event: Event) -> Result<(), StoreError> {
        if !self.store.whole {
            return Err(StoreError::Unread);
        }
        let line = event::Line { at, event, n: self.store.state.lines() };
        // What would not apply later must not stand in the journal.
        self.store.state.check(&line)?;
        self.store.journal.append(&line, &self.lock)?;
        self.store.state.apply(line)
    }
}
