//! Biscuit Web Keys: a JSON array; `expires_at` absent rather than null, since no rotation is announced by date.

use pact_mandate::{KeyId, hex, jwks::KeySet};
use serde::Serialize;

use crate::keyring::biscuit_key_id;

#[derive(Serialize)]
struct WebKey<'a> {
    algorithm: &'static str,
    key_bytes: String,
    key_id: u32,
    issuer: &'a str,
    /// The JWK's name of the same key; readers pass over members that they do not know.
    kid: &'a KeyId,
}

/// The document of these keys.
pub(super) fn document(keys: &KeySet, issuer: &str) -> String {
    let items = keys.keys().iter().map(|(kid, key)| WebKey {
        algorithm: "ed25519",
        key_bytes: hex::encode(key.as_bytes()),
        key_id: biscuit_key_id(kid, key),
        issuer,
        kid,
    });
    // Serialising strings and a number into a string cannot fail.
    serde_json::to_string(&items.collect::<Vec<_>>()).unwrap_or_default()
}
