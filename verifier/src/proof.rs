//! Proof of possession: that the caller holds the leaf's key, for this very call (protocol P).

pub mod dpop;
pub mod tenuo;

use pact_mandate::{Asked, PublicKey, Signature, UnixTime};

/// The proof as it came with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PresentedProof {
    /// Tenuo's signature; `fresh` are the members of protocol P1, absent with a stock client (P3).
    Tenuo {
        /// The holder's signature.
        signature: Signature,
        /// `@id` and `@iat`.
        fresh: Option<FreshProof>,
    },
    /// A DPoP proof (P4): the compact JWS.
    Dpop(String),
    /// None.
    Missing,
}

/// What `_meta["pact/proof"]` carries beside a Tenuo signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshProof {
    /// 16 random bytes.
    pub id: [u8; 16],
    /// When the holder made it.
    pub issued_at: UnixTime,
}

/// The sidecar's public URL, as both sides have it configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(String);

/// A proof that held: what single use is recorded under (protocol P6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProvenBy {
    /// The key that proved possession.
    pub(crate) holder: PublicKey,
    /// SHA-256 of the signed bytes (DPoP: of `jti`).
    pub(crate) id: [u8; 32],
    /// `iat`, or the start of a stock proof's window.
    pub(crate) made_at: UnixTime,
    /// The first second at which the same proof would be refused for its age.
    pub(crate) ends_at: UnixTime,
}

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {}

impl Audience {
    /// The URL's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn _placeholder(_: &Asked) {}
