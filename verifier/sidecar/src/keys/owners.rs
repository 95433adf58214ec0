//! Whose each key is (protocol K1, K3). What an issuer has once shown stays its own for as long as the process runs, also
//! when its set has been emptied since: nobody takes over what another has let lie.

use std::collections::BTreeMap;

use pact_mandate::{IssuerId, KeyId, Monotonic, jwks::KeySet, key::Thumbprint};
use pact_verifier::trust::KeyRole;

use super::KeysFault;
use crate::{config::IssuerConfig, limits::MAX_KEYS_SEEN};

/// Every key that was pinned or that a published set which counted has held.
#[derive(Debug)]
pub(crate) struct Owners(BTreeMap<Thumbprint, Owner>);

/// One issuer in one role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    pub(crate) issuer: IssuerId,
    pub(crate) role: KeyRole,
}

/// A key that two issuers have published, and nobody can know which of them it belongs to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the key {key} was published by {} and by {}; whose it is cannot be known, so it counts for neither: pin it under its owner",
    claimants[0], claimants[1]
)]
pub struct Dispute {
    key: Thumbprint,
    claimants: [IssuerId; 2],
}

#[derive(Clone, Debug)]
enum Owner {
    /// The configuration says so; nothing that is published changes that.
    Pinned(Holder),
    /// It was first seen in a set of that holder's, at that moment.
    Shown(Holder, Monotonic),
    /// Two issuers showed it, and which of them had it first was not seen: it is nobody's.
    Disputed(Dispute, Holder),
}

impl Owners {
    /// The pinned keys, which the configuration has found to go together.
    pub(crate) fn pinned(issuers: &[IssuerConfig]) -> Owners {
        let keys = issuers.iter().flat_map(|config| {
            let owner = |role| Owner::Pinned(Holder { issuer: config.id.clone(), role });
            config.pinned_keys().map(move |(role, key)| (key, owner(role)))
        });
        Owners(keys.collect())
    }

    /// Takes over what was seen of issuers that are still configured. What is pinned now has the last word.
    pub(crate) fn remember(&mut self, earlier: &Owners, issuers: &[IssuerConfig]) {
        let is_configured = |issuer: &IssuerId| issuers.iter().any(|config| config.id == *issuer);
        for (key, owner) in &earlier.0 {
            let stays = match owner {
                Owner::Pinned(_) => false,
                Owner::Shown(holder, _) => is_configured(&holder.issuer),
                Owner::Disputed(dispute, _) => dispute.claimants.iter().all(is_configured),
            };
            if stays {
                self.0.entry(*key).or_insert_with(|| owner.clone());
            }
        }
    }

    /// Whether a set may count, as far as its keys go. `before` is when the fetch began that last brought a set of this
    /// holder's that counted. A dispute is remembered, whatever becomes of the set.
    pub(crate) fn judge(
        &mut self,
        holder: &Holder,
        set: &KeySet,
        before: Option<Monotonic>,
    ) -> Result<(), KeysFault> {
        let mut fault = None;
        // All keys are looked at, so that the order in a set decides nothing.
        for (id, key) in set.keys() {
            if let Err(found) = self.check(holder, id, key.thumbprint(), before) {
                fault.get_or_insert(found);
            }
        }
        if let Some(fault) = fault {
            return Err(fault);
        }
        let known = self.0.values().filter(|owner| owner.is_shown_by(holder)).count();
        let new = set.keys().iter().filter(|(_, key)| !self.0.contains_key(&key.thumbprint()));
        if known.saturating_add(new.count()) > MAX_KEYS_SEEN {
            return Err(KeysFault::TooManyKeysSeen);
        }
        Ok(())
    }

    /// Remembers the keys of a set that counts from now on.
    pub(crate) fn note(&mut self, holder: &Holder, set: &KeySet, now: Monotonic) {
        for (_, key) in set.keys() {
            self.0.entry(key.thumbprint()).or_insert_with(|| Owner::Shown(holder.clone(), now));
        }
    }

    fn check(
        &mut self,
        holder: &Holder,
        id: &KeyId,
        key: Thumbprint,
        before: Option<Monotonic>,
    ) -> Result<(), KeysFault> {
        let Some(owner) = self.0.get_mut(&key) else { return Ok(()) };
        let (first, shown) = match owner {
            Owner::Disputed(dispute, _) => return Err(KeysFault::Disputed(dispute.clone())),
            Owner::Pinned(first) => (first, None),
            Owner::Shown(first, since) => (first, Some(*since)),
        };
        if first == holder {
            return Ok(());
        }
        if first.issuer == holder.issuer {
            return Err(KeysFault::TwoRoles { key: id.clone() });
        }
        // Whoever published without the key after the other had shown it came second. Anybody else may have had it first.
        if shown.is_none_or(|since| before.is_some_and(|before| before > since)) {
            return Err(KeysFault::Foreign { key: id.clone(), owner: first.issuer.clone() });
        }
        let dispute = Dispute { key, claimants: [first.issuer.clone(), holder.issuer.clone()] };
        *owner = Owner::Disputed(dispute.clone(), first.clone());
        Err(KeysFault::Disputed(dispute))
    }

    /// The first dispute about a key of these.
    pub(crate) fn dispute_in(&self, keys: impl IntoIterator<Item = Thumbprint>) -> Option<&Dispute> {
        keys.into_iter().find_map(|key| match self.0.get(&key)? {
            Owner::Disputed(dispute, _) => Some(dispute),
            Owner::Pinned(_) | Owner::Shown(..) => None,
        })
    }

    /// All of them.
    pub(crate) fn disputes(&self) -> impl Iterator<Item = &Dispute> {
        self.0.values().filter_map(|owner| match owner {
            Owner::Disputed(dispute, _) => Some(dispute),
            Owner::Pinned(_) | Owner::Shown(..) => None,
        })
    }
}

impl Owner {
    /// Whether it counts against the bound on what that holder has shown.
    fn is_shown_by(&self, holder: &Holder) -> bool {
        match self {
            Owner::Pinned(_) => false,
            Owner::Shown(first, _) | Owner::Disputed(_, first) => first == holder,
        }
    }
}
