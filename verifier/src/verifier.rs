//! The one front door: for calls, and for acts on the sessions in which they are made.

use std::sync::Arc;

use pact_mandate::{Call, Now};
use pact_revocation::Lists;

use crate::{
    act::{Act, ActPermit},
    cache::ChainCache,
    chain::VerifiedChain,
    held::HeldChain,
    live::{AskedList, LiveChain},
    permit::{Permit, Standing},
    policy::Policy,
    presented::Presented,
    proof::{Audience, PresentedProof},
    receipt::ProofMark,
    refusal::Refusal,
    replay::ReplayStore,
    trust::TrustSnapshot,
    viewer::Viewer,
};

/// Everything a call is judged by, except the lists and the moment, which change from call to call.
#[derive(Clone)]
pub struct Verifier {
    trust: Arc<TrustSnapshot>,
    policy: Arc<Policy>,
    audience: Audience,
    replay: Arc<dyn ReplayStore>,
    cache: Arc<ChainCache>,
}

/// A refusal, and what was known of the call by then.
#[derive(Debug)]
pub struct Refused {
    /// Why.
    pub refusal: Refusal,
    /// What had been verified; `None` when rung 1 was not reached. It permits nothing.
    pub known: Option<Box<Known>>,
}

/// What the rungs below the one that refused had found.
#[derive(Debug)]
pub struct Known {
    /// Rung 1.
    pub chain: VerifiedChain,
    /// Rung 2: [`ProofMark::None`] when it was not reached.
    pub proof: ProofMark,
    /// Rung 3: the list that was asked and named nothing of it.
    pub list: Option<AskedList>,
}

impl Verifier {
    /// Takes the parts together. Trust and policy are immutable: a change of either is another verifier
    /// ([`Verifier::with_trust`], [`Verifier::with_policy`]), while replay store and cache stay the same.
    pub fn new(
        trust: Arc<TrustSnapshot>,
        policy: Arc<Policy>,
        audience: Audience,
        replay: Arc<dyn ReplayStore>,
        cache: Arc<ChainCache>,
    ) -> Verifier {
        Verifier { trust, policy, audience, replay, cache }
    }

    /// The same under another trust: what is cached under this one does not count there.
    #[must_use]
    pub fn with_trust(&self, trust: Arc<TrustSnapshot>) -> Verifier {
        Verifier { trust, ..self.clone() }
    }

    /// The same under another policy.
    #[must_use]
    pub fn with_policy(&self, policy: Arc<Policy>) -> Verifier {
        Verifier { policy, ..self.clone() }
    }

    /// Judges one call: every rung, or a refusal.
    pub fn admit(
        &self,
        presented: Presented,
        proof: &PresentedProof,
        call: Call,
        lists: &Lists,
        now: Now,
    ) -> Result<Permit, Refusal> {
        self.admit_knowing(presented, proof, call, lists, now).map_err(|refused| refused.refusal)
    }

    /// The same for whoever keeps receipts: a refusal comes with what was verified by then (protocol M6).
    pub fn admit_knowing(
        &self,
        presented: Presented,
        proof: &PresentedProof,
        call: Call,
        lists: &Lists,
        now: Now,
    ) -> Result<Permit, Refused> {
        let unknown = |refusal| Refused { refusal, known: None };
        let chain = VerifiedChain::open(presented, &self.trust, &self.cache, now).map_err(unknown)?;
        let mut known = Known { chain: chain.clone(), proof: ProofMark::None, list: None };
        let climbed = self.climb(chain, proof, call, lists, now, &mut known);
        climbed.map_err(|refusal| Refused { refusal, known: Some(Box::new(known)) })
    }

    /// From rung 1 to the permit, taking note of each rung that holds.
    fn climb(
        &self,
        chain: VerifiedChain,
        proof: &PresentedProof,
        call: Call,
        lists: &Lists,
        now: Now,
        known: &mut Known,
    ) -> Result<Permit, Refusal> {
        let held = HeldChain::prove(chain, proof, call, &self.policy, &self.audience, now)?;
        known.proof = held.mark();
        let live = LiveChain::check(held, lists, now)?;
        known.list = Some(live.asked());
        Permit::grant(live, &self.policy, self.replay.as_ref(), now)
    }

    /// Looks at a credential for what it may see, without a proof: that grants nothing, so nothing is recorded.
    pub fn view(&self, presented: Presented, lists: &Lists, now: Now) -> Result<Viewer, Refusal> {
        let chain = VerifiedChain::open(presented, &self.trust, &self.cache, now)?;
        Viewer::of(chain, lists, now)
    }

    /// Judges one act on a session (protocol M4): every rung but scope and policy, which have no say in it.
    pub fn admit_act(
        &self,
        presented: Presented,
        proof: &PresentedProof,
        act: Act,
        lists: &Lists,
        now: Now,
    ) -> Result<ActPermit, Refused> {
        let unknown = |refusal| Refused { refusal, known: None };
        let verified = VerifiedChain::open(presented, &self.trust, &self.cache, now).map_err(unknown)?;
        ActPermit::grant(verified, proof, act, &self.audience, lists, self.replay.as_ref(), now)
    }

    /// Judges again what an open answer rests on (protocol R9): the chain under the trust of now, its list, its issuer's
    /// remit and the policy. The proof was judged and used up when the answer began.
    pub fn still_permits(&self, standing: &Standing, lists: &Lists, now: Now) -> Result<(), Refusal> {
        let chain = VerifiedChain::open(standing.presented().clone(), &self.trust, &self.cache, now)?;
        standing.judge(&chain, &self.policy, lists, now)
    }

    /// Whom it believes.
    pub fn trust(&self) -> &Arc<TrustSnapshot> {
        &self.trust
    }

    /// What it allows.
    pub fn policy(&self) -> &Arc<Policy> {
        &self.policy
    }

    /// What proofs must be made for.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }

    /// Where proofs are recorded.
    pub fn replay(&self) -> &dyn ReplayStore {
        self.replay.as_ref()
    }

    /// Chains that were verified before.
    pub fn cache(&self) -> &Arc<ChainCache> {
        &self.cache
    }
}
