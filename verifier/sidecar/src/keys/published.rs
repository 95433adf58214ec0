//! One published key set as it ages (protocol K4): a pure state, told the time.

use std::time::Duration;

use pact_mandate::{KeyId, Monotonic, PublicKey, jwks::KeySet};
use pact_verifier::presented::UnverifiedHint;

use crate::{
    config::KeyBounds,
    keys::KeysFault,
    limits::{MAX_MISSES, MISS_MEMORY},
};

#[cfg(test)]
mod tests;

/// One set: fetched again past the soft bound, empty past the hard one.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    bounds: KeyBounds,
    held: Option<Held>,
    tried: Option<Monotonic>,
    /// When the fetch began that last brought a set that counted.
    counted: Option<Monotonic>,
    fault: Option<KeysFault>,
    asked: bool,
    misses: Vec<(UnverifiedHint, Monotonic)>,
}

#[derive(Clone, Debug)]
struct Held {
    keys: Vec<(KeyId, PublicKey)>,
    since: Monotonic,
}

impl Published {
    pub(crate) fn new(bounds: KeyBounds) -> Published {
        Published {
            bounds,
            held: None,
            tried: None,
            counted: None,
            fault: None,
            asked: false,
            misses: Vec::new(),
        }
    }

    /// The same set under other bounds. It is fetched anew as soon as the cooldown allows: what a fetch that was under way
    /// has brought since may be lost.
    pub(crate) fn under(&self, bounds: KeyBounds) -> Published {
        Published { bounds, asked: true, ..self.clone() }
    }

    /// The keys that count now: none before the first fetch and past the hard stop.
    pub(crate) fn keys(&self, now: Monotonic) -> &[(KeyId, PublicKey)] {
        match &self.held {
            Some(held) if now.since(held.since) < self.bounds.hard => &held.keys,
            _ => &[],
        }
    }

    /// Time since the set was last fetched.
    pub(crate) fn age(&self, now: Monotonic) -> Option<Duration> {
        self.held.as_ref().map(|held| now.since(held.since))
    }

    /// Everything that is held, whether or not it still counts.
    pub(crate) fn held(&self) -> &[(KeyId, PublicKey)] {
        self.held.as_ref().map_or(&[], |held| &held.keys)
    }

    /// When the fetch began that last brought a set that counted.
    pub(crate) fn counted(&self) -> Option<Monotonic> {
        self.counted
    }

    /// Why the last fetch brought nothing.
    pub(crate) fn fault(&self) -> Option<&KeysFault> {
        self.fault.as_ref()
    }

    /// How long until the next fetch. Both a failed fetch and one that a miss asked for wait out the cooldown.
    pub(crate) fn next_fetch(&self, now: Monotonic) -> Duration {
        let since = |earlier: Option<Monotonic>| earlier.map_or(Duration::MAX, |earlier| now.since(earlier));
        let wants = if self.asked || self.fault.is_some() {
            Duration::ZERO
        } else {
            self.bounds.soft.saturating_sub(since(self.held.as_ref().map(|held| held.since)))
        };
        wants.max(self.bounds.cooldown.saturating_sub(since(self.tried)))
    }

    /// How long until the set becomes empty, when it holds any key.
    pub(crate) fn until_hard_stop(&self, now: Monotonic) -> Option<Duration> {
        let left = self.bounds.hard.saturating_sub(self.age(now)?);
        (!left.is_zero()).then_some(left)
    }

    /// A fetch begins: at most one runs at a time, and the next waits out the cooldown.
    pub(crate) fn trying(&mut self, now: Monotonic) {
        self.tried = Some(now);
        self.asked = false;
    }

    /// A fetch brought a set that counts.
    pub(crate) fn took(&mut self, set: &KeySet, now: Monotonic) {
        self.held = Some(Held { keys: set.keys().to_vec(), since: now });
        self.counted = Some(self.tried.unwrap_or(now));
        self.fault = None;
    }

    /// A fetch brought nothing. Good keys are never thrown out for that; they age on.
    pub(crate) fn failed(&mut self, fault: KeysFault) {
        self.fault = Some(fault);
    }

    /// Lets go of the held set: somebody else's claim on a key of it has turned up (protocol K3).
    pub(crate) fn forfeit(&mut self, fault: KeysFault) {
        self.held = None;
        self.fault = Some(fault);
    }

    /// A credential names a root that nobody has (`hint`: what may be said of it). Whether this asks for an early fetch:
    /// each hint once for as long as it is remembered, and not while the memory is full.
    pub(crate) fn missed(&mut self, hint: UnverifiedHint, now: Monotonic) -> bool {
        self.misses.retain(|(_, since)| now.since(*since) < MISS_MEMORY);
        let is_known = self.misses.iter().any(|(known, _)| *known == hint);
        if is_known || self.misses.len() >= MAX_MISSES {
            return false;
        }
        self.misses.push((hint, now));
        self.asked = true;
        true
    }
}
