//! A list that was accepted, with the time of its receipt.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
    time::Duration,
};

use pact_mandate::{Format, IssuerId, Now, UnixTime, key::Thumbprint};

use crate::{body::Body, entry::Entry, head::SourceTime, list::ListVersion};

/// A list that a [`crate::Keeper`] accepted. It answers nothing by itself: [`crate::Lists::fresh`] judges its age first.
#[derive(Clone)]
pub struct Held {
    pub(crate) issuer: IssuerId,
    pub(crate) kind: Format,
    pub(crate) key: Thumbprint,
    pub(crate) version: ListVersion,
    pub(crate) issued_at: UnixTime,
    pub(crate) next_update: Option<UnixTime>,
    pub(crate) covers: BTreeSet<Format>,
    pub(crate) sources: BTreeMap<IssuerId, SourceTime>,
    pub(crate) body: Arc<Body>,
    pub(crate) kept: Arc<Body>,
    pub(crate) receipt: Receipt,
}

/// When a list was received, and how old it was then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receipt {
    pub(crate) at: Now,
    pub(crate) age: Duration,
}

impl Held {
    /// Whose list.
    pub fn issuer(&self) -> &IssuerId {
        &self.issuer
    }

    /// Which list: `Pact` is our own, the others are the compatible ones.
    pub fn kind(&self) -> Format {
        self.kind
    }

    /// The number that its signer gave it.
    pub fn version(&self) -> ListVersion {
        self.version
    }

    /// When it was signed.
    pub fn issued_at(&self) -> UnixTime {
        self.issued_at
    }

    /// The key that signed it.
    pub fn key(&self) -> &Thumbprint {
        &self.key
    }

    /// How many entries count: those of the list, and those kept from earlier ones.
    pub fn count(&self) -> usize {
        self.body.entries().len() + self.kept.entries().len()
    }

    /// The formats that it speaks for.
    pub fn covers(&self) -> &BTreeSet<Format> {
        &self.covers
    }

    /// Protocol R5: the larger of the age by the wall clock and the age by the monotonic one, so that a wall clock that
    /// steps back makes nothing young (T1).
    pub fn age(&self, now: Now) -> Duration {
        let by_wall = Duration::from_secs(now.wall.since(self.issued_at));
        let since_receipt = now.monotonic.since(self.receipt.at.monotonic);
        by_wall.max(since_receipt.saturating_add(self.receipt.age))
    }

    pub(crate) fn contains(&self, entry: &Entry) -> bool {
        self.body.entries().contains(entry) || self.kept.entries().contains(entry)
    }
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Held({} list {} of {}, {} entries)", self.kind, self.version, self.issuer, self.count())
    }
}
