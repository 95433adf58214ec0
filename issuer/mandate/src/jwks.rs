//! Published key sets: RFC 7517 documents with Ed25519 keys (RFC 8037), read strictly (protocol K3).

use std::collections::{BTreeMap, HashSet};

use serde::Serialize;

use crate::{
    json::{Json, JsonError},
    key::{KeyError, KeyId, PublicKey},
    limits::{MAX_KEY_SET_BYTES, MAX_KEYS},
    signed::KeyRing,
};

/// Keys by id, in the order of publication (the active one first).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeySet {
    keys: Vec<(KeyId, PublicKey)>,
}

/// Why a key set is refused, always as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeySetError {
    /// Longer than the bound.
    #[error("the key set is longer than {MAX_KEY_SET_BYTES} bytes")]
    TooLarge,
    /// More keys than the bound.
    #[error("the key set has more than {MAX_KEYS} keys")]
    TooMany,
    /// Not strict JSON.
    #[error("the key set is not JSON: {0}")]
    Json(#[from] JsonError),
    /// Not an object with an array `keys` of objects.
    #[error("the key set is not a JSON Web Key Set")]
    NotAKeySet,
    /// A secret was published.
    #[error("key {0} of the set has private members; treat it as stolen")]
    PrivateMember(usize),
    /// A key that says Ed25519 and is none.
    #[error("key {at} of the set: {fault}")]
    BadKey {
        /// Which key, from 0.
        at: usize,
        /// What is wrong.
        fault: KeyError,
    },
    /// A usable key without an id.
    #[error("key {0} of the set has no kid")]
    NoKeyId(usize),
    /// Two keys of one id, or one key twice.
    #[error("key {0} of the set repeats an earlier kid or key")]
    Duplicate(usize),
    /// Nothing to verify with.
    #[error("the key set has no usable Ed25519 signature key")]
    NoUsableKey,
}

#[derive(Serialize)]
struct Jwk<'a> {
    kty: &'static str,
    crv: &'static str,
    kid: &'a KeyId,
    #[serde(rename = "use")]
    usage: &'static str,
    alg: &'static str,
    x: String,
}

#[derive(Serialize)]
struct Document<'a> {
    keys: Vec<Jwk<'a>>,
}

impl KeySet {
    /// A set of these keys; refuses two of one id and one key twice.
    pub fn new(keys: Vec<(KeyId, PublicKey)>) -> Result<KeySet, KeySetError> {
        if keys.len() > MAX_KEYS {
            return Err(KeySetError::TooMany);
        }
        for (at, (id, key)) in keys.iter().enumerate() {
            if keys.iter().take(at).any(|(other_id, other)| other_id == id || other == key) {
                return Err(KeySetError::Duplicate(at));
            }
        }
        Ok(KeySet { keys })
    }

    /// Reads a published document. Keys of kinds that we do not use are passed over; a fault in one that we would use
    /// refuses the whole document.
    pub fn from_document(bytes: &[u8]) -> Result<KeySet, KeySetError> {
        if bytes.len() > MAX_KEY_SET_BYTES {
            return Err(KeySetError::TooLarge);
        }
        let document = Json::parse(bytes)?;
        let Some(Json::Array(items)) = document.get("keys") else { return Err(KeySetError::NotAKeySet) };
        if items.len() > MAX_KEYS {
            return Err(KeySetError::TooMany);
        }
        let mut keys = Vec::new();
        let mut ids = HashSet::new();
        for (at, item) in items.iter().enumerate() {
            keys.extend(read_key(at, item)?);
            // Also among keys that we pass over: another reader of the set might use those.
            if item.get("kid").is_some_and(|id| !ids.insert(id.as_str())) {
                return Err(KeySetError::Duplicate(at));
            }
        }
        if keys.is_empty() {
            return Err(KeySetError::NoUsableKey);
        }
        KeySet::new(keys)
    }

    /// The document that publishes the set: `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":…,"use":"sig","alg":"EdDSA","x":…}…]}`.
    pub fn to_document(&self) -> String {
        let keys = self.keys.iter().map(|(kid, key)| Jwk {
            kty: "OKP",
            crv: "Ed25519",
            kid,
            usage: "sig",
            alg: "EdDSA",
            x: key.to_string(),
        });
        // Serialising strings into a string cannot fail.
        serde_json::to_string(&Document { keys: keys.collect() }).unwrap_or_default()
    }

    /// The keys with their ids.
    pub fn keys(&self) -> &[(KeyId, PublicKey)] {
        &self.keys
    }

    /// Whether this key is in the set, under whatever id.
    pub fn contains(&self, key: &PublicKey) -> bool {
        self.keys.iter().any(|(_, other)| other == key)
    }

    /// By id.
    pub fn to_map(&self) -> BTreeMap<KeyId, PublicKey> {
        self.keys.iter().cloned().collect()
    }
}

impl KeyRing for KeySet {
    fn key(&self, id: &KeyId) -> Option<&PublicKey> {
        self.keys.iter().find(|(other, _)| other == id).map(|(_, key)| key)
    }
}

/// One key; `None` when it is of a kind or for a use that is not ours.
fn read_key(at: usize, item: &Json) -> Result<Option<(KeyId, PublicKey)>, KeySetError> {
    // RFC 7518 6.2.2, 6.3.2, 6.4.1; RFC 8037 2; `priv` of the AKP keys that newer drafts define.
    const PRIVATE: [&str; 9] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
    let members = item.members().ok_or(KeySetError::NotAKeySet)?;
    if members.iter().any(|member| PRIVATE.contains(&member.name.as_str())) {
        return Err(KeySetError::PrivateMember(at));
    }
    let says = |name: &str, wanted: &str| item.get(name).is_none_or(|value| value.as_str() == Some(wanted));
    let kind = |name: &str| item.get(name).and_then(Json::as_str);
    if kind("kty") != Some("OKP") || kind("crv") != Some("Ed25519") {
        return Ok(None);
    }
    let allows_verify = match item.get("key_ops") {
        None => true,
        Some(Json::Array(operations)) => {
            operations.iter().any(|operation| operation.as_str() == Some("verify"))
        }
        Some(_) => return Err(KeySetError::NotAKeySet),
    };
    if !says("use", "sig") || !(says("alg", "EdDSA") || says("alg", "Ed25519")) || !allows_verify {
        return Ok(None);
    }
    let bad = |fault| KeySetError::BadKey { at, fault };
    let key = kind("x").ok_or(bad(KeyError::NotAKey))?.parse().map_err(bad)?;
    let id = item.get("kid").ok_or(KeySetError::NoKeyId(at))?;
    let id = id.as_str().ok_or(bad(KeyError::NotAKeyId))?.parse().map_err(bad)?;
    Ok(Some((id, key)))
}

#[cfg(test)]
mod tests;
