//! Whose each configured key is, and for what (protocol K1, K3): one rule for everybody who reads a configuration.

use std::collections::BTreeMap;

use pact_mandate::{IssuerId, key::Thumbprint};

use super::TrustError;

/// What an issuer's key is believed for (protocol K1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRole {
    /// Chains begin at it.
    Root,
    /// It signs the issuer's own list.
    List,
}

/// The keys met so far, each with its one owner and its one role.
#[derive(Clone, Debug, Default)]
pub struct KeyOwners(BTreeMap<Thumbprint, (IssuerId, KeyRole)>);

impl KeyOwners {
    /// Notes a key. Refuses one that another issuer has, or the same issuer in the other role.
    pub fn note(&mut self, issuer: &IssuerId, role: KeyRole, key: Thumbprint) -> Result<(), TrustError> {
        let (first, known) = self.0.entry(key).or_insert_with(|| (issuer.clone(), role));
        if first != issuer {
            return Err(TrustError::SharedKey { key, first: first.clone(), second: issuer.clone() });
        }
        if *known != role {
            return Err(TrustError::TwoRoles { issuer: issuer.clone(), key });
        }
        Ok(())
    }
}
