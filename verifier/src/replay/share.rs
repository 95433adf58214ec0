//! Who has how many proofs in the store: nobody may take more than its share (protocol P6).

use std::collections::HashMap;

/// The first 8 bytes of a key or digest. Should two owners ever have the same, they have one share together; a proof is
/// told from another by more.
pub(super) type Owner = u64;

/// The proofs of each owner, and the most that one may have.
#[derive(Debug)]
pub(super) struct Shares {
    held: HashMap<Owner, usize>,
    most: usize,
}

impl Shares {
    pub(super) fn new(most: usize) -> Shares {
        Shares { held: HashMap::new(), most }
    }

    /// Whether the owner has its share.
    pub(super) fn is_used_up(&self, owner: Owner) -> bool {
        self.held.get(&owner).is_some_and(|held| *held >= self.most)
    }

    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn take(&mut self, owner: Owner) {
        let held = self.held.entry(owner).or_default();
        *held = held.saturating_add(1);
    }

    pub(super) fn give_back(&mut self, owner: Owner) {
        let Some(held) = self.held.get_mut(&owner) else { return };
        *held = held.saturating_sub(1);
        if *held == 0 {
            self.held.remove(&owner);
        }
    }

    #[cfg(test)]
    pub(super) fn owners(&self) -> usize {
        self.held.len()
    }
}
