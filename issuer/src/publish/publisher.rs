//! Keeps what is published of a data folder up to date: signs every ten seconds, and at once when something changed
//! (protocol R2). It is the command's own; a program with a database of its own calls [`keys`] and [`lists`].

use pact_mandate::{IssuerId, UnixTime};
use pact_revocation::{ListVersion, PublishedFiles, files::WriteError};

use super::{RenderError, keys, lists};
use crate::{
    keyring::{KeyState, KeyringError, Role},
    limits::RESIGN_SECONDS,
    store::{ListSigner, Store, StoreError},
};

/// The one process that signs lists, and what it published last.
#[derive(Debug)]
pub struct Publisher {
    store: Store,
    signer: ListSigner,
    signed_at: Option<UnixTime>,
    /// Whether something changed that is not signed yet: a failed try must not wait for the next turn.
    unsigned: bool,
    lists: PublishedFiles,
}

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// What other processes did cannot be read.
    #[error(transparent)]
    Journal(StoreError),
    /// The data folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A list.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A file for all to read.
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What a publisher works with, and how far it came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The keys that are published, by role and state.
    pub keys: Vec<(Role, KeyState)>,
    /// The number of our list.
    pub version: ListVersion,
    /// When the lists were last signed; `None` before the first time.
    pub signed_at: Option<UnixTime>,
    /// Lines of the journal that were taken in.
    pub journal_lines: u64,
    /// Bytes of the journal that were taken in.
    pub journal_bytes: u64,
}

impl Publisher {
    /// Takes the signing role; only one process has it.
    pub fn take(store: Store) -> Result<Publisher, PublishError> {
        let signer = ListSigner::take(&store)?;
        Ok(Publisher { store, signer, signed_at: None, unsigned: false, lists: PublishedFiles::default() })
    }

    /// What is to be published at `now`. Changes that other processes made are taken in first.
    pub fn files(&mut self, now: UnixTime) -> Result<PublishedFiles, PublishError> {
        let changed = self.store.refresh().map_err(PublishError::Journal)?;
        self.unsigned |= changed;
        if self.unsigned || self.is_due(now) {
            let key = match self.store.signer(Role::Mandate) {
                // The active key was revoked: our own list must say so all the same.
                Err(StoreError::Keyring(KeyringError::NoActive(_))) => None,
                other => Some(other?),
            };
            let published = self.signer.sign(&self.store, now)?;
            let new = lists(published, self.store.state().compatible(), key.as_ref(), now)?;
            self.lists = new.keeping_bodies_of(&self.lists, now);
            (self.signed_at, self.unsigned) = (Some(now), false);
        }
        let state = self.store.state();
        let issuer = state.issuer().map(IssuerId::as_str).unwrap_or_default();
        let keys = keys(state.keyring(), issuer, state.key_cache(), now).map_err(StoreError::from)?;
        Ok(keys.with(self.lists.clone()))
    }

    /// How it stands, for readiness and metrics.
    pub fn report(&self, now: UnixTime) -> Report {
        let state = self.store.state();
        let keys = state.keyring().entries().iter().map(|entry| (entry.role, entry.state(now)));
        Report {
            keys: keys.filter(|(_, state)| *state != KeyState::Removed).collect(),
            version: self.signer.published().version(),
            signed_at: self.signed_at,
            journal_lines: state.lines(),
            journal_bytes: self.store.journal_bytes(),
        }
    }

    /// A clock that stepped back must not delay the next signature.
    fn is_due(&self, now: UnixTime) -> bool {
        self.signed_at.is_none_or(|at| now < at || now.since(at) >= RESIGN_SECONDS)
    }
}
