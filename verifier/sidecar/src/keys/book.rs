//! All keys of all issuers in one place, because whether a set counts depends on everybody else's (protocol K3).

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pact_mandate::{IssuerId, KeyId, Monotonic, PublicKey, jwks::KeySet};
use pact_revocation::net::ListUrl;
use pact_verifier::{
    presented::UnverifiedHint,
    trust::{RootKey, TrustError, TrustSnapshot, TrustedIssuer},
};
use tokio::sync::{Notify, futures::Notified};

use super::{KeysFault, published::Published};
use crate::config::{Config, IssuerConfig, PinnedKey};

#[cfg(test)]
mod tests;

/// What a key is for (protocol K1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Chains begin at it.
    Root,
    /// It signs the issuer's list.
    List,
}

/// One published set: whose, and for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyPlace {
    issuer: usize,
    role: Role,
}

/// The keys of all issuers.
pub(crate) struct KeyBook {
    issuers: Vec<IssuerConfig>,
    sets: Mutex<Vec<Sets>>,
    /// Rung when a credential named a root that nobody has.
    asked: Notify,
}

struct Sets {
    roots: Published,
    list_keys: Published,
}

/// What is to be told of one issuer's keys.
#[derive(Clone, Debug)]
pub(crate) struct IssuerKeys {
    pub(crate) issuer: IssuerId,
    pub(crate) roots: usize,
    pub(crate) list_keys: usize,
    pub(crate) age: Option<Duration>,
    pub(crate) fault: Option<String>,
    pub(crate) bearer: bool,
}

impl KeyBook {
    pub(crate) fn new(config: &Config) -> KeyBook {
        let sets = config
            .issuers
            .iter()
            .map(|_| Sets { roots: Published::new(config.keys), list_keys: Published::new(config.keys) });
        KeyBook { sets: Mutex::new(sets.collect()), issuers: config.issuers.clone(), asked: Notify::new() }
    }

    /// The sets to watch.
    pub(crate) fn places(&self) -> Vec<(KeyPlace, ListUrl)> {
        let urls = self.issuers.iter().enumerate().flat_map(|(issuer, config)| {
            [(Role::Root, &config.keys_url), (Role::List, &config.list_keys_url)]
                .map(|(role, url)| url.clone().map(|url| (KeyPlace { issuer, role }, url)))
        });
        urls.flatten().collect()
    }

    /// Runs `ask` on the set of that place.
    pub(crate) fn with<T>(&self, place: KeyPlace, ask: impl FnOnce(&mut Published) -> T) -> Option<T> {
        self.lock().get_mut(place.issuer).map(|sets| ask(sets.of(place.role)))
    }

    /// Takes a fetched set in, or says why not. The held one stays, and ages, when it is refused.
    pub(crate) fn offer(
        &self,
        place: KeyPlace,
        fetched: Result<KeySet, KeysFault>,
        now: Monotonic,
    ) -> Result<(), KeysFault> {
        let mut all = self.lock();
        let judged = fetched.and_then(|set| self.check(&all, place, &set, now).map(|()| set));
        let Some(sets) = all.get_mut(place.issuer) else { return Ok(()) };
        match judged {
            Ok(set) => {
                sets.of(place.role).took(&set, now);
                Ok(())
            }
            Err(fault) => {
                sets.of(place.role).failed(fault.clone());
                Err(fault)
            }
        }
    }

    /// A credential names a root that nobody has: whoever publishes sets may have a new one.
    pub(crate) fn missed(&self, hint: UnverifiedHint, now: Monotonic) {
        let mut asks = false;
        for sets in self.lock().iter_mut() {
            // Each of them is asked: which issuer has the new root is what nobody knows.
            asks |= sets.roots.missed(hint, now);
        }
        if asks {
            self.asked.notify_waiters();
        }
    }

