//! The one thing that may be handed on or exported: a chain that holds, none of whose links was revoked.

use std::collections::BTreeMap;

use pact_mandate::{
    Authentic, Chain, KeyId, KeyRing, Mandate, MandateId, PublicKey, UnixTime, chain::ChainError,
};

use crate::{limits::ISSUE_SKEW_SECONDS, record::MandateRecord};

/// A chain of mandates that was verified from its records: signatures, links, narrowing and lifetimes, and no link of
/// it revoked. Made by [`UnrevokedChain::verify`] alone.
#[derive(Clone, Debug)]
pub struct UnrevokedChain(Chain);

/// Why records make no chain to build on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotUnrevoked {
    /// A link does not hold.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A link was revoked.
    #[error("mandate {mandate} was revoked at {at}, and everything below it with it; mint or delegate anew")]
    Revoked {
        /// Which mandate.
        mandate: MandateId,
        /// When.
        at: UnixTime,
    },
    /// A record says another thing than the mandate in it.
    #[error(
        "the record of mandate {0} does not agree with the signed mandate in it; the records are damaged"
    )]
    RecordMismatch(MandateId),
}

impl UnrevokedChain {
    /// Judges the records, root first, under the issuer's own mandate keys.
    pub fn verify(
        records: &[MandateRecord],
        keys: &impl KeyRing,
        now: UnixTime,
    ) -> Result<UnrevokedChain, NotUnrevoked> {
        let links = records.iter().map(|record| record.signed.clone()).collect();
        let chain = Chain::verify(links, keys, now, ISSUE_SKEW_SECONDS)?;
        for (record, link) in records.iter().zip(chain.links()) {
            let stated = MandateRecord { revoked_at: record.revoked_at, ..MandateRecord::from(link) };
            if stated != *record {
                return Err(NotUnrevoked::RecordMismatch(record.id));
            }
            if let Some(at) = record.revoked_at {
                return Err(NotUnrevoked::Revoked { mandate: record.id, at });
            }
        }
        Ok(UnrevokedChain(chain))
    }

    /// The chain.
    pub fn chain(&self) -> &Chain {
        &self.0
    }
}

/// Judges a chain whose last link was just signed, from its bytes, as a stranger would: nothing leaves unread.
pub(crate) fn judge_again<'a>(
    links: impl Iterator<Item = &'a Authentic<Mandate>>,
    leaf: &'a Authentic<Mandate>,
) -> Result<(), ChainError> {
    let mut keys: BTreeMap<KeyId, PublicKey> = BTreeMap::new();
    let mut signed = Vec::new();
    for link in links.chain(std::iter::once(leaf)) {
        keys.insert(link.key_id().clone(), *link.key());
        signed.push(link.signed().clone());
    }
    let now = leaf.statement().validity().not_before;
    Chain::verify(signed, &keys, now, ISSUE_SKEW_SECONDS).map(drop)
}
