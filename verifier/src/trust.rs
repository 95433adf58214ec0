//! Whom we believe, and for what (protocol K2, K3).

use std::collections::BTreeSet;

use pact_mandate::{
    Action, Format, IssuerId, KeyId, Project, PublicKey,
    key::Thumbprint,
};
use sha2::{Digest, Sha256};

/// A key at which chains of an issuer may begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootKey {
    /// For every format.
    Ed25519 {
        /// The name under which the issuer publishes it.
        id: KeyId,
        /// The key.
        key: PublicKey,
    },
    /// For Biscuit alone (protocol K5): the compressed SEC1 point.
    P256 {
        /// The name under which the issuer publishes it.
        id: KeyId,
        /// 33 bytes, checked to be a point of the curve.
        sec1: [u8; 33],
    },
}

/// What an issuer may speak for. Empty sets grant nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaks {
    /// Formats of credentials.
    pub formats: BTreeSet<Format>,
    /// Actions, as granted patterns (`*`, `task.*`, `task.read`).
    pub actions: Vec<Action>,
    /// Projects; every one of them only where the configuration says `*` in so many words.
    pub projects: Projects,
}

/// The projects an issuer may speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projects {
    /// All of them, by an explicit `*`.
    All,
    /// These.
    Only(BTreeSet<Project>),
}

/// One issuer whose credentials count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// Its name.
    pub id: IssuerId,
    /// Its root keys: pinned, or from its published key set.
    pub roots: Vec<RootKey>,
    /// What it may speak for.
    pub speaks: Speaks,
    /// Whether a Biscuit without a holder may be used by whoever has it (protocol P8).
    pub bearer: bool,
}

/// All issuers at one moment. Made by [`TrustSnapshot::new`] alone.
#[derive(Clone, Debug)]
pub struct TrustSnapshot {
    issuers: Vec<TrustedIssuer>,
    digest: [u8; 32],
}

/// Why issuers cannot be trusted together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The same name twice.
    #[error("the issuer {0} is configured twice")]
    DuplicateIssuer(IssuerId),
    /// K3: a public key belongs to one issuer.
    #[error("the key {key} belongs to {first} and cannot be {second}'s as well")]
    SharedKey {
        /// The key.
        key: Thumbprint,
        /// Who has it.
        first: IssuerId,
        /// Who would have it as well.
        second: IssuerId,
    },
}
