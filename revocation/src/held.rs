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

#[cfg(test)]
mod tests {
    use crate::{
        FloorInMemory, Keeper, Lists, Published,
        testing::{clocks, first, issuer, key, next, now, pinned},
    };
    use pact_mandate::{Format, Now};

    fn offered(keeper: &mut Keeper, list: &Published, now: Now) -> Lists {
        Lists::none().with(keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now).unwrap())
    }

    /// Another watch in this process, after a change of keys or of the configuration, learns how late it was.
    #[test]
    fn t1_a_keeper_that_takes_the_place_of_another_makes_a_held_back_list_no_younger() {
        let (signer, list) = (key(1), first(&key(1), [1]));
        let keeper =
            || Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), FloorInMemory::default()).unwrap();
        let stale = |lists: &Lists, now| lists.fresh(&issuer(), Format::Tenuo, now).is_err();
        let before = offered(&mut keeper(), &list, now(10));
        // A minute later the wall clock has stepped back to when the list was signed.
        let later = clocks(0, 71);
        let without = offered(&mut keeper(), &list, later);
        assert!(!stale(&without, later), "this is what the next lines mend");
        let held = before.of(&issuer()).next().unwrap();
        let again = offered(&mut keeper().continuing(held), &list, later);
        assert!(stale(&again, later));
        assert_eq!(again.of(&issuer()).next().unwrap().age(later).as_secs(), 71);
        // A list that was signed since is as fresh as ever.
        let newer = offered(&mut keeper().continuing(held), &next(&list, &signer, [2], 70), clocks(71, 71));
        assert!(!stale(&newer, clocks(71, 71)));
    }
}
