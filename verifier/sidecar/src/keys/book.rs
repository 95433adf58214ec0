//! All keys of all issuers in one place, because whether a set counts depends on everybody else's (protocol K3).

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pact_mandate::{IssuerId, KeyId, Monotonic, PublicKey, jwks::KeySet};
use pact_revocation::net::ListUrl;
use pact_verifier::{
    presented::UnverifiedHint,
    trust::{KeyRole, RootKey, TrustError, TrustSnapshot, TrustedIssuer},
};
use tokio::sync::{Notify, futures::Notified};

use super::{
    KeyPlace, KeysFault,
    owners::{Holder, Owners},
    pages::{Pages, Sets, check_ids},
    published::Published,
};
use crate::{
    config::{Config, IssuerConfig, PinnedKey, PinnedRoot},
    fault::Fault,
};

#[cfg(test)]
mod tests;

/// The keys of all issuers.
pub(crate) struct KeyBook {
    issuers: Vec<IssuerConfig>,
    pages: Mutex<Pages>,
    /// Rung when a credential named a root that nobody has.
    asked: Notify,
}

/// What is to be told of one issuer's keys.
#[derive(Clone, Debug)]
pub(crate) struct IssuerKeys {
    pub(crate) issuer: IssuerId,
    pub(crate) list_keys: usize,
    pub(crate) age: Option<Duration>,
    pub(crate) fault: Option<String>,
}

impl KeyBook {
    pub(crate) fn new(config: &Config) -> KeyBook {
        let set = || Published::new(config.keys);
        let sets = config.issuers.iter().map(|_| Sets { roots: set(), list_keys: set() }).collect();
        let pages = Pages { sets, owners: Owners::pinned(&config.issuers) };
        KeyBook { pages: Mutex::new(pages), issuers: config.issuers.clone(), asked: Notify::new() }
    }

    /// The book of the next configuration. What is held of an issuer that publishes where it did stays and ages on, if it
    /// goes together with the keys that are pinned now; what was seen of owners is remembered (protocol K3).
    pub(crate) fn successor(&self, config: &Config) -> KeyBook {
        let next = KeyBook::new(config);
        let old = self.lock();
        {
            let mut pages = next.lock();
            pages.owners.remember(&old.owners, &config.issuers);
            for (issuer, place) in config.issuers.iter().zip(0..) {
                let known = self.issuers.iter().zip(&old.sets).find(|(known, _)| known.id == issuer.id);
                let Some((known, sets)) = known else { continue };
                for (role, same_place) in [
                    (KeyRole::Root, known.keys_url == issuer.keys_url),
                    (KeyRole::List, known.list_keys_url == issuer.list_keys_url),
                ] {
                    if same_place {
                        pages.take_over(
                            issuer,
                            KeyPlace { issuer: place, role },
                            sets.get(role),
                            config.keys,
                        );
                    }
                }
            }
            pages.forfeit_disputed();
        }
        drop(old);
        next
    }

    /// The sets to watch.
    pub(crate) fn places(&self) -> Vec<(KeyPlace, ListUrl)> {
        let urls = self.issuers.iter().enumerate().flat_map(|(issuer, config)| {
            [(KeyRole::Root, &config.keys_url), (KeyRole::List, &config.list_keys_url)]
                .map(|(role, url)| url.clone().map(|url| (KeyPlace { issuer, role }, url)))
        });
        urls.flatten().collect()
    }

    /// Runs `ask` on the set of that place.
    pub(crate) fn with<T>(&self, place: KeyPlace, ask: impl FnOnce(&mut Published) -> T) -> Option<T> {
        self.lock().sets.get_mut(place.issuer).map(|sets| ask(sets.of(place.role)))
    }

    /// Takes a fetched set in, or says why not. The held one stays, and ages, when it is refused; all sets that hold a key
    /// of which nobody can know whose it is are let go of.
    pub(crate) fn offer(
        &self,
        place: KeyPlace,
        fetched: Result<KeySet, KeysFault>,
        now: Monotonic,
    ) -> Result<(), KeysFault> {
        let Some(config) = self.issuers.get(place.issuer) else { return Ok(()) };
        let holder = Holder { issuer: config.id.clone(), role: place.role };
        let mut guard = self.lock();
        let pages = &mut *guard;
        let Some(sets) = pages.sets.get_mut(place.issuer) else { return Ok(()) };
        let published = sets.of(place.role);
        let judged = fetched.and_then(|set| {
            pages.owners.judge(&holder, &set, published.counted())?;
            check_ids(config, place.role, &set)?;
            Ok(set)
        });
        let answer = match judged {
            Ok(set) => {
                pages.owners.note(&holder, &set, now);
                published.took(&set, now);
                Ok(())
            }
            Err(fault) => {
                published.failed(fault.clone());
                Err(fault)
            }
        };
        pages.forfeit_disputed();
        answer
    }

