//! The agent: whoever has this key is the holder of what was granted to it.

use std::path::Path;

use pact_mandate::{PublicKey, SecretKey, Signature, Signer, key::KeyError, keyfile::KeyFileError};

use crate::error::SignError;

/// An agent's key. It is wiped when dropped and shows nothing of itself.
#[derive(Debug)]
pub struct Holder {
    key: SecretKey,
}

impl Holder {
    /// The holder of a new key, made of 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Result<Holder, KeyError> {
        Ok(Holder { key: SecretKey::from_seed(seed)? })
    }

    /// Reads the key from its file, which only the owner may read.
    pub fn read_file(path: &Path) -> Result<Holder, KeyFileError> {
        Ok(Holder { key: SecretKey::read_file(path)? })
    }

    /// Keeps the key in a new file of mode 0600. An existing file is refused and stays as it is.
    pub fn write_file(&self, path: &Path) -> Result<(), KeyFileError> {
        self.key.write_file(path)
    }

    /// What the issuer must know: credentials name it as their holder.
    pub fn public_key(&self) -> &PublicKey {
        self.key.public_key()
    }

    pub(crate) fn sign(&self, message: &[u8]) -> Result<Signature, SignError> {
        Ok(self.key.sign(message)?)
    }
}
