//! Which proofs were used, in memory: bounded as a whole and per holder, forgotten only after their end.

use std::collections::{BTreeMap, HashMap, hash_map};

use pact_mandate::UnixTime;
use sha2::{Digest, Sha256};

use super::{ProofId, ReplayFault};
use crate::limits::{FUTURE_SKEW_SECONDS, MAX_CLEARED_PER_CALL};

/// A used proof, as short as it can be told from any other: 128 bits of a SHA-256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    /// Of the holder's key and the proof's id, so that no holder can use up another's ids.
    pub(super) key: [u8; 16],
    /// Of the holder's key, for its share.
    pub(super) holder: [u8; 16],
    /// When the proof is refused for its age.
    pub(super) ends_at: UnixTime,
}

/// The bounds of a store.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) proofs: usize,
    pub(super) per_holder: usize,
}

#[derive(Debug)]
pub(super) struct Seen {
    /// What is used, with its end. An id can be used again after its end, so one that is read back may come twice.
    keys: HashMap<[u8; 16], UnixTime>,
    /// By the end of the proof.
    by_end: BTreeMap<UnixTime, Vec<Used>>,
    holders: HashMap<[u8; 16], usize>,
    /// The latest end of a proof that was forgotten. A wall clock that is set back finds it here (protocol T1).
    floor: UnixTime,
    bounds: Bounds,
}

impl Used {
    pub(super) fn of(proof: &ProofId) -> Used {
        let holder = proof.holder().as_bytes();
        let digest = Sha256::new().chain_update(holder).chain_update(proof.id()).finalize();
        Used { key: first_half(&digest.into()), holder: first_half(holder), ends_at: proof.ends_at() }
    }
}

fn first_half(bytes: &[u8; 32]) -> [u8; 16] {
    let mut half = [0; 16];
    half.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    half
}

impl Seen {
    pub(super) fn new(bounds: Bounds) -> Seen {
        Seen {
            keys: HashMap::new(),
            by_end: BTreeMap::new(),
            holders: HashMap::new(),
            floor: UnixTime::EPOCH,
            bounds,
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
        let (held, limit) = (self.holders.get(&used.holder).copied().unwrap_or(0), self.bounds.per_holder);
        if held >= limit {
            return Err(ReplayFault::QuotaReached { limit });
        }
        let limit = self.bounds.proofs;
        if self.keys.len() >= limit { Err(ReplayFault::Full { limit }) } else { Ok(()) }
    }

    /// Remembers it until its end, or the later end of an earlier one of its id.
    pub(super) fn insert(&mut self, used: Used) {
        match self.keys.entry(used.key) {
            hash_map::Entry::Occupied(held) if *held.get() >= used.ends_at => return,
            hash_map::Entry::Occupied(mut held) => {
                held.insert(used.ends_at);
            }
            hash_map::Entry::Vacant(free) => {
                free.insert(used.ends_at);
                let held = self.holders.entry(used.holder).or_default();
                *held = held.saturating_add(1);
            }
        }
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
        self.bounds.proofs
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
                Some(used) => forget(&mut self.keys, &mut self.holders, &used),
                None => {
                    bucket.remove();
                }
            }
        }
    }
}

fn forget(keys: &mut HashMap<[u8; 16], UnixTime>, holders: &mut HashMap<[u8; 16], usize>, used: &Used) {
    if keys.get(&used.key) != Some(&used.ends_at) {
        return;
    }
    keys.remove(&used.key);
    if let Some(held) = holders.get_mut(&used.holder) {
        *held = held.saturating_sub(1);
        if *held == 0 {
            holders.remove(&used.holder);
        }
    }
}
