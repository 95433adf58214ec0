//! Who may see which tools: a chain that is verified and live. Its presenter proved nothing, so it sees and never calls.

use pact_mandate::Now;
use pact_revocation::Lists;

use crate::{
    chain::VerifiedChain,
    held, live,
    permit::carries,
    policy::Policy,
    refusal::{Class, Refusal},
};

/// A verified chain that no list stops, in whosever hands. It shows what its holder could call, and is no way to a permit.
#[derive(Debug)]
pub struct Viewer {
    chain: VerifiedChain,
    now: Now,
}

impl Viewer {
    /// Asks the chain's issuer's list, as for a call (protocol R3, R4); one that names no holder is for whoever has it only
    /// where trust says so (P8).
    pub(crate) fn of(chain: VerifiedChain, lists: &Lists, now: Now) -> Result<Viewer, Refusal> {
        if chain.holder().is_none() {
            held::check_bearer(&chain)?;
        }
        live::ask(&chain, lists, now)?;
        Ok(Viewer { chain, now })
    }

    /// The chain.
    pub fn chain(&self) -> &VerifiedChain {
        &self.chain
    }

    /// Whether some call of the tool could be permitted: nothing that all of them have in common is refused by the policy,
    /// by the issuer's remit or by the credential. An error means that this cannot be judged now.
    pub fn sees(&self, tool: &str, policy: &Policy) -> Result<bool, Refusal> {
        for prospect in policy.prospects(tool) {
            match carries(&self.chain, policy, tool, &prospect.judged, &prospect.open, self.now) {
                Ok(()) => return Ok(true),
                Err(refusal) if refusal.class() == Class::Unavailable => return Err(refusal),
                Err(_) => {}
            }
        }
        Ok(false)
    }
}
