//! What changes with what is fetched: the published sets, and whose each key was seen to be (protocol K3).

use pact_mandate::{KeyId, PublicKey, jwks::KeySet};
use pact_verifier::trust::{KeyRole, TrustError};

use super::{
    KeysFault,
    owners::{Holder, Owners},
    published::Published,
};
use crate::config::{IssuerConfig, KeyBounds, PinnedRoot};

const ROLES: [KeyRole; 2] = [KeyRole::Root, KeyRole::List];

/// One published set: whose, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyPlace {
    pub(super) issuer: usize,
    pub(super) role: KeyRole,
}

/// What changes with what is fetched.
pub(super) struct Pages {
    pub(super) sets: Vec<Sets>,
    pub(super) owners: Owners,
}

pub(super) struct Sets {
    pub(super) roots: Published,
    pub(super) list_keys: Published,
}

impl Pages {
    /// Takes over a set under another configuration, unless it would be refused there.
    pub(super) fn take_over(
        &mut self,
        config: &IssuerConfig,
        place: KeyPlace,
        held: &Published,
        bounds: KeyBounds,
    ) {
        let holder = Holder { issuer: config.id.clone(), role: place.role };
        let Ok(set) = KeySet::new(held.held().to_vec()) else { return };
        let counts = self
            .owners
            .judge(&holder, &set, held.counted())
            .and_then(|()| check_ids(config, place.role, &set));
        if counts.is_err() {
            return;
        }
        if let Some(since) = held.counted() {
            self.owners.note(&holder, &set, since);
        }
        if let Some(sets) = self.sets.get_mut(place.issuer) {
            *sets.of(place.role) = held.under(bounds);
        }
    }

    /// Lets go of the published roots of whom the fault names; whether there were any.
    pub(super) fn forfeit_at_fault(&mut self, issuers: &[IssuerConfig], fault: &TrustError) -> bool {
        let named = match fault {
            TrustError::SharedKey { first, second, .. } => [first, second],
            TrustError::DuplicateIssuer(issuer)
            | TrustError::TwoRoles { issuer, .. }
            | TrustError::DuplicateKeyId { issuer, .. }
            | TrustError::RepeatedKey { issuer, .. }
            | TrustError::NotAPoint { issuer, .. } => [issuer, issuer],
        };
        let at_fault = issuers.iter().zip(&mut self.sets).filter(|(config, _)| named.contains(&&config.id));
        let held = at_fault.map(|(_, sets)| &mut sets.roots).filter(|roots| !roots.held().is_empty());
        held.map(|roots| roots.forfeit(KeysFault::NotTogether(fault.clone()))).count() > 0
    }

    /// K3: a set that holds a key of which two issuers say that it is theirs counts for neither.
    pub(super) fn forfeit_disputed(&mut self) {
        for sets in &mut self.sets {
            for role in ROLES {
                let published = sets.of(role);
                let held = published.held().iter().map(|(_, key)| key.thumbprint());
                if let Some(dispute) = self.owners.dispute_in(held) {
                    published.forfeit(KeysFault::Disputed(dispute.clone()));
                }
            }
        }
    }
}

impl Sets {
    pub(super) fn get(&self, role: KeyRole) -> &Published {
        match role {
            KeyRole::Root => &self.roots,
            KeyRole::List => &self.list_keys,
        }
    }

    pub(super) fn of(&mut self, role: KeyRole) -> &mut Published {
        match role {
            KeyRole::Root => &mut self.roots,
            KeyRole::List => &mut self.list_keys,
        }
    }
}

/// The id of a pinned key stays with it.
pub(super) fn check_ids(config: &IssuerConfig, role: KeyRole, set: &KeySet) -> Result<(), KeysFault> {
    let is_taken = |id: &KeyId, key: &PublicKey| match role {
        KeyRole::Root => {
            let pinned = config.roots.iter().map(PinnedRoot::key);
            pinned.filter(|root| root.id() == id).any(|root| root.public_bytes() != key.as_bytes())
        }
        KeyRole::List => config.list_keys.iter().any(|pinned| pinned.id == *id && pinned.key != *key),
    };
    match set.keys().iter().find(|(id, key)| is_taken(id, key)) {
        Some((id, _)) => Err(KeysFault::IdTaken { key: id.clone() }),
        None => Ok(()),
    }
}
