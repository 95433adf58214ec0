//! Leave for one act on a session.

use pact_mandate::{KeyId, Now};
use pact_revocation::Lists;

use super::Act;
use crate::{
    chain::VerifiedChain,
    held,
    live::{self, AskedList},
    permit::Standing,
    proof::{Audience, PresentedProof},
    refusal::Refusal,
    replay::{ProofId, ReplayStore},
};

/// The holder of a verified, live chain proved that it means this act, and the proof counts once. It says whose key that is,
/// and nothing about whose the session is: that is for its keeper to say. It forwards no call: a [`crate::Permit`] is another
/// type.
#[derive(Debug)]
pub struct ActPermit {
    chain: VerifiedChain,
    act: Act,
    proof: ProofId,
    asked: AskedList,
}

impl ActPermit {
    /// Rungs 2 to 4 at once, in their order: the proof, the list, and last the record of the proof (protocol P6). Nothing
    /// stands between them, because neither policy nor scope has a say in an act.
    pub fn grant(
        chain: VerifiedChain,
        proof: &PresentedProof,
        act: Act,
        audience: &Audience,
        lists: &Lists,
        replay: &dyn ReplayStore,
        now: Now,
    ) -> Result<ActPermit, Refusal> {
        let proof = held::prove_act(&chain, proof, &act, audience, now)?;
        let asked = live::ask(&chain, lists, now)?;
        replay.record(&proof, now)?;
        Ok(ActPermit { chain, act, proof, asked })
    }

    /// What may be done.
    pub fn act(&self) -> &Act {
        &self.act
    }

    /// The chain whose holder means it.
    pub fn chain(&self) -> &VerifiedChain {
        &self.chain
    }

    /// The thumbprint of the key that proved itself.
    pub fn proven_by(&self) -> KeyId {
        self.proof.holder().thumbprint().into()
    }

    /// The proof that is used up.
    pub fn proof(&self) -> &ProofId {
        &self.proof
    }

    /// The list that was asked.
    pub fn list(&self) -> AskedList {
        self.asked
    }

    /// What to keep for a stream that outlives the permit (protocol R9).
    pub fn standing(&self) -> Standing {
        Standing::of_act(self.chain.presented().clone())
    }

    /// The act, for the one that does it; the permit is gone.
    pub fn into_act(self) -> Act {
        self.act
    }
}
