//! Keeps what is published up to date: signs every ten seconds, and at once when something changed (protocol R2).

use pact_mandate::{IssuerId, UnixTime};

use super::{Documents, PublishError, keys, lists, shelf::Shelf};
use crate::{
    keyring::{KeyringError, Role},
    limits::RESIGN_SECONDS,
    store::{ListSigner, Store, StoreError},
};

/// The one process that signs lists, and what it published last.
#[derive(Debug)]
pub struct Publisher {
    store: Store,
    signer: ListSigner,
    signed_at: Option<UnixTime>,
    lists: Documents,
    shelf: Shelf,
}

impl Publisher {
    /// Takes the signing role; only one process has it.
    pub fn take(store: Store) -> Result<Publisher, PublishError> {
        let signer = ListSigner::take(&store)?;
        Ok(Publisher { store, signer, signed_at: None, lists: Documents::new(), shelf: Shelf::default() })
    }

    /// What is to be published at `now`. Changes that other processes made are taken in first.
    pub fn documents(&mut self, now: UnixTime) -> Result<Documents, PublishError> {
        let changed = self.store.refresh()?;
        if changed || self.is_due(now) {
            let key = match self.store.signer(Role::Mandate) {
                // The active key was revoked: our own list must say so all the same.
                Err(StoreError::Keyring(KeyringError::NoActive(_))) => None,
                other => Some(other?),
            };
            let published = self.signer.sign(&self.store, now)?;
            self.lists = lists(self.store.state(), published, key.as_ref(), now)?;
            self.shelf.complete(&mut self.lists, now);
            self.signed_at = Some(now);
        }
        let state = self.store.state();
        let issuer = state.issuer().map(IssuerId::as_str).unwrap_or_default();
        let mut documents =
            keys(state.keyring(), issuer, state.key_cache(), now).map_err(StoreError::from)?;
        documents.extend(self.lists.clone());
        Ok(documents)
    }

    /// A clock that stepped back must not delay the next signature.
    fn is_due(&self, now: UnixTime) -> bool {
        self.signed_at.is_none_or(|at| now < at || now.since(at) >= RESIGN_SECONDS)
    }
}
