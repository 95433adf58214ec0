//! Rung 4: the credential, its issuer's remit and the local policy allow this call, and its proof counts once.

use pact_mandate::{Call, Judged, KeyId, Now, ScopeItem};
use pact_revocation::Lists;

use crate::{
    chain::{IssuerFault, VerifiedChain},
    held::{self, Possession, ProofKind},
    live::{self, AskedList, LiveChain},
    policy::{Open, PROJECT, Policy},
    presented::Presented,
    receipt::ProofMark,
    refusal::Refusal,
    replay::{ProofId, ReplayStore},
    trust::TrustedIssuer,
    verifier::Known,
};

/// Leave to forward one call, once. It is used up by whoever forwards: there is no copy of it.
#[derive(Debug)]
pub struct Permit {
    live: LiveChain,
}

/// What an answer that stays open was permitted on, to be judged again while it flows (protocol R9). It is no permit.
#[derive(Clone, Debug)]
pub struct Standing {
    presented: Presented,
    began: Began,
}

/// What began the answer.
#[derive(Clone, Debug)]
enum Began {
    /// A call; `proven` is the kind of its proof, `None` for bearer use (protocol P8).
    Call { call: Call, proven: Option<ProofKind> },
    /// An act on a session, which no scope covers (protocol M4).
    Act,
}

impl Permit {
    /// Judges what is allowed, then records the proof: the last act, so that a refused call burns no proof
    /// (protocol P6).
    pub fn grant(
        live: LiveChain,
        policy: &Policy,
        replay: &dyn ReplayStore,
        now: Now,
    ) -> Result<Permit, Refusal> {
        allow(live.held().chain(), live.held().call(), policy, now)?;
        if let Possession::Proven { proof, .. } = live.held().possession() {
            replay.record(proof, now)?;
        }
        Ok(Permit { live })
    }

    /// The call to forward.
    pub fn call(&self) -> &Call {
        self.live.held().call()
    }

    /// The chain that allows it.
    pub fn chain(&self) -> &VerifiedChain {
        self.live.held().chain()
    }

    /// The list that was asked.
    pub fn list(&self) -> AskedList {
        self.live.asked()
    }

    /// The thumbprint of the key that proved possession; `None` for bearer use (protocol P8), which receipts and
    /// metrics show.
    pub fn proven_by(&self) -> Option<KeyId> {
        self.proof().map(|proof| proof.holder().thumbprint().into())
    }

    /// The proof that is used up.
    pub fn proof(&self) -> Option<&ProofId> {
        match self.live.held().possession() {
            Possession::Proven { proof, .. } => Some(proof),
            Possession::Bearer => None,
        }
    }

    /// How possession was proven, as receipts name it.
    pub fn proof_mark(&self) -> ProofMark {
        self.live.held().mark()
    }

    /// What the rungs found, for receipts.
    pub fn known(&self) -> Known {
        Known { chain: self.chain().clone(), proof: self.proof_mark(), list: Some(self.list()) }
    }

    /// What to keep for an answer that outlives the permit.
    pub fn standing(&self) -> Standing {
        let proven = match self.live.held().possession() {
            Possession::Proven { kind, .. } => Some(*kind),
            Possession::Bearer => None,
        };
        let began = Began::Call { call: self.call().clone(), proven };
        Standing { presented: self.chain().presented().clone(), began }
    }

    /// The call, for the one that forwards it; the permit is gone.
    pub fn into_call(self) -> Call {
        self.live.into_held().into_call()
    }
}

impl Standing {
    pub(crate) fn of_act(presented: Presented) -> Standing {
        Standing { presented, began: Began::Act }
    }

    pub(crate) fn presented(&self) -> &Presented {
        &self.presented
    }

    /// Whether the chain, opened again, still carries the call.
    pub(crate) fn judge(
        &self,
        chain: &VerifiedChain,
        policy: &Policy,
        lists: &Lists,
        now: Now,
    ) -> Result<(), Refusal> {
        let Began::Call { call, proven } = &self.began else {
            return live::ask(chain, lists, now).map(|_| ());
        };
        match proven {
            Some(kind) => kind.check(policy)?,
            None => held::check_bearer(chain)?,
        }
        live::ask(chain, lists, now)?;
        allow(chain, call, policy, now)
    }
}

/// Credential ∩ issuer's remit ∩ local policy.
fn allow(chain: &VerifiedChain, call: &Call, policy: &Policy, now: Now) -> Result<(), Refusal> {
    policy.permits(call)?;
    carries(chain, policy, &call.asked.tool, &call.judged, &Open::nothing(), now)
}

/// Credential ∩ issuer's remit, of a call of which some may be `open`: then it is refused only when every such call would be.
/// The one judgement for calls and for lists of tools.
pub(crate) fn carries(
    chain: &VerifiedChain,
    policy: &Policy,
    tool: &str,
    judged: &Judged,
    open: &Open,
    now: Now,
) -> Result<(), Refusal> {
    check_remit(chain.trusted_issuer()?, judged, open)?;
    let authority = &chain.opened().authority;
    let stated = policy.with_limits(tool, judged, open, &authority.limit_keys(&judged.action))?;
    authority.permits(&stated, open, now.wall)
}

/// Whether the issuer may speak for the call (protocol K2).
fn check_remit(issuer: &TrustedIssuer, judged: &Judged, open: &Open) -> Result<(), IssuerFault> {
    let (needed, covered) = match judged.needed() {
        Some(needed) => (needed.clone(), issuer.speaks.covers(&needed)),
        None if open.has(PROJECT) => {
            (ScopeItem::Opaque(judged.action.to_string()), issuer.speaks.covers_action(&judged.action))
        }
        None => return Err(IssuerFault::NoProject),
    };
    if covered { Ok(()) } else { Err(IssuerFault::ScopeNotSpoken { issuer: issuer.id.clone(), needed }) }
}
