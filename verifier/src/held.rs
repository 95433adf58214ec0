//! Rung 2: the caller proved, for this very call, that it holds the key of the chain's leaf.

use pact_mandate::{Asked, Call, Format, IssuerId, Json, Now, PublicKey, json::Member};

use crate::{
    act::Act,
    chain::VerifiedChain,
    format::Authority,
    limits::{FUTURE_SKEW_SECONDS, PROOF_WINDOW_SECONDS, PROOF_WINDOWS_AROUND},
    policy::Policy,
    proof::{self, Audience, PresentedProof, ProvenBy},
    receipt::ProofMark,
    refusal::Refusal,
    replay::ProofId,
};

/// A verified chain in the hands of its holder, with the call that the holder meant.
#[derive(Debug)]
pub struct HeldChain {
    chain: VerifiedChain,
    call: Call,
    possession: Possession,
}

/// How the chain came to be held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::large_enum_variant, reason = "one value a call, nearly always the large one")]
pub(crate) enum Possession {
    /// By a proof of the leaf's key, which has yet to be recorded.
    Proven {
        /// What single use is recorded under.
        proof: ProofId,
        /// What its kind asks of the policy, for as long as the answer runs (protocol R9).
        kind: ProofKind,
    },
    /// By having it at all (protocol P8).
    Bearer,
}

/// What a proof covers of the call beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofKind {
    /// The whole call at this audience, once.
    Fresh,
    /// What a stock Tenuo client signs: less, and only where the policy takes it (protocol P3).
    Stock,
}

/// Why the proof that came, or its absence, will not do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PossessionFault {
    /// A chain with a holder and no proof.
    #[error("the call carries no proof of the holder's key: sign it")]
    ProofMissing,
    /// A proof of another format.
    #[error("the proof is not of the kind that a {0} credential needs")]
    WrongKind(Format),
    /// P3: a stock Tenuo proof where the policy does not take any.
    #[error("proofs without @id and @iat are not taken here: sign with pact-holder")]
    StockProofRefused,
    /// P3: a stock Tenuo proof of a request that says more than it covers.
    #[error("a proof without @params covers no more than the tool and its arguments: sign with pact-holder")]
    StockProofCoversLess,
    /// P8: nobody is named as its holder, and its issuer is not trusted for that.
    #[error("the credential names no holder, and those of {0} are not taken from whoever has them")]
    BearerRefused(IssuerId),
    /// P8: a proof that proves nothing.
    #[error("the credential names no holder, so no proof can belong to it: send none")]
    ProofWithoutHolder,
    /// M4: an act on a session by a credential that nobody in particular holds.
    #[error("the credential names no holder, and only a holder's key can own a session")]
    ActWithoutHolder,
}

impl HeldChain {
    /// Judges the proof over the call as it was asked.
    pub fn prove(
        chain: VerifiedChain,
        proof: &PresentedProof,
        call: Call,
        policy: &Policy,
        audience: &Audience,
        now: Now,
    ) -> Result<HeldChain, Refusal> {
        let possession = match chain.holder() {
            Some(holder) => {
                let kind = ProofKind::of(proof);
                kind.check(policy)?;
                Possession::Proven { proof: prove(&chain, holder, proof, &call, audience, now)?, kind }
            }
            None => bearer(&chain, proof)?,
        };
        Ok(HeldChain { chain, call, possession })
    }

    /// The chain.
    pub fn chain(&self) -> &VerifiedChain {
        &self.chain
    }

    /// The call that was proven.
    pub fn call(&self) -> &Call {
        &self.call
    }

    /// What proved possession, as receipts name it.
    pub(crate) fn mark(&self) -> ProofMark {
        match self.possession {
            Possession::Proven { kind: ProofKind::Fresh, .. } => ProofMark::Fresh,
            Possession::Proven { kind: ProofKind::Stock, .. } => ProofMark::Stock,
            Possession::Bearer => ProofMark::Bearer,
        }
    }

    pub(crate) fn possession(&self) -> &Possession {
        &self.possession
    }

    pub(crate) fn into_call(self) -> Call {
        self.call
    }
}

impl ProofKind {
    fn of(proof: &PresentedProof) -> ProofKind {
        match proof {
            PresentedProof::Tenuo { fresh: None, .. } => ProofKind::Stock,
            PresentedProof::Tenuo { fresh: Some(_), .. }
            | PresentedProof::Dpop(_)
            | PresentedProof::Missing => ProofKind::Fresh,
        }
    }

    /// Seconds by which such a proof may lie ahead of our clock (protocol T2): a stock one by as many windows as behind.
    pub const fn future_skew(self) -> u64 {
        match self {
            ProofKind::Fresh => FUTURE_SKEW_SECONDS,
            ProofKind::Stock => PROOF_WINDOWS_AROUND.saturating_mul(PROOF_WINDOW_SECONDS),
        }
    }

    /// Whether the policy takes such proofs (protocol P3); asked again while an answer is open (protocol R9).
    pub(crate) fn check(self, policy: &Policy) -> Result<(), PossessionFault> {
        match self {
            ProofKind::Stock if !policy.takes_stock_proofs() => Err(PossessionFault::StockProofRefused),
            ProofKind::Stock | ProofKind::Fresh => Ok(()),
        }
    }
}

