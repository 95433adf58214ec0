//! Single use of proofs (protocol P6, P7).

use std::io;

use pact_mandate::{Now, PublicKey, UnixTime};
use pact_revocation::Entry;

use crate::{held::ProofKind, limits::PROOF_WINDOW_SECONDS, refusal::Class};

pub mod file;
mod record;
mod seen;
mod segment;
mod share;
mod state;
mod witness;

pub use file::{BootId, FileReplay, OpenError};

/// Remembers which proofs were used. `record` is atomic: of two calls with one proof, one is refused.
pub trait ReplayStore: Send + Sync {
    /// Records the proof, or says why it does not count. When this returns `Ok`, the record outlives this process.
    fn record(&self, proof: &ProofId, now: Now) -> Result<(), ReplayFault>;

    /// How the store is, for `/readyz` and metrics.
    fn health(&self) -> ReplayHealth;
}

/// What a proof is recorded under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProofId {
    holder: PublicKey,
    grant: Entry,
    id: [u8; 32],
    first_use: UnixTime,
    ends_at: UnixTime,
}

/// How a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplayHealth {
    /// Proofs that could have been used up to this moment are refused (protocol P7).
    pub since: UnixTime,
    /// Proofs that are remembered.
    pub held: usize,
    /// How many can be.
    pub limit: usize,
    /// The last failure, when the last attempt to write failed.
    pub failed: Option<StoreFailure>,
}

/// Why a proof does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReplayFault {
    /// P6: used before.
    #[error("this proof was used before: make a new one for each call")]
    Replayed,
    /// P7: it may have been used when this store was not there to see it.
    #[error(
        "the proof could be used from {first_use} on, and the record of used proofs begins at {since}: make a new one"
    )]
    BeforeStore {
        /// The first moment at which it could have been used.
        first_use: UnixTime,
        /// When the store's unbroken record began.
        since: UnixTime,
    },
    /// T1: it may have been used and forgotten, because the clock was later once.
    #[error(
        "the proof ends at {ends_at}, and those that end up to {floor} are forgotten, because our clock was set back: make a new one after {floor}, or once our clock is right"
    )]
    Forgotten {
        /// When it ends.
        ends_at: UnixTime,
        /// The latest end of a proof that is no longer remembered.
        floor: UnixTime,
    },
    /// P6: the holder's share is used up.
    #[error("this holder has {limit} proofs that still count, which is its share: wait for a minute")]
    QuotaReached {
        /// The share.
        limit: usize,
    },
    /// P6: the share of all that hangs from one grant is used up, by whatever keys.
    #[error(
        "the holders below one grant of the root have {limit} proofs that still count, which is their share: wait for a minute"
    )]
    GrantQuotaReached {
        /// The share.
        limit: usize,
    },
    /// P6: a full store refuses.
    #[error("the store of used proofs is full ({limit}): wait for a minute")]
    Full {
        /// What it holds.
        limit: usize,
    },
    /// The store could not record.
    #[error("the store of used proofs failed: {0}; its operator must look at its folder (disk, space, mode)")]
    Failed(#[from] StoreFailure),
}

/// What a store could not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not {doing} ({kind})")]
pub struct StoreFailure {
    /// What it was doing.
    pub doing: &'static str,
    /// What the system said.
    pub kind: io::ErrorKind,
}

impl ProofId {
    /// The proof of `holder` with that id. `grant` names what the root gave out first on its chain, so that who hands a
    /// credential on to many keys of its own has one share for them all: of Tenuo the first holder's key, of a Biscuit
    /// the authority block. `first_use` is the first moment at which it would have been accepted: when it says it was
    /// made, less the skew that is accepted for its kind (protocol P7, T2).
    pub const fn new(
        holder: PublicKey,
        grant: Entry,
        id: [u8; 32],
        first_use: UnixTime,
        ends_at: UnixTime,
    ) -> ProofId {
        ProofId { holder, grant, id, first_use, ends_at }
    }

    /// The key that made it.
    pub fn holder(&self) -> &PublicKey {
        &self.holder
    }

    /// What the root gave out first on the chain: the first holder's key, or the first block where the format has one
    /// holder a token.
    pub fn grant(&self) -> &Entry {
        &self.grant
    }

    /// SHA-256 of the signed bytes (DPoP: of `jti`).
    pub fn id(&self) -> &[u8; 32] {
        &self.id
    }

    /// The first moment at which it would have been accepted.
    pub fn first_use(&self) -> UnixTime {
        self.first_use
    }

    /// The first second at which it is refused for its age.
    pub fn ends_at(&self) -> UnixTime {
        self.ends_at
    }
}

impl ReplayHealth {
    /// The first moment at which a proof of that kind counts when it is made then: one that could not have been used
    /// before the record began (protocol P7). A stock proof is made at the beginning of its window.
    pub fn counts_from(&self, kind: ProofKind) -> UnixTime {
        let too_early = self.since.plus(kind.future_skew());
        match kind {
            ProofKind::Fresh => too_early.plus(1),
            ProofKind::Stock => {
                too_early.plus(PROOF_WINDOW_SECONDS - too_early.seconds() % PROOF_WINDOW_SECONDS)
            }
        }
    }
}

impl ReplayFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            ReplayFault::Replayed => "replayed",
            ReplayFault::BeforeStore { .. } => "proof_before_store",
            ReplayFault::Forgotten { .. } => "proof_forgotten",
            ReplayFault::QuotaReached { .. } => "replay_quota",
            ReplayFault::GrantQuotaReached { .. } => "replay_grant_quota",
            ReplayFault::Full { .. } => "replay_store_full",
            ReplayFault::Failed(_) => "replay_store_failed",
        }
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            ReplayFault::Replayed
            | ReplayFault::QuotaReached { .. }
            | ReplayFault::GrantQuotaReached { .. }
            | ReplayFault::Full { .. } => "P6",
            ReplayFault::BeforeStore { .. } | ReplayFault::Failed(_) => "P7",
            ReplayFault::Forgotten { .. } => "T1",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            ReplayFault::Replayed => Class::Unauthenticated,
            ReplayFault::QuotaReached { .. } | ReplayFault::GrantQuotaReached { .. } => Class::TooMany,
            ReplayFault::BeforeStore { .. }
            | ReplayFault::Forgotten { .. }
            | ReplayFault::Full { .. }
            | ReplayFault::Failed(_) => Class::Unavailable,
        }
    }
}

impl StoreFailure {
    pub(crate) fn new(doing: &'static str, error: &io::Error) -> StoreFailure {
        StoreFailure { doing, kind: error.kind() }
    }
}
