//! Keys that verify again and again: roots, and holders who call a tool server all day. For those, multiples of their
//! points are kept, which halves the time of a verification and changes no verdict.

use std::{
    hash::{BuildHasher, RandomState},
    sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError},
};

use ed25519_dalek::VerifyingKey;

use super::multiples::Multiples;
use crate::limits::{FAMILIAR_AFTER, MAX_FAMILIAR_KEYS};

/// The ones of this process. What is kept follows from public keys alone, so whoever verifies may share it.
pub(super) static FAMILIAR: LazyLock<FamiliarKeys> = LazyLock::new(FamiliarKeys::new);

/// A bounded number of keys, in sets; a key belongs to one set.
pub(super) struct FamiliarKeys {
    /// So that nobody chooses keys that push a certain other one out.
    hasher: RandomState,
    sets: Vec<Mutex<Set>>,
}

const WAYS: usize = 4;

#[derive(Default)]
struct Set {
    ways: [Way; WAYS],
    /// Which of them the next stranger weakens.
    hand: usize,
}

/// A key, and how often it verified of late.
#[derive(Default)]
struct Way {
    key: Option<VerifyingKey>,
    uses: u32,
    multiples: Option<Arc<Multiples>>,
}

impl FamiliarKeys {
    fn new() -> FamiliarKeys {
        let sets = (0..MAX_FAMILIAR_KEYS / WAYS).map(|_| Mutex::default());
        FamiliarKeys { hasher: RandomState::new(), sets: sets.collect() }
    }

    /// Multiples of −A, if the key is familiar.
    pub(super) fn multiples(&self, key: &VerifyingKey) -> Option<Arc<Multiples>> {
        self.set(key)?.way(key)?.multiples.clone()
    }

    /// Notes that a signature of the key verified. Only whoever has the key can bring that about.
    pub(super) fn verified(&self, key: &VerifyingKey) {
        if self.note(key) {
            let multiples = Arc::new(Multiples::of(-key.to_edwards()));
            self.keep(key, multiples);
        }
    }

    /// Whether the key has become familiar by this use.
    fn note(&self, key: &VerifyingKey) -> bool {
        let Some(mut set) = self.set(key) else { return false };
        let Some(way) = set.way(key) else {
            set.meet(key);
            return false;
        };
        way.uses = way.uses.saturating_add(1).min(2 * FAMILIAR_AFTER);
        way.uses >= FAMILIAR_AFTER && way.multiples.is_none()
    }

    fn keep(&self, key: &VerifyingKey, multiples: Arc<Multiples>) {
        let Some(mut set) = self.set(key) else { return };
        if let Some(way) = set.way(key) {
            way.multiples = Some(multiples);
        }
    }

    fn set(&self, key: &VerifyingKey) -> Option<MutexGuard<'_, Set>> {
        let sets = u64::try_from(self.sets.len()).ok()?;
        let place = self.hasher.hash_one(key.as_bytes()).checked_rem(sets)?;
        let set = self.sets.get(usize::try_from(place).ok()?)?;
        // Whatever was left there by a thread that died is a key and its own multiples, or none.
        Some(set.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Set {
    fn way(&mut self, key: &VerifyingKey) -> Option<&mut Way> {
        self.ways.iter_mut().find(|way| way.key == Some(*key))
    }

    /// A stranger weakens one key after the other, and takes the place of one that has lost all that it gained: so keys
    /// in use stay, and those that are used no more make room.
    fn meet(&mut self, key: &VerifyingKey) {
        self.hand = (self.hand + 1) % WAYS;
        let Some(way) = self.ways.get_mut(self.hand) else { return };
        match way.uses.checked_sub(1) {
            Some(uses) => way.uses = uses,
            None => *way = Way { key: Some(*key), uses: 1, multiples: None },
        }
    }
}

#[cfg(test)]
mod tests {
    use ed25519_dalek::SigningKey;

    use super::*;

    fn key(number: u32) -> VerifyingKey {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_be_bytes());
        SigningKey::from_bytes(&seed).verifying_key()
    }

    fn use_times(familiar: &FamiliarKeys, key: &VerifyingKey, times: u32) {
        (0..times).for_each(|_| familiar.verified(key));
    }

    #[test]
    fn a_key_is_familiar_after_some_uses() {
        let familiar = FamiliarKeys::new();
        use_times(&familiar, &key(1), FAMILIAR_AFTER - 1);
        assert!(familiar.multiples(&key(1)).is_none());
        use_times(&familiar, &key(1), 1);
        assert!(familiar.multiples(&key(1)).is_some());
        assert!(familiar.multiples(&key(2)).is_none());
    }

    #[test]
    fn many_strangers_do_not_push_out_a_key_in_use() {
        let familiar = FamiliarKeys::new();
        for stranger in 10..4000 {
            use_times(&familiar, &key(1), 1);
            use_times(&familiar, &key(stranger), 1);
        }
        assert!(familiar.multiples(&key(1)).is_some());
    }

    #[test]
    fn a_key_that_is_used_no_more_makes_room() {
        let familiar = FamiliarKeys { hasher: RandomState::new(), sets: vec![Mutex::default()] };
        (0..4).for_each(|old| use_times(&familiar, &key(old), 100));
        (0..400).for_each(|turn| use_times(&familiar, &key(10 + turn % 4), 1));
        let kept = |number: u32| familiar.multiples(&key(number)).is_some();
        assert!((10..14).all(kept) && !(0..4).any(kept));
    }

    #[test]
    fn the_number_of_keys_is_bounded() {
        let familiar = FamiliarKeys::new();
        let keys = 3 * u32::try_from(MAX_FAMILIAR_KEYS).unwrap();
        (0..keys).for_each(|number| use_times(&familiar, &key(number), FAMILIAR_AFTER));
        let kept = (0..keys).filter(|number| familiar.multiples(&key(*number)).is_some()).count();
        assert!(kept > 0 && kept <= MAX_FAMILIAR_KEYS, "{kept}");
    }
}
