//! Whom we believe, and for what (protocol K2, K3).

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{IssuerId, KeyId, PublicKey, key::Thumbprint};

mod digest;
mod owners;
mod root;
mod speaks;
#[cfg(test)]
mod tests;

pub use owners::{KeyOwners, KeyRole};
pub use root::{NotAPoint, RootKey};
pub use speaks::{Projects, Speaks};

/// One issuer whose credentials count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrustedIssuer {
    /// Its name.
    pub id: IssuerId,
    /// Its root keys: pinned, or from its published key set. None at all (a key set past its hard stop, protocol K4)
    /// means that nothing of this issuer verifies.
    pub roots: Vec<RootKey>,
    /// What it may speak for.
    pub speaks: Speaks,
    /// Whether a Biscuit without a holder may be used by whoever has it (protocol P8).
    pub bearer: bool,
}

/// All issuers at one moment. Made by [`TrustSnapshot::new`] alone; immutable, so a change of trust is another
/// snapshot with another digest, and what was verified under this one does not count there (protocol C7).
#[derive(Clone, Debug)]
pub struct TrustSnapshot {
    issuers: Vec<TrustedIssuer>,
    /// Public key bytes (32 of Ed25519, 33 of P-256) to the issuer and the root, by position.
    roots: BTreeMap<Vec<u8>, (usize, usize)>,
    digest: [u8; 32],
}

/// A root that may have signed the authority block of a Biscuit.
#[derive(Clone, Copy, Debug)]
pub struct BiscuitRoot<'a> {
    /// Whose it is.
    pub issuer: &'a TrustedIssuer,
    /// The key.
    pub root: &'a RootKey,
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
    /// K1: a key has one role.
    #[error("the key {key} of {issuer} is a root and a list key; a key has one role")]
    TwoRoles {
        /// Whose.
        issuer: IssuerId,
        /// The key.
        key: Thumbprint,
    },
    /// K3: two keys of one name.
    #[error("{issuer} has two root keys of the id {id}: give each its own")]
    DuplicateKeyId {
        /// Whose.
        issuer: IssuerId,
        /// The id.
        id: KeyId,
    },
    /// One key under two names.
    #[error("{issuer} has the root key {key} twice")]
    RepeatedKey {
        /// Whose.
        issuer: IssuerId,
        /// The key.
        key: Thumbprint,
    },
    /// Bytes that are no key.
    #[error("the P-256 root {id} of {issuer} is not a compressed point of the curve")]
    NotAPoint {
        /// Whose.
        issuer: IssuerId,
        /// The id.
        id: KeyId,
    },
}

impl TrustSnapshot {
    /// Takes the issuers together, or refuses them together.
    pub fn new(issuers: Vec<TrustedIssuer>) -> Result<TrustSnapshot, TrustError> {
        let mut names = BTreeSet::new();
        for issuer in &issuers {
            if !names.insert(&issuer.id) {
                return Err(TrustError::DuplicateIssuer(issuer.id.clone()));
            }
            check_names(issuer)?;
        }
        let roots = index(&issuers)?;
        let digest = digest::of(&issuers);
        Ok(TrustSnapshot { issuers, roots, digest })
    }

    /// Everybody, in the order of the configuration.
    pub fn issuers(&self) -> &[TrustedIssuer] {
        &self.issuers
    }

    /// The issuer of that name.
    pub fn issuer(&self, id: &IssuerId) -> Option<&TrustedIssuer> {
        self.issuers.iter().find(|issuer| issuer.id == *id)
    }

    /// Whose root these 32 bytes are. The bytes are looked up as they are, so a key in another encoding is unknown.
    pub fn issuer_of_ed25519(&self, bytes: &[u8; 32]) -> Option<(&TrustedIssuer, &KeyId, &PublicKey)> {
        let (issuer, root) = self.roots.get(bytes.as_slice())?;
        let issuer = self.issuers.get(*issuer)?;
        match issuer.roots.get(*root)? {
            RootKey::Ed25519 { id, key } => Some((issuer, id, key)),
            RootKey::P256 { .. } => None,
        }
    }

    /// The roots that a Biscuit with that root key id may hang from. The id is not signed: it only chooses among roots
    /// that are trusted anyway. An unknown one has no candidate; without one, each root is.
    pub fn biscuit_roots(&self, id: Option<u32>) -> impl Iterator<Item = BiscuitRoot<'_>> {
        let all = self
            .issuers
            .iter()
            .flat_map(|issuer| issuer.roots.iter().map(move |root| BiscuitRoot { issuer, root }));
        all.filter(move |candidate| id.is_none_or(|id| candidate.root.biscuit_id() == id))
    }

    /// Stands for the whole content: two snapshots that would judge any credential differently differ here.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

/// K3 within one issuer: each key has its own name.
fn check_names(issuer: &TrustedIssuer) -> Result<(), TrustError> {
    let mut names = BTreeSet::new();
    for root in &issuer.roots {
        if !names.insert(root.id()) {
            return Err(TrustError::DuplicateKeyId { issuer: issuer.id.clone(), id: root.id().clone() });
        }
        if root.thumbprint().is_none() {
            return Err(TrustError::NotAPoint { issuer: issuer.id.clone(), id: root.id().clone() });
        }
    }
    Ok(())
}

/// K3 across all of them: each key has one owner.
fn index(issuers: &[TrustedIssuer]) -> Result<BTreeMap<Vec<u8>, (usize, usize)>, TrustError> {
    let mut index = BTreeMap::new();
    for (at, issuer) in issuers.iter().enumerate() {
        for (root_at, root) in issuer.roots.iter().enumerate() {
            let earlier = index.insert(root.public_bytes().to_vec(), (at, root_at));
            let Some((owner, _)) = earlier else { continue };
            return Err(taken(issuers.get(owner).unwrap_or(issuer), issuer, root));
        }
    }
    Ok(index)
}

fn taken(first: &TrustedIssuer, second: &TrustedIssuer, root: &RootKey) -> TrustError {
    let issuer = second.id.clone();
    let Some(key) = root.thumbprint() else { return TrustError::NotAPoint { issuer, id: root.id().clone() } };
    if first.id == issuer {
        TrustError::RepeatedKey { issuer, key }
    } else {
        TrustError::SharedKey { key, first: first.id.clone(), second: issuer }
    }
}
