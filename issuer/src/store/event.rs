//! What can happen: the lines of the journal.

use pact_mandate::{IssuerId, UnixTime};
use serde::{Deserialize, Serialize};

use super::LeftOut;
use crate::{
    keyring::KeyEntry,
    record::{CredentialRecord, MandateRecord},
    revoke::Revocation,
};

/// One transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The folder was made.
    Opened(Settings),
    /// A key was announced.
    Key(KeyEntry),
    /// Keys changed their state together.
    KeysChanged(Vec<KeyEntry>),
    /// A mandate was minted or delegated.
    Mandate(MandateRecord),
    /// A credential is about to leave.
    Credential(CredentialRecord),
    /// Something was revoked.
    Revocation(Revocation),
    /// Lines before this one were left out.
    LeftOut(LeftOut),
}

/// What stays as it is for the life of a data folder, and the keys that it began with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The issuer's name, as verifiers configure it.
    pub issuer: IssuerId,
    /// Seconds for which a published key set may be cached; a next key waits that long.
    pub key_cache: u64,
    /// The first keys.
    pub keys: Vec<KeyEntry>,
}

/// A line of the journal: canonical JSON and a line feed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    /// When.
    pub(super) at: UnixTime,
    /// What.
    pub(super) event: Event,
    /// Its number, from 0: none is missing.
    pub(super) n: u64,
}
