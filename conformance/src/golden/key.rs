//! Keys and the files that hold and publish them.

use std::collections::BTreeMap;

use pact_mandate::{KeyId, PublicKey, SecretKey, Signer, jwks::KeySet};

use super::{Cases, Fault};

/// The key that signs the golden mandates: its seed is 32 bytes of 1.
pub fn mandate_key() -> Result<SecretKey, Fault> {
    Ok(SecretKey::from_seed(&[1; 32])?)
}

/// The key that signs the golden lists: its seed is 32 bytes of 2.
pub fn list_key() -> Result<SecretKey, Fault> {
    Ok(SecretKey::from_seed(&[2; 32])?)
}

/// The key of the golden holder: its seed is 32 bytes of 3.
pub fn holder_key() -> Result<SecretKey, Fault> {
    Ok(SecretKey::from_seed(&[3; 32])?)
}

/// The one key of `signer` by its id.
pub fn ring(signer: &SecretKey) -> BTreeMap<KeyId, PublicKey> {
    BTreeMap::from([(signer.key_id().clone(), *signer.public_key())])
}

pub(crate) fn cases() -> Result<Cases, Fault> {
    let key = mandate_key()?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("key");
    key.write_file(&path)?;
    let set = KeySet::new(vec![(key.key_id().clone(), *key.public_key())])?;
    Ok(Cases::from([
        ("key.file", std::fs::read_to_string(path)?),
        ("key.public", key.public_key().to_string()),
        ("key.thumbprint", key.public_key().thumbprint().to_string()),
        ("key.set", set.to_document()),
    ]))
}
