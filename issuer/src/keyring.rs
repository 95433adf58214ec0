//! The issuer's own keys: each with one role (protocol K1) and a life of four states (protocol K6).

mod board_keys;
mod entry;
mod rotation;

#[cfg(test)]
mod tests;

use pact_mandate::{KeyId, PublicKey, SecretKey, Signer, UnixTime, jwks::KeySet};
use pact_verifier::RootKey;

pub use board_keys::{BoardKeysError, derived_key, parse_board_keys};
pub use entry::{Algorithm, KeyEntry, KeyState, Role};
pub use rotation::RotationError;

/// All keys of an issuer, of every role and state. Removed ones stay, so that no name or number is ever used again.
#[derive(Debug, Default)]
pub struct Keyring {
    entries: Vec<KeyEntry>,
    secrets: Vec<SecretKey>,
}

/// Why keys do not make a keyring, or give no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    /// K1: one key, one role; and a name is never used again.
    #[error("the key or key id {0} is in the keyring already; make a new key")]
    Duplicate(KeyId),
    /// Two mandate keys would share their Biscuit number.
    #[error("the keys {first} and {second} have the same Biscuit key id {number}; make another key")]
    BiscuitIdCollision {
        /// The one.
        first: KeyId,
        /// The other.
        second: KeyId,
        /// The number.
        number: u32,
    },
    /// More than one signs.
    #[error("two {0} keys are active; exactly one may sign")]
    TwoActive(Role),
    /// Nothing to sign with.
    #[error("no {0} key is active; run `pact-issuer keys rotate --role {0}`")]
    NoActive(Role),
    /// The public half is known, the secret one is not at hand.
    #[error("the secret of key {0} is not at hand; restore its file in the folder `keys`")]
    NoSecret(KeyId),
    /// No key of that name or value.
    #[error("no key {0} is in the keyring; `pact-issuer keys` lists them")]
    Unknown(String),
}

impl Keyring {
    /// A keyring of these entries, without secrets so far.
    pub fn new(entries: Vec<KeyEntry>) -> Result<Keyring, KeyringError> {
        let mut keyring = Keyring::default();
        for entry in entries {
            keyring.insert(entry)?;
        }
        Ok(keyring)
    }

    /// Adds a key.
    pub fn insert(&mut self, entry: KeyEntry) -> Result<(), KeyringError> {
        self.check(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    /// Puts a key's changed dates in the place of the old ones.
    pub fn replace(&mut self, entry: KeyEntry) -> Result<(), KeyringError> {
        let old = self.entries.iter_mut().find(|old| old.kid == entry.kid && old.key == entry.key);
        let old = old.ok_or_else(|| KeyringError::Unknown(entry.kid.to_string()))?;
        *old = entry;
        let active =
            |role| self.entries.iter().filter(|entry| entry.role == role && entry.is_active()).count();
        match Role::ALL.into_iter().find(|role| active(*role) > 1) {
            Some(role) => Err(KeyringError::TwoActive(role)),
            None => Ok(()),
        }
    }

    fn check(&self, entry: &KeyEntry) -> Result<(), KeyringError> {
        for other in &self.entries {
            if other.kid == entry.kid || other.key == entry.key {
                return Err(KeyringError::Duplicate(entry.kid.clone()));
            }
            if other.role == entry.role && other.is_active() && entry.is_active() {
                return Err(KeyringError::TwoActive(entry.role));
            }
            let number = biscuit_key_id(&entry.kid, &entry.key);
            let both_mint = other.role == Role::Mandate && entry.role == Role::Mandate;
            if both_mint && biscuit_key_id(&other.kid, &other.key) == number {
                let (first, second) = (other.kid.clone(), entry.kid.clone());
                return Err(KeyringError::BiscuitIdCollision { first, second, number });
            }
        }
        Ok(())
    }

    /// Adds the secret half of a key that is known here; its name becomes the one it has here.
    pub fn unlock(&mut self, secret: SecretKey) -> Result<(), KeyringError> {
        let public = *secret.public_key();
        let entry = self.entries.iter().find(|entry| entry.key == public);
        let kid = entry.ok_or_else(|| KeyringError::Unknown(public.to_string()))?.kid.clone();
        self.secrets.push(secret.named(kid));
        Ok(())
    }

    /// All keys, in the order in which they came.
    pub fn entries(&self) -> &[KeyEntry] {
        &self.entries
    }

    /// The key of that name or of that public half.
    pub fn find(&self, text: &str) -> Option<&KeyEntry> {
        self.entries.iter().find(|entry| entry.kid.as_str() == text || entry.key.to_string() == text)
    }

    /// The key that signs in this role.
    pub fn active(&self, role: Role) -> Result<&KeyEntry, KeyringError> {
        let found = self.entries.iter().find(|entry| entry.role == role && entry.is_active());
        found.ok_or(KeyringError::NoActive(role))
    }

    /// The secret half of the key that signs in this role.
    pub fn signer(&self, role: Role) -> Result<&SecretKey, KeyringError> {
        let active = self.active(role)?;
        let secret = self.secrets.iter().find(|secret| *secret.public_key() == active.key);
        secret.ok_or_else(|| KeyringError::NoSecret(active.kid.clone()))
    }

    /// What is published of a role at `now`: the active key first, then the next one, then those that retire.
    pub fn published(&self, role: Role, now: UnixTime) -> KeySet {
        self.in_states(role, now, &[KeyState::Active, KeyState::Next, KeyState::Retiring])
    }

    /// What verifies our own statements of a role at `now`: what signed them, and not yet what will.
    pub fn verifying(&self, role: Role, now: UnixTime) -> KeySet {
        self.in_states(role, now, &[KeyState::Active, KeyState::Retiring])
    }

    /// Every key that ever signed in a role: only for reading old records, never for believing anything new.
    pub fn historical(&self, role: Role) -> KeySet {
        Keyring::set(self.entries.iter().filter(|entry| entry.role == role))
    }

    fn in_states(&self, role: Role, now: UnixTime, states: &[KeyState]) -> KeySet {
        let in_state =
            |state| self.entries.iter().filter(move |entry| entry.role == role && entry.state(now) == state);
        Keyring::set(states.iter().flat_map(|state| in_state(*state)))
    }

    fn set<'a>(entries: impl Iterator<Item = &'a KeyEntry>) -> KeySet {
        // No two entries share a name or a key, so this set is always one.
        KeySet::new(entries.map(|entry| (entry.kid.clone(), entry.key)).collect()).unwrap_or_default()
    }
}

/// The number by which a Biscuit names its root key: big-endian u32 of the first four bytes of SHA-256(public key).
pub fn biscuit_key_id(id: &KeyId, key: &PublicKey) -> u32 {
    RootKey::Ed25519 { id: id.clone(), key: *key }.biscuit_id()
}
