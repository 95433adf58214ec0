//! Biscuit tokens (protocol C3).
//!
//! A token passes four judgements, each on the exact bytes: its structure (`admission`), its signatures up to a
//! trusted root (`signature`), its words and its end (`words`), and for each call the engine (`engine`).
//!
//! # What is admitted
//! The token stays the authority and the engine judges it; admission refuses only
//! - **work without a bound**: more bytes, blocks, statements, members, matches or steps than [`crate::limits`] says,
//!   rules that depend on themselves, regular expressions;
//! - **a token that speaks for the request or the issuer**: `tool`, `project`, `arg`, `time`, `operation` and
//!   `resource` facts anywhere, rules that make these or `holder`, `mandate`, `source`; two holders; a source outside
//!   the authority block; third-party blocks; `trusting` at any level; words that only a later block defines;
//! - **an answer by chance**: facts of one name and different types, rules that add to them, the value of an argument
//!   that is not named, lazy operators over more than one combination of facts, operators that fail on some values and
//!   not on others (arithmetic, `get`, `extern::`) or turn a failure into a pass (`try_or`);
//! - **what another decoder might read otherwise**: any second encoding, unknown fields and values, versions outside
//!   3 to 6 or below what a block uses, repeated words, control characters, null, maps, nested collections.
//!
//! Checks on facts of the authority block, `check all`, `reject if` and bounded rules are admitted: they cannot widen
//! what the authority block grants.

use std::fmt;

use biscuit_auth::Biscuit;
use pact_mandate::{Judged, UnixTime, hex, limits::MAX_LIFETIME_SECONDS};
use pact_revocation::Entry;

use super::{Authority, Opened};
use crate::{policy::Open, trust::TrustSnapshot};

mod admission;
mod defect;
mod engine;
mod envelope;
mod fault;
mod interest;
mod request;
mod signature;
mod symbols;
mod syntax;
#[cfg(test)]
mod tests;
mod wire;
mod words;

pub use defect::Defect;
pub use fault::{BiscuitFault, Place};

use self::{interest::Interest, signature::Verified, words::Words};

/// A verified token, ready for the engine.
pub(crate) struct Token {
    biscuit: Box<Biscuit>,
    ends: UnixTime,
    bounds_below: bool,
    interest: Interest,
}

impl Token {
    /// Whether every check passes and the authority block grants the call, as far as it is known.
    pub(crate) fn permits(&self, call: &Judged, open: &Open, now: UnixTime) -> Result<(), BiscuitFault> {
        if now >= self.ends {
            return Err(BiscuitFault::Expired { ended: self.ends });
        }
        let facts = request::facts(call, open, now, self.bounds_below)?;
        engine::judge(&self.biscuit, facts, |doubt| self.interest.is_certain(doubt, &call.action, open))
    }

    /// The arguments without which no call passes.
    pub(crate) fn limit_keys(&self) -> impl Iterator<Item = &str> {
        self.interest.limit_keys()
    }
}

impl fmt::Debug for Token {
    /// An open token holds a secret, so it is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("ends", &self.ends).finish_non_exhaustive()
    }
}

/// Judges a token's structure, then its signatures, then its life (protocol C3).
pub(crate) fn open(token: &[u8], trust: &TrustSnapshot, now: UnixTime) -> Result<Opened, BiscuitFault> {
    let admitted = admission::admit(token)?;
    let verified = signature::verify(token, &admitted.envelope, trust)?;
    let ends = judge_life(&admitted.words, now)?;
    let entries = entries(&admitted.words, &verified);
    let authority = verified.ids.first().ok_or(BiscuitFault::Unreadable)?;
    Ok(Opened {
        issuer: verified.root.issuer.id.clone(),
        root: verified.root.root.id().clone(),
        root_thumbprint: verified.root.root.thumbprint(),
        holder: admitted.words.holder,
        grant: Entry::of_block(authority),
        ids: verified.ids.iter().map(|id| hex::encode(id)).collect(),
        entries,
        expires_at: ends,
        source: admitted.words.source,
        authority: Authority::Biscuit(Token {
            biscuit: Box::new(verified.token),
            ends,
            bounds_below: admitted.bounds_below,
            interest: admitted.interest,
        }),
    })
}

/// Judges a token's structure alone: what any implementation can say about bytes without a key. Nothing is believed.
pub fn check_structure(token: &[u8]) -> Result<(), BiscuitFault> {
    admission::admit(token).map(|_| ())
}

fn judge_life(words: &Words, now: UnixTime) -> Result<UnixTime, BiscuitFault> {
    let ends = words.ends.ok_or(BiscuitFault::UnboundedExpiry)?;
    if now >= ends {
        return Err(BiscuitFault::Expired { ended: ends });
    }
    if ends.since(now) > MAX_LIFETIME_SECONDS {
        return Err(BiscuitFault::LivesTooLong { ends });
    }
    Ok(ends)
}

/// Everything by which a list could stop it (protocol R1, R3): blocks, mandates, root, holder.
fn entries(words: &Words, verified: &Verified<'_>) -> Vec<Entry> {
    let blocks = verified.ids.iter().map(|id| Entry::of_block(id));
    let mandates = words.mandates.iter().map(|id| Entry::of_mandate(*id));
    let root = verified.root.root.thumbprint().map(|key| Entry::of_key(&key));
    let holder = words.holder.map(|key| Entry::of_key(&key.thumbprint()));
    blocks.chain(mandates).chain(root).chain(holder).collect()
}
