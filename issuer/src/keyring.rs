//! The issuer's own keys: each with one role (protocol K1) and a life of four states (protocol K6).

mod board_keys;
mod entry;
mod rotation;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use pact_mandate::{
    KeyId, PublicKey, SecretKey, Signer, UnixTime,
    jwks::{KeySet, KeySetError},
    limits::MAX_KEYS,
};
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
    /// One more would make a set that no verifier takes.
    #[error(
        "{MAX_KEYS} {role} keys are published, and no verifier takes a set of more. {leaves}; or drop one at once, \
         with everything that it signed: pact-issuer revoke --key KEY",
        leaves = leaves(.first_to_leave.as_deref())
    )]
    Full {
        /// Whose set.
        role: Role,
        /// The key that is published no more before all others, if any has a date.
        first_to_leave: Option<Box<KeyEntry>>,
    },
    /// What would be published is not a set that verifiers take. It is not published.
    #[error("the {role} keys cannot be published: {fault}")]
    NotASet {
        /// Whose set.
        role: Role,
        /// Why not.
        fault: KeySetError,
    },
}

fn leaves(first: Option<&KeyEntry>) -> String {
    match first.and_then(|entry| Some((&entry.kid, entry.remove_at?))) {
        Some((kid, at)) => format!("The first to leave is {kid}, at {at}: wait for it"),
        None => "None of them has retired".to_owned(),
    }
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
        self.check_room(entry.role, entry.published_at)?;
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

    /// Whether one more key of a role can be published: a set that is too large would be refused as a whole (K3).
    fn check_room(&self, role: Role, now: UnixTime) -> Result<(), KeyringError> {
        let published = |entry: &&KeyEntry| entry.role == role && entry.state(now) != KeyState::Removed;
        let published: Vec<&KeyEntry> = self.entries.iter().filter(published).collect();
        if published.len() < MAX_KEYS {
            return Ok(());
        }
        let dated = published.into_iter().filter(|entry| entry.remove_at.is_some());
        let first_to_leave = dated.min_by_key(|entry| entry.remove_at).cloned().map(Box::new);
        Err(KeyringError::Full { role, first_to_leave })
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

    /// What is published of a role at `now`: the active key first, then the next one, then those that retire. Empty only
    /// when there is no such key.
    pub fn published(&self, role: Role, now: UnixTime) -> Result<KeySet, KeyringError> {
        let states = [KeyState::Active, KeyState::Next, KeyState::Retiring];
        let entries = states.iter().flat_map(|state| self.in_state(role, *state, now));
        let keys = entries.map(|entry| (entry.kid.clone(), entry.key)).collect();
        // There was room for each when it came, but a clock that stepped back brings removed ones back.
        KeySet::new(keys).map_err(|fault| KeyringError::NotASet { role, fault })
    }

    /// What verifies our own statements of a role at `now`: what signed them, and not yet what will.
    pub fn verifying(&self, role: Role, now: UnixTime) -> BTreeMap<KeyId, PublicKey> {
        let states = [KeyState::Active, KeyState::Retiring];
        by_id(states.iter().flat_map(|state| self.in_state(role, *state, now)))
    }

    /// Every key that ever signed in a role: only for reading old records, never for believing anything new.
    pub fn historical(&self, role: Role) -> BTreeMap<KeyId, PublicKey> {
        by_id(self.entries.iter().filter(|entry| entry.role == role))
    }

    fn in_state(&self, role: Role, state: KeyState, now: UnixTime) -> impl Iterator<Item = &KeyEntry> {
        self.entries.iter().filter(move |entry| entry.role == role && entry.state(now) == state)
    }
}

fn by_id<'a>(entries: impl Iterator<Item = &'a KeyEntry>) -> BTreeMap<KeyId, PublicKey> {
    entries.map(|entry| (entry.kid.clone(), entry.key)).collect()
}

/// The number by which a Biscuit names its root key: big-endian u32 of the first four bytes of SHA-256(public key).
pub fn biscuit_key_id(id: &KeyId, key: &PublicKey) -> u32 {
    RootKey::Ed25519 { id: id.clone(), key: *key }.biscuit_id()
}