    /// A credential names a root that nobody has: whoever publishes sets may have a new one.
    pub(crate) fn missed(&self, hint: UnverifiedHint, now: Monotonic) {
        let mut asks = false;
        for sets in &mut self.lock().sets {
            // Each of them is asked: which issuer has the new root is what nobody knows.
            asks |= sets.roots.missed(hint, now);
        }
        if asks {
            self.asked.notify_waiters();
        }
    }

    /// K4: a root that nobody has is the caller's fault only when every published set that may hold it is here.
    pub(crate) fn blame(&self, fault: Fault, now: Monotonic) -> Fault {
        let lacks = || {
            let pages = self.lock();
            let mut published =
                self.issuers.iter().zip(&pages.sets).filter(|(config, _)| config.keys_url.is_some());
            published.any(|(_, sets)| sets.roots.keys(now).is_empty())
        };
        if fault.is_unknown_root() && lacks() { Fault::KeysMissing } else { fault }
    }

    /// Done when [`KeyBook::missed`] asks for an early fetch, from now on.
    pub(crate) fn asked(&self) -> Notified<'_> {
        self.asked.notified()
    }

    /// Whom to believe now.
    pub(crate) fn trust(&self, now: Monotonic) -> Result<TrustSnapshot, TrustError> {
        let pages = self.lock();
        let trusted = self.issuers.iter().zip(&pages.sets).map(|(config, sets)| TrustedIssuer {
            roots: roots(config, sets.roots.keys(now)),
            ..without_roots(config)
        });
        TrustSnapshot::new(trusted.collect())
    }

    /// The same, in doubt with less: published sets that do not go together are let go of, and when that does not help,
    /// nobody has a root. They are refused where they come in, so this is for a fault of ours.
    pub(crate) fn believed(&self, now: Monotonic) -> Result<TrustSnapshot, TrustError> {
        loop {
            let fault = match self.trust(now) {
                Ok(trust) => return Ok(trust),
                Err(fault) => fault,
            };
            tracing::error!(%fault, "the root keys do not go together; the sets at fault do not count");
            if !self.lock().forfeit_at_fault(&self.issuers, &fault) {
                return TrustSnapshot::new(self.issuers.iter().map(without_roots).collect());
            }
        }
    }

    /// The keys of one issuer that may sign its list now.
    pub(crate) fn list_keys(&self, issuer: &IssuerId, now: Monotonic) -> Vec<(KeyId, PublicKey)> {
        let pages = self.lock();
        let mut issuers = self.issuers.iter().zip(&pages.sets);
        issuers
            .find(|(config, _)| config.id == *issuer)
            .map_or_else(Vec::new, |(config, sets)| list_keys(config, sets.list_keys.keys(now)))
    }

    /// What is to be told of each issuer's keys.
    pub(crate) fn report(&self, now: Monotonic) -> Vec<IssuerKeys> {
        let pages = self.lock();
        let report = self.issuers.iter().zip(&pages.sets).map(|(config, sets)| IssuerKeys {
            issuer: config.id.clone(),
            list_keys: list_keys(config, sets.list_keys.keys(now)).len(),
            age: sets.roots.age(now),
            fault: sets.roots.fault().or(sets.list_keys.fault()).map(ToString::to_string),
        });
        report.collect()
    }

    /// Keys that two issuers claim, in the words for a person (protocol K3).
    pub(crate) fn disputes(&self) -> Vec<String> {
        self.lock().owners.disputes().map(ToString::to_string).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn without_roots(config: &IssuerConfig) -> TrustedIssuer {
    TrustedIssuer {
        id: config.id.clone(),
        roots: Vec::new(),
        speaks: config.speaks.clone(),
        bearer: config.bearer,
    }
}

/// Published and pinned roots, each once, under the id that its issuer gives it.
fn roots(config: &IssuerConfig, published: &[(KeyId, PublicKey)]) -> Vec<RootKey> {
    let is_published =
        |root: &RootKey| published.iter().any(|(_, key)| key.as_bytes() == root.public_bytes());
    let pinned = config.roots.iter().map(PinnedRoot::key).filter(|root| !is_published(root));
    let published = published.iter().map(|(id, key)| RootKey::Ed25519 { id: id.clone(), key: *key });
    published.chain(pinned.cloned()).collect()
}

/// Published and pinned list keys, each once.
fn list_keys(config: &IssuerConfig, published: &[(KeyId, PublicKey)]) -> Vec<(KeyId, PublicKey)> {
    let is_published = |pinned: &&PinnedKey| published.iter().any(|(_, key)| *key == pinned.key);
    let pinned = config.list_keys.iter().filter(|pinned| !is_published(pinned));
    published.iter().cloned().chain(pinned.map(|pinned| (pinned.id.clone(), pinned.key))).collect()
}
