//! Mandates and what they are made of.

use std::collections::BTreeMap;

use pact_mandate::{
    Chain, Json, KeyId, Mandate, PublicKey, Signed, UnixTime, canonical, jwks::KeySet, signed::Prepared,
};

use super::{Answer, reason};
use crate::corpus;

/// A signed mandate, a mandate's payload, a key set or a JSON text, whichever it is; refused when it is none.
pub fn mandate(bytes: &[u8]) -> Answer {
    let answers = [envelope(bytes), payload(bytes), key_set(bytes), json(bytes)];
    let refused = answers.into_iter().find_map(Result::err);
    refused.map_or(Ok(()), Err)
}
