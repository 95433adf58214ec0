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
    receipt::ProofMark,
    replay::{ProofId, ReplayStore},
    verifier::{Known, Refused},
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
    ) -> Result<ActPermit, Refused> {
        let mut known = Known { chain: chain.clone(), proof: ProofMark::None, list: None };
        let mut climb = || {
            let proof = held::prove_act(&chain, proof, &act, audience, now)?;
            known.proof = ProofMark::Fresh;
            let asked = live::ask(&chain, lists, now)?;
            known.list = Some(asked);
            replay.record(&proof, now)?;
            Ok((proof, asked))
        };
        match climb() {
            Ok((proof, asked)) => Ok(ActPermit { chain, act, proof, asked }),
            Err(refusal) => Err(Refused { refusal, known: Some(Box::new(known)) }),
        }
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

    /// What the rungs found, for receipts. No act is done by a stock proof or by a bearer.
    pub fn known(&self) -> Known {
        Known { chain: self.chain.clone(), proof: ProofMark::Fresh, list: Some(self.asked) }
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
