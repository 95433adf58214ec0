//! Chains that were verified before, so that the same bytes need not be verified again (protocol C7).

use std::{sync::Arc, time::Duration};

use moka::sync::Cache;
use pact_mandate::{Format, Monotonic, Now, UnixTime};

use crate::{format::Opened, presented::Presented, trust::TrustSnapshot};

/// Successes only, bounded by size. A refusal is found again each time: it may be ours to repair.
pub struct ChainCache {
    chains: Cache<CacheKey, Entry>,
}

/// The exact bytes, and the trust under which they were verified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CacheKey {
    bytes: [u8; 32],
    trust: [u8; 32],
    format: Format,
}

/// A chain and the end of its time by either clock: a wall clock that is set back lengthens no life (protocol T1).
#[derive(Clone)]
struct Entry {
    opened: Arc<Opened>,
    ends: UnixTime,
    verified: Monotonic,
    lasts: Duration,
    weight: u32,
}

impl CacheKey {
    pub(crate) fn of(presented: &Presented, trust: &TrustSnapshot) -> CacheKey {
        CacheKey { bytes: *presented.digest(), trust: *trust.digest(), format: presented.format() }
    }
}

impl ChainCache {
    /// An empty cache for about that many bytes.
    pub fn new(bytes: u64) -> ChainCache {
        let chains = Cache::builder().max_capacity(bytes).weigher(|_, entry: &Entry| entry.weight).build();
        ChainCache { chains }
    }

    /// The chain, if its time has not ended at `now`. Its end is judged here and not by the cache's own clock.
    pub(crate) fn get(&self, key: &CacheKey, now: Now) -> Option<Arc<Opened>> {
        let entry = self.chains.get(key)?;
        if now.wall < entry.ends && now.monotonic.since(entry.verified) < entry.lasts {
            return Some(entry.opened);
        }
        self.chains.invalidate(key);
        None
    }

    pub(crate) fn insert(&self, key: CacheKey, opened: &Arc<Opened>, presented: &Presented, now: Now) {
        let entry = Entry {
            ends: opened.expires_at,
            lasts: Duration::from_secs(opened.expires_at.since(now.wall)),
            verified: now.monotonic,
            weight: weight(presented),
            opened: Arc::clone(opened),
        };
        self.chains.insert(key, entry);
    }

    /// How many chains it holds, about.
    pub fn len(&self) -> u64 {
        self.chains.run_pending_tasks();
        self.chains.entry_count()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// About what a chain costs in memory: its parsed form is a few times its bytes, and each entry has a fixed part.
fn weight(presented: &Presented) -> u32 {
    u32::try_from(presented.bytes().len()).unwrap_or(u32::MAX).saturating_mul(4).saturating_add(1024)
}
