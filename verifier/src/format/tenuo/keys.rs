//! The keys of one chain: each is decompressed once, however many warrants name it.

use pact_mandate::{PublicKey, key::KeyError};

/// Keys that were seen, in the order of the chain.
#[derive(Debug)]
pub(super) struct Keys(Vec<PublicKey>);

impl Keys {
    /// Begins with the root's key.
    pub(super) fn from_root(root: PublicKey) -> Keys {
        Keys(vec![root])
    }

    /// The key of these bytes; weak ones and those that are none are refused (protocol K5).
    pub(super) fn get(&mut self, bytes: &[u8; 32]) -> Result<PublicKey, KeyError> {
        if let Some(known) = self.0.iter().find(|key| key.as_bytes() == bytes) {
            return Ok(*known);
        }
        let key = PublicKey::from_bytes(bytes)?;
        self.0.push(key);
        Ok(key)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &PublicKey> {
        self.0.iter()
    }
}
