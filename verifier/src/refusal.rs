//! Every way to say no. The rungs' own faults stand beside the code that finds them; here they become one closed enum
//! with a stable code each. `REFUSALS.md` lists the codes; a test holds the two together.

use pact_mandate::{IssuerId, UnixTime};
use pact_revocation::Stale;

use crate::{
    carriage::CarriageFault,
    chain::IssuerFault,
    format::{
        biscuit::BiscuitFault,
        tenuo::{LinkFault, TenuoFault},
    },
    held::PossessionFault,
    live::Revoked,
    policy::PolicyFault,
    presented::PresentedFault,
    proof::ProofFault,
    replay::ReplayFault,
};

#[cfg(test)]
mod tests;

/// A refusal: final, and never a secret, a token or policy text in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The request's way of carrying a credential.
    #[error(transparent)]
    Carriage(#[from] CarriageFault),
    /// Rung 0: size and text form.
    #[error(transparent)]
    Presented(#[from] PresentedFault),
    /// Rung 1: the Tenuo warrant stack; rung 4: what it allows.
    #[error(transparent)]
    Tenuo(#[from] TenuoFault),
    /// Rung 1: the Biscuit token; rung 4: what it allows.
    #[error(transparent)]
    Biscuit(#[from] BiscuitFault),
    /// Rung 1: a chain that ended since it was verified.
    #[error("the credential ended at {0}: get a new one")]
    Expired(UnixTime),
    /// Rungs 1 and 4: what the issuer may speak for.
    #[error(transparent)]
    Issuer(#[from] IssuerFault),
    /// Rung 2: the proof itself.
    #[error(transparent)]
    Proof(#[from] ProofFault),
    /// Rung 2: whether that kind of proof, or none, will do.
    #[error(transparent)]
    Possession(#[from] PossessionFault),
    /// Rung 3: no list that could be asked.
    #[error("the list of {issuer} cannot be relied on: {stale}")]
    Stale {
        /// Whose list.
        issuer: IssuerId,
        /// Why not.
        stale: Stale,
    },
    /// Rung 3: the list names it.
    #[error(transparent)]
    Revoked(#[from] Revoked),
    /// Rung 4: the local policy.
    #[error(transparent)]
    Policy(#[from] PolicyFault),
    /// Rung 4: single use.
    #[error(transparent)]
    Replay(#[from] ReplayFault),
}

/// Whose fault a refusal is; the one file that maps refusals to the wire reads this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing that could be judged: HTTP 400.
    Malformed,
    /// The credential or its proof does not hold: HTTP 401.
    Unauthenticated,
    /// It holds, but not for this call: HTTP 403.
    Forbidden,
    /// The holder has used up its share of the replay store (protocol P6): HTTP 429.
    TooMany,
    /// We cannot judge now: HTTP 503.
    Unavailable,
}

impl Refusal {
    /// The stable name of the refusal, for machines.
    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Carriage(fault) => fault.code(),
            Refusal::Presented(fault) => fault.code(),
            Refusal::Tenuo(fault) => fault.code(),
            Refusal::Biscuit(fault) => fault.code(),
            Refusal::Expired(_) => "credential_expired",
            Refusal::Issuer(fault) => fault.code(),
            Refusal::Proof(fault) => fault.code(),
            Refusal::Possession(fault) => fault.code(),
            Refusal::Stale { stale, .. } => stale.code(),
            Refusal::Revoked(_) => "revoked",
            Refusal::Policy(fault) => fault.code(),
            Refusal::Replay(fault) => fault.code(),
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            Refusal::Carriage(CarriageFault::NoCredential)
            | Refusal::Expired(_)
            | Refusal::Possession(_)
            | Refusal::Revoked(_) => Class::Unauthenticated,
            Refusal::Carriage(_) | Refusal::Presented(_) => Class::Malformed,
            Refusal::Stale { .. } => Class::Unavailable,
            Refusal::Tenuo(fault) => fault.class(),
            Refusal::Biscuit(fault) => fault.class(),
            Refusal::Issuer(fault) => fault.class(),
            Refusal::Proof(fault) => fault.class(),
            Refusal::Policy(fault) => fault.class(),
            Refusal::Replay(fault) => fault.class(),
        }
    }

    /// The link or block at fault, counted from the root as 0; `None` when it is none of them in particular.
    pub fn link(&self) -> Option<usize> {
        match self {
            Refusal::Tenuo(fault) => fault.link(),
            Refusal::Biscuit(fault) => fault.block(),
            Refusal::Revoked(revoked) => revoked.link,
            _ => None,
        }
    }

    /// Whether the credential hangs from a root that nobody has here: one that its issuer may have published since the
    /// keys were last fetched (protocol K4).
    pub fn is_unknown_root(&self) -> bool {
        matches!(
            self,
            Refusal::Tenuo(TenuoFault::Link { fault: LinkFault::UntrustedRoot, .. })
                | Refusal::Biscuit(BiscuitFault::UnknownRoot { .. })
        )
    }

    /// The rule of the trust protocol that was broken, or that could not be shown to hold.
    pub fn rule(&self) -> &'static str {
        match self {
            Refusal::Carriage(_) | Refusal::Presented(_) => "C1",
            Refusal::Tenuo(_) => "C2",
            Refusal::Biscuit(_) => "C3",
            Refusal::Expired(_) => "T2",
            Refusal::Issuer(_) => "K2",
            Refusal::Proof(fault) => fault.rule(),
            Refusal::Possession(fault) => fault.rule(),
            Refusal::Stale { stale, .. } => rule_of_stale(stale),
            Refusal::Revoked(_) => "R3",
            Refusal::Policy(PolicyFault::ReservedArgument(_)) => "P2",
            Refusal::Policy(_) => "M1",
            Refusal::Replay(fault) => fault.rule(),
        }
    }

    /// The rung that refused (design: the ladder of trust).
    pub fn rung(&self) -> u8 {
        match self {
            Refusal::Carriage(_) | Refusal::Presented(_) => 0,
            // What a credential allows is asked for by the last rung alone.
            Refusal::Tenuo(_) | Refusal::Biscuit(_) | Refusal::Issuer(_) => match self.class() {
                Class::Forbidden | Class::Unavailable => 4,
                Class::Malformed | Class::Unauthenticated | Class::TooMany => 1,
            },
            Refusal::Expired(_) => 1,
            Refusal::Proof(_) | Refusal::Possession(_) => 2,
            Refusal::Stale { .. } | Refusal::Revoked(_) => 3,
            Refusal::Policy(_) | Refusal::Replay(_) => 4,
        }
    }
}

fn rule_of_stale(stale: &Stale) -> &'static str {
    match stale.code() {
        "list_not_covering" => "R4",
        code if code.starts_with("source_") => "C6",
        _ => "R5",
    }
}
