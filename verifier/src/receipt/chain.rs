//! What a receipt says of a credential, from what the ladder of trust found.

use pact_mandate::KeyId;

use super::{Credential, Hex, ListAsked, Unverified};
use crate::{chain::VerifiedChain, live::AskedList, presented::UnverifiedHint};

impl Credential {
    /// Of a verified chain. Nobody need have proven to hold it.
    pub fn of(chain: &VerifiedChain) -> Credential {
        Credential {
            format: chain.format(),
            holder: chain.holder().map(|key| key.thumbprint().into()),
            ids: chain.ids().to_vec(),
            issuer: chain.issuer().clone(),
            root: chain.root_thumbprint().map_or_else(|| chain.root().clone(), KeyId::from),
            source: chain.source().cloned(),
        }
    }
}

impl From<AskedList> for ListAsked {
    fn from(asked: AskedList) -> ListAsked {
        ListAsked { age: asked.age.as_secs(), version: asked.version.get() }
    }
}

impl From<UnverifiedHint> for Unverified {
    fn from(hint: UnverifiedHint) -> Unverified {
        Unverified {
            bytes: u64::try_from(hint.bytes()).unwrap_or(u64::MAX),
            format: hint.format(),
            sha256: Hex(hint.fingerprint()),
        }
    }
}
