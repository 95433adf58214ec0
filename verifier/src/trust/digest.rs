//! The digest of a snapshot.

use sha2::{Digest, Sha256};

use super::{Projects, RootKey, TrustedIssuer};
use crate::limits;

/// Changes with this crate's rules, so that no digest outlives the rules that it was made under.
const DOMAIN: &[u8] = b"pact-trust/1";

/// Hashes parts with their lengths, so that no two contents share bytes.
struct Hasher(Sha256);

/// Every issuer whole, by name, so that the order of a configuration file does not matter.
pub(super) fn of(issuers: &[TrustedIssuer]) -> [u8; 32] {
    let mut sorted: Vec<&TrustedIssuer> = issuers.iter().collect();
    sorted.sort_by(|a, b| a.id.cmp(&b.id));
    let mut hasher = Hasher(Sha256::new());
    hasher.part(DOMAIN);
    // The work limits under which chains are verified (protocol C7).
    for limit in [limits::MAX_WARRANT_BYTES, limits::MAX_STACK_BYTES, limits::MAX_WARRANTS] {
        hasher.count(limit);
    }
    for limit in [limits::MAX_TOKEN_BYTES, limits::MAX_BLOCKS] {
        hasher.count(limit);
    }
    hasher.count(sorted.len());
    for issuer in sorted {
        hasher.issuer(issuer);
    }
    hasher.0.finalize().into()
}

impl Hasher {
    fn part(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.0.update(bytes);
    }

    fn count(&mut self, count: usize) {
        self.0.update(u64::try_from(count).unwrap_or(u64::MAX).to_be_bytes());
    }

    fn issuer(&mut self, issuer: &TrustedIssuer) {
        self.part(issuer.id.as_str().as_bytes());
        self.count(issuer.roots.len());
        for root in &issuer.roots {
            self.part(match root {
                RootKey::Ed25519 { .. } => b"ed25519",
                RootKey::P256 { .. } => b"p256",
            });
            self.part(root.id().as_str().as_bytes());
            self.part(root.public_bytes());
        }
        self.count(issuer.speaks.formats.len());
        for format in &issuer.speaks.formats {
            self.part(format.name().as_bytes());
        }
        self.count(issuer.speaks.actions.len());
        for action in &issuer.speaks.actions {
            self.part(action.as_str().as_bytes());
        }
        match &issuer.speaks.projects {
            Projects::All => self.part(b"all"),
            Projects::Only(projects) => {
                self.part(b"only");
                self.count(projects.len());
                for project in projects {
                    self.part(project.as_str().as_bytes());
                }
            }
        }
        self.part(if issuer.bearer { b"bearer" } else { b"held" });
    }
}