fn prove(
    chain: &VerifiedChain,
    holder: &PublicKey,
    proof: &PresentedProof,
    call: &Call,
    audience: &Audience,
    now: Now,
) -> Result<ProofId, Refusal> {
    let now = now.wall;
    match (&chain.opened().authority, proof) {
        (_, PresentedProof::Missing) => Err(PossessionFault::ProofMissing.into()),
        (Authority::Tenuo(leaf), PresentedProof::Tenuo { signature, fresh }) => {
            let fresh = fresh.as_ref();
            if fresh.is_none() {
                check_bare(&call.asked)?;
            }
            let proven = proof::tenuo::verify(leaf.id(), holder, call, audience, signature, fresh, now)
                .map_err(proof::ProofFault::from)?;
            let kind = if fresh.is_some() { ProofKind::Fresh } else { ProofKind::Stock };
            Ok(proof_id(chain, &proven, kind))
        }
        (Authority::Biscuit(_), PresentedProof::Dpop(jws)) => {
            // Rung 0 keeps the text of every Biscuit; without it no `ath` could be equal.
            let text = chain.presented().text().unwrap_or_default();
            let proven = proof::dpop::verify(jws, text, holder, &call.asked, audience, now)?;
            Ok(proof_id(chain, &proven, ProofKind::Fresh))
        }
        _ => Err(PossessionFault::WrongKind(chain.format()).into()),
    }
}

/// A stock proof covers the tool and its arguments: beside them the request may say nothing that a tool server acts on, such as
/// the answers of a further round (protocol P3).
fn check_bare(asked: &Asked) -> Result<(), PossessionFault> {
    let name = Member::new("name", Json::String(asked.tool.clone()));
    let bare = proof::params_digest("tools/call", &Json::Object(vec![name]));
    if bare == Ok(asked.params) { Ok(()) } else { Err(PossessionFault::StockProofCoversLess) }
}

/// Judges the proof of an act (protocol M4). Stock proofs cover too little to be taken for one, whatever the policy.
pub(crate) fn prove_act(
    chain: &VerifiedChain,
    proof: &PresentedProof,
    act: &Act,
    audience: &Audience,
    now: Now,
) -> Result<ProofId, Refusal> {
    let holder = chain.holder().ok_or(PossessionFault::ActWithoutHolder)?;
    let now = now.wall;
    let proven = match (&chain.opened().authority, proof) {
        (_, PresentedProof::Missing) => return Err(PossessionFault::ProofMissing.into()),
        (Authority::Tenuo(_), PresentedProof::Tenuo { fresh: None, .. }) => {
            return Err(PossessionFault::StockProofRefused.into());
        }
        (Authority::Tenuo(leaf), PresentedProof::Tenuo { signature, fresh: Some(fresh) }) => {
            proof::tenuo::verify_act(leaf.id(), holder, act, audience, signature, fresh, now)
                .map_err(proof::ProofFault::from)?
        }
        (Authority::Biscuit(_), PresentedProof::Dpop(jws)) => {
            let text = chain.presented().text().unwrap_or_default();
            proof::dpop::verify_act(jws, text, holder, act, audience, now)?
        }
        _ => return Err(PossessionFault::WrongKind(chain.format()).into()),
    };
    Ok(proof_id(chain, &proven, ProofKind::Fresh))
}

fn proof_id(chain: &VerifiedChain, proven: &ProvenBy, kind: ProofKind) -> ProofId {
    let first_use = proven.made_at.minus(kind.future_skew());
    ProofId::new(proven.holder, chain.opened().grant, proven.id, first_use, proven.ends_at)
}

/// P8. (C3: a Biscuit that names a holder never comes here.)
fn bearer(chain: &VerifiedChain, proof: &PresentedProof) -> Result<Possession, Refusal> {
    if *proof != PresentedProof::Missing {
        return Err(PossessionFault::ProofWithoutHolder.into());
    }
    check_bearer(chain)?;
    Ok(Possession::Bearer)
}

/// Whether its issuer is trusted for chains that nobody in particular holds; asked again while an answer is open
/// (protocol R9).
pub(crate) fn check_bearer(chain: &VerifiedChain) -> Result<(), Refusal> {
    let issuer = chain.trusted_issuer()?;
    if issuer.bearer && chain.format() == Format::Biscuit {
        Ok(())
    } else {
        Err(PossessionFault::BearerRefused(issuer.id.clone()).into())
    }
}

impl PossessionFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            PossessionFault::ProofMissing => "proof_missing",
            PossessionFault::WrongKind(_) => "proof_wrong_kind",
            PossessionFault::StockProofRefused => "stock_proof_refused",
            PossessionFault::StockProofCoversLess => "stock_proof_covers_less",
            PossessionFault::BearerRefused(_) => "bearer_refused",
            PossessionFault::ProofWithoutHolder => "proof_without_holder",
            PossessionFault::ActWithoutHolder => "act_without_holder",
        }
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            PossessionFault::ProofMissing | PossessionFault::WrongKind(_) => "P1",
            PossessionFault::StockProofRefused | PossessionFault::StockProofCoversLess => "P3",
            PossessionFault::BearerRefused(_) | PossessionFault::ProofWithoutHolder => "P8",
            PossessionFault::ActWithoutHolder => "M4",
        }
    }
}
