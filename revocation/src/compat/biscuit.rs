//! The board's Biscuit list: `{"payload":TEXT,"signature":"ed25519:<kid>:<base64url>"}` where TEXT is the canonical JSON
//! `{"format":"biscuit","issued_at":"YYYY-MM-DDTHH:MM:SSZ","revoked":[hex…],"version":n}` and the signature is over TEXT.
//!
//! An id is the lower-case hex of a block's signature: 64 bytes of Ed25519, or of P-256 either r‖s or the DER that a token
//! carries. It does not say which, and a P-256 signature has a twin that holds as well (s and n − s). Whatever block an id
//! may name is revoked, under the form that is looked up (protocol K5, R1: P-256 as low-s r‖s).

use pact_mandate::{
    KeyRing, Signed, Signer, Statement, UnixTime, hex,
    signed::{Prepared, SignedError},
};
use serde::{Deserialize, Serialize};

use super::CompatibleList;
use crate::{entry::Entry, limits::MAX_COMPATIBLE_ENTRIES, list::ListVersion, low_s::LowS};

/// What a Biscuit list says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BiscuitList {
    format: String,
    #[serde(with = "whole_seconds")]
    issued_at: UnixTime,
    revoked: Vec<String>,
    version: ListVersion,
}

/// Why a Biscuit list is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BiscuitListError {
    /// Not such a list, or not signed by a key that is pinned for this issuer.
    #[error("{0}")]
    Signed(#[from] SignedError),
    /// More ids than the bound.
    #[error("more than {MAX_COMPATIBLE_ENTRIES} ids")]
    TooMany,
    /// An id in a spelling that would revoke nothing.
    #[error(
        "revoked id {at} is not the lower-case hex of a block's Ed25519 or P-256 signature, so it would revoke nothing"
    )]
    Id {
        /// Which one, from 0.
        at: usize,
    },
}

impl BiscuitList {
    /// The list of these blocks, each named by its signature.
    pub fn new<'a>(
        version: ListVersion,
        issued_at: UnixTime,
        blocks: impl IntoIterator<Item = &'a [u8]>,
    ) -> BiscuitList {
        let revoked = blocks.into_iter().map(hex::encode).collect();
        BiscuitList { format: BiscuitList::TYP.to_owned(), issued_at, revoked, version }
    }

    /// The signed list as it travels.
    pub fn sign(self, signer: &dyn Signer) -> Result<Vec<u8>, SignedError> {
        Prepared::new(self)?.sign(signer)?.signed().to_bytes()
    }

    /// Reads a list that one of `keys` signed.
    pub fn open(bytes: &[u8], keys: &impl KeyRing) -> Result<CompatibleList, BiscuitListError> {
        let list = Signed::<BiscuitList>::from_bytes(bytes)?.open(keys)?;
        let key = list.key().thumbprint();
        let list = list.statement();
        if list.revoked.len() > MAX_COMPATIBLE_ENTRIES {
            return Err(BiscuitListError::TooMany);
        }
        let mut entries = Vec::with_capacity(list.revoked.len());
        for (at, id) in list.revoked.iter().enumerate() {
            let signature = hex::decode(id).ok_or(BiscuitListError::Id { at })?;
            let before = entries.len();
            entries.extend(entries_of(&signature));
            if entries.len() == before {
                return Err(BiscuitListError::Id { at });
            }
        }
        Ok(CompatibleList { key, version: list.version, issued_at: list.issued_at, entries })
    }
}

/// The blocks that an id may name; none when it is no signature.
fn entries_of(id: &[u8]) -> impl Iterator<Item = Entry> {
    let as_it_is = (id.len() == 64).then(|| Entry::of_block(id));
    let low = [LowS::from_fixed(id), LowS::from_der(id)].into_iter().flatten();
    let low = low.map(|low| Entry::of_block(low.as_bytes())).filter(move |low| Some(*low) != as_it_is);
    as_it_is.into_iter().chain(low)
}

impl Statement for BiscuitList {
    /// The board's lists have no `typ`; their `format` plays its part. No statement of ours has such a member.
    const TYP: &'static str = "biscuit";
    const MAX_BYTES: usize = 16 * 1024 * 1024;

    fn typ(&self) -> &str {
        &self.format
    }

    fn crit(&self) -> &[String] {
        &[]
    }
}

/// `YYYY-MM-DDTHH:MM:SSZ`, and no other spelling of the time: reading one back gives the same bytes, or the list is refused.
mod whole_seconds {
    use pact_mandate::UnixTime;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
    pub(super) fn serialize<S: Serializer>(time: &UnixTime, serializer: S) -> Result<S::Ok, S::Error> {
        time.rfc3339().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UnixTime, D::Error> {
        let text = String::deserialize(deserializer)?;
        UnixTime::from_rfc3339(&text).ok_or_else(|| D::Error::custom("not an RFC 3339 time"))
    }
}
