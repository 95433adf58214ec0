//! Which proofs were used, in memory: bounded as a whole, per holder and per grant, forgotten only after their end.

use std::collections::{BTreeMap, HashMap, hash_map};

use pact_mandate::UnixTime;
use sha2::{Digest, Sha256};

use super::{
    ProofId, ReplayFault,
    share::{Owner, Shares},
};
use crate::limits::{FUTURE_SKEW_SECONDS, MAX_CLEARED_PER_CALL};

/// What a proof is told from any other by: 128 bits of a SHA-256.
pub(super) type Key = (u64, u64);

/// A used proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    /// Of the holder's key and the proof's id, so that no holder can use up another's ids.
    pub(super) key: Key,
    /// Of the holder's key, for its share.
    pub(super) holder: Owner,
    /// Of what the root gave out first, for the share of all that hangs from it.
    pub(super) grant: Owner,
    /// When the proof is refused for its age.
    pub(super) ends_at: UnixTime,
}

/// The bounds of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) proofs: usize,
    pub(super) per_holder: usize,
    pub(super) per_grant: usize,
}

#[derive(Debug)]
pub(super) struct Seen {
    /// What is used, with its end. An id can be used again after its end, so one that is read back may come twice.
    keys: HashMap<Key, UnixTime>,
    /// By the end of the proof.
    by_end: BTreeMap<UnixTime, Vec<Used>>,
    holders: Shares,
    grants: Shares,
    /// The latest end of a proof that was forgotten. A wall clock that is set back finds it here (protocol T1).
    floor: UnixTime,
    limit: usize,
}

impl Used {
    pub(super) fn of(proof: &ProofId) -> Used {
        let [holder, more, ..]: [u64; 4] = words(proof.holder().as_bytes());
        let [id, more_id, ..]: [u64; 4] = words(proof.id());
        // One block of SHA-256: half of each is as hard to meet as the half of the digest that is kept.
        let halves = [holder, more, id, more_id].map(u64::to_be_bytes);
        let [key, more_key, ..]: [u64; 4] = words(&Sha256::digest(halves.as_flattened()));
        let [grant, _] = words(proof.grant().as_bytes());
        Used { key: (key, more_key), holder, grant, ends_at: proof.ends_at() }
    }
}

/// So many bytes as numbers of 8 each.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> [u64; N] {
    let mut words = [0; N];
    let (chunks, _) = bytes.as_chunks();
    words.iter_mut().zip(chunks).for_each(|(word, chunk)| *word = u64::from_be_bytes(*chunk));
    words
}

impl Seen {
    pub(super) fn new(bounds: Bounds) -> Seen {
        Seen {
            keys: HashMap::new(),
            by_end: BTreeMap::new(),
            holders: Shares::new(bounds.per_holder),
            grants: Shares::new(bounds.per_grant),
            floor: UnixTime::EPOCH,
            limit: bounds.proofs,
        }
    }

    /// Whether the proof may be used now. It changes nothing but what has ended.
    pub(super) fn judge(&mut self, used: &Used, now: UnixTime) -> Result<(), ReplayFault> {
        self.clear(now);
        if used.ends_at <= self.floor {
            return Err(ReplayFault::Forgotten { ends_at: used.ends_at, floor: self.floor });
        }
        if self.keys.contains_key(&used.key) {
            return Err(ReplayFault::Replayed);
        }
        if self.holders.is_used_up(used.holder) {
            return Err(ReplayFault::QuotaReached { limit: self.holders.most() });
        }
        if self.grants.is_used_up(used.grant) {
            return Err(ReplayFault::GrantQuotaReached { limit: self.grants.most() });
        }
        let limit = self.limit;
        if self.keys.len() >= limit { Err(ReplayFault::Full { limit }) } else { Ok(()) }
    }

    /// Remembers it until its end. Of an id that is read back twice the later end counts; the earlier record has its
    /// part of the shares until it is cleared away.
    pub(super) fn insert(&mut self, used: Used) {
        match self.keys.entry(used.key) {
            hash_map::Entry::Occupied(held) if *held.get() >= used.ends_at => return,
            hash_map::Entry::Occupied(mut held) => {
                held.insert(used.ends_at);
            }
            hash_map::Entry::Vacant(free) => {
                free.insert(used.ends_at);
            }
        }
        self.holders.take(used.holder);
        self.grants.take(used.grant);
        self.by_end.entry(used.ends_at).or_default().push(used);
    }

    /// Raises the floor: all that ended up to there counts as forgotten.
    pub(super) fn raise_floor(&mut self, floor: UnixTime) {
        self.floor = self.floor.max(floor);
    }

    pub(super) fn floor(&self) -> UnixTime {
        self.floor
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Forgets what ended, a bounded number at a time. A proof is kept for the accepted skew past its end, so that a
    /// clock that is set back by less than that refuses no honest one.
    fn clear(&mut self, now: UnixTime) {
        for _ in 0..MAX_CLEARED_PER_CALL {
            let Some(mut bucket) = self.by_end.first_entry() else { return };
            let end = *bucket.key();
            if now < end.plus(FUTURE_SKEW_SECONDS) {
                return;
            }
            self.floor = self.floor.max(end);
            match bucket.get_mut().pop() {
                Some(used) => self.forget(&used),
                None => {
                    bucket.remove();
                }
            }
        }
    }

    fn forget(&mut self, used: &Used) {
        if let hash_map::Entry::Occupied(held) = self.keys.entry(used.key)
            && *held.get() == used.ends_at
        {
            held.remove();
        }
        self.holders.give_back(used.holder);
        self.grants.give_back(used.grant);
    }
}

#[cfg(test)]
impl Seen {
    /// Of how many holders and grants something is remembered.
    pub(super) fn owners(&self) -> (usize, usize) {
        (self.holders.owners(), self.grants.owners())
    }
}
