//! The two compatible lists: what existing verifiers of Tenuo and Biscuit read.

pub mod biscuit;
pub mod tenuo;

#[cfg(test)]
mod tests;

use pact_mandate::{UnixTime, key::Thumbprint};

use crate::{entry::Entry, list::ListVersion};

/// A compatible list whose signature by a pinned key was checked. It carries no expiries, no formats and no sources.
#[derive(Clone, Debug)]
pub struct CompatibleList {
    pub(crate) key: Thumbprint,
    pub(crate) version: ListVersion,
    pub(crate) issued_at: UnixTime,
    pub(crate) entries: Vec<Entry>,
}

impl CompatibleList {
    /// The number that its signer gave it.
    pub fn version(&self) -> ListVersion {
        self.version
    }

    /// When it was signed, in whole seconds.
    pub fn issued_at(&self) -> UnixTime {
        self.issued_at
    }

    /// What it revokes.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}
