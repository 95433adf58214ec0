//! Tenuo warrant stacks: an own strict judge of them (protocol C2). The format's crate is only asked in tests.

use pact_mandate::{PublicKey, UnixTime, hex};
use pact_revocation::Entry;

use super::{Authority, Opened};
use crate::trust::TrustSnapshot;

mod capability;
mod chain;
mod constraint;
mod effort;
mod envelope;
mod extensions;
mod fault;
mod fields;
mod glob;
mod keys;
mod leaf;
mod link;
mod names;
mod network;
mod range;
mod subpath;
#[cfg(test)]
mod tests;
mod value;
mod warrant;

pub use fault::{CallFault, FormFault, LinkFault, Misformed, StackFault, TenuoFault};
pub(crate) use leaf::Leaf;
pub(crate) use value::{Figure, InexactNumber};

use chain::Chain;

/// Judges a stack of warrants, root first: one encoding each, every signature up to a pinned root of an issuer that
/// speaks for Tenuo, every link no wider than the one before, all of them alive at `now`.
pub(crate) fn open(stack: &[u8], trust: &TrustSnapshot, now: UnixTime) -> Result<Opened, TenuoFault> {
    let chain = Chain::open(stack, trust, now)?;
    let keys = chain.keys.iter().map(|key| Entry::of_key(&key.thumbprint()));
    let root_thumbprint = chain.keys.iter().next().map(PublicKey::thumbprint);
    // After the root's own key; a root that keeps the warrant is its only holder.
    let granted_to = chain.keys.iter().nth(1).unwrap_or(&chain.holder);
    Ok(Opened {
        issuer: chain.issuer.clone(),
        root: chain.root.clone(),
        root_thumbprint,
        holder: Some(chain.holder),
        grant: Entry::of_key(&granted_to.thumbprint()),
        ids: chain.ids.iter().map(text_of).collect(),
        entries: chain.ids.iter().map(Entry::of_warrant).chain(keys).collect(),
        // A child never outlives its parent, so the leaf ends first. Every link's end was found to be a time.
        expires_at: UnixTime::try_from(chain.leaf.expires_at).unwrap_or(now),
        source: chain.source.clone(),
        authority: Authority::Tenuo(Leaf::of(chain)),
    })
}

/// An id as Tenuo writes it.
fn text_of(id: &[u8; 16]) -> String {
    format!("tnu_wrt_{}", hex::encode(id))
}