    /// Done when [`KeyBook::missed`] asks for an early fetch, from now on.
    pub(crate) fn asked(&self) -> Notified<'_> {
        self.asked.notified()
    }

    /// Whom to believe now.
    pub(crate) fn trust(&self, now: Monotonic) -> Result<TrustSnapshot, TrustError> {
        let all = self.lock();
        let trusted = self.issuers.iter().enumerate().map(|(at, config)| TrustedIssuer {
            id: config.id.clone(),
            roots: self.keys_of(&all, KeyPlace { issuer: at, role: Role::Root }, now).map(root).collect(),
            speaks: config.speaks.clone(),
            bearer: config.bearer,
        });
        TrustSnapshot::new(trusted.collect())
    }

    /// The keys of one issuer that may sign its list now.
    pub(crate) fn list_keys(&self, issuer: &IssuerId, now: Monotonic) -> Vec<(KeyId, PublicKey)> {
        let Some(at) = self.issuers.iter().position(|config| config.id == *issuer) else { return Vec::new() };
        self.keys_of(&self.lock(), KeyPlace { issuer: at, role: Role::List }, now).collect()
    }

    /// What is to be told of each issuer's keys.
    pub(crate) fn report(&self, now: Monotonic) -> Vec<IssuerKeys> {
        let all = self.lock();
        let count = |issuer, role| self.keys_of(&all, KeyPlace { issuer, role }, now).count();
        let issuers = self.issuers.iter().zip(all.iter()).enumerate();
        let report = issuers.map(|(at, (config, sets))| IssuerKeys {
            issuer: config.id.clone(),
            roots: count(at, Role::Root),
            list_keys: count(at, Role::List),
            age: sets.roots.age(now),
            fault: sets.roots.fault().or(sets.list_keys.fault()).map(ToString::to_string),
            bearer: config.bearer,
        });
        report.collect()
    }

    /// K3, K1: a key belongs to one issuer, in one role, under one id.
    fn check(&self, all: &[Sets], place: KeyPlace, set: &KeySet, now: Monotonic) -> Result<(), KeysFault> {
        for (key, public) in set.keys() {
            for (at, config) in self.issuers.iter().enumerate() {
                for role in [Role::Root, Role::List] {
                    let other = KeyPlace { issuer: at, role };
                    if other == place || !self.keys_of(all, other, now).any(|(_, held)| held == *public) {
                        continue;
                    }
                    let (key, owner) = (key.clone(), config.id.clone());
                    let is_own = at == place.issuer;
                    return Err(if is_own {
                        KeysFault::TwoRoles { key }
                    } else {
                        KeysFault::Foreign { key, owner }
                    });
                }
            }
            let is_taken = |pinned: &PinnedKey| pinned.id == *key && pinned.key != *public;
            if self.pinned(place).iter().any(is_taken) {
                return Err(KeysFault::IdTaken { key: key.clone() });
            }
        }
        Ok(())
    }

    /// Published and pinned keys, each once, under the id that its issuer gives it.
    fn keys_of<'a>(
        &'a self,
        all: &'a [Sets],
        place: KeyPlace,
        now: Monotonic,
    ) -> impl Iterator<Item = (KeyId, PublicKey)> + 'a {
        let published = all.get(place.issuer).map(|sets| match place.role {
            Role::Root => sets.roots.keys(now),
            Role::List => sets.list_keys.keys(now),
        });
        let published = published.unwrap_or_default();
        let pinned = self.pinned(place).iter().map(|pinned| (pinned.id.clone(), pinned.key));
        let only_pinned =
            move |(_, key): &(KeyId, PublicKey)| !published.iter().any(|(_, other)| other == key);
        published.iter().cloned().chain(pinned.filter(only_pinned))
    }

    fn pinned(&self, place: KeyPlace) -> &[PinnedKey] {
        let Some(config) = self.issuers.get(place.issuer) else { return &[] };
        match place.role {
            Role::Root => &config.roots,
            Role::List => &config.list_keys,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Sets>> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sets {
    fn of(&mut self, role: Role) -> &mut Published {
        match role {
            Role::Root => &mut self.roots,
            Role::List => &mut self.list_keys,
        }
    }
}

fn root((id, key): (KeyId, PublicKey)) -> RootKey {
    RootKey::Ed25519 { id, key }
}
