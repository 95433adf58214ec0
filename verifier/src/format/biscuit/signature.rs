//! Signatures: which trusted root a token hangs from, and the names under which its blocks can be revoked.

use biscuit_auth::{Biscuit, PublicKey as CrateKey, builder::Algorithm as CrateAlgorithm, error};
use pact_revocation::LowS;

use super::{
    engine::guarded,
    envelope::{Algorithm, Envelope, Link},
    fault::BiscuitFault,
};
use crate::trust::{BiscuitRoot, RootKey, TrustSnapshot};

/// A token whose every signature, key and seal holds.
pub(super) struct Verified<'t> {
    /// The token, for the engine.
    pub(super) token: Biscuit,
    /// The root that really verified it.
    pub(super) root: BiscuitRoot<'t>,
    /// The signature of each block in its one canonical form (protocol K5: P-256 as low-s r‖s).
    pub(super) ids: Vec<Vec<u8>>,
}

/// Verifies an admitted token under the roots that its root key id names, or under each root when it names none.
pub(super) fn verify<'t>(
    bytes: &[u8],
    envelope: &Envelope<'_>,
    trust: &'t TrustSnapshot,
) -> Result<Verified<'t>, BiscuitFault> {
    let named: Vec<BiscuitRoot<'_>> = trust.biscuit_roots(envelope.root_key_id).collect();
    if named.is_empty() {
        return Err(BiscuitFault::UnknownRoot { id: envelope.root_key_id });
    }
    let speaks = |root: &&BiscuitRoot<'_>| root.issuer.speaks.covers_format(pact_mandate::Format::Biscuit);
    let candidates: Vec<BiscuitRoot<'_>> = named.iter().filter(speaks).copied().collect();
    let count = candidates.len();
    if count == 0 {
        return Err(BiscuitFault::FormatNotSpoken);
    }
    let mut candidates = candidates.into_iter();
    let found = candidates.find_map(|root| Some((under(bytes, &root).transpose()?, root)));
    let (token, root) = found.ok_or(BiscuitFault::BadSignature { candidates: count })?;
    let ids = ids(root.root, &envelope.links).ok_or(BiscuitFault::Unreadable)?;
    Ok(Verified { token: token?, root, ids })
}

/// The token, when it verifies under that root. The crate verifies every signature before it reads a block.
fn under(bytes: &[u8], root: &BiscuitRoot<'_>) -> Result<Option<Biscuit>, BiscuitFault> {
    let algorithm = match root.root {
        RootKey::Ed25519 { .. } => CrateAlgorithm::Ed25519,
        RootKey::P256 { .. } => CrateAlgorithm::Secp256r1,
    };
    let Ok(key) = CrateKey::from_bytes(root.root.public_bytes(), algorithm) else { return Ok(None) };
    match guarded(|| Biscuit::from(bytes, key))? {
        Ok(token) => Ok(Some(token)),
        // The second is what the crate says to a signature of the other algorithm's form.
        Err(error::Token::Format(
            error::Format::Signature(_) | error::Format::BlockSignatureDeserializationError(_),
        )) => Ok(None),
        Err(_) => Err(BiscuitFault::Unreadable),
    }
}

/// The root signed the first block, and the key in each block the next one.
fn ids(root: &RootKey, links: &[Link<'_>]) -> Option<Vec<Vec<u8>>> {
    let first = match root {
        RootKey::Ed25519 { .. } => Algorithm::Ed25519,
        RootKey::P256 { .. } => Algorithm::P256,
    };
    let signers = std::iter::once(first).chain(links.iter().map(|link| link.next));
    signers.zip(links).map(|(signer, link)| canonical(signer, link.signature)).collect()
}

fn canonical(signer: Algorithm, signature: &[u8]) -> Option<Vec<u8>> {
    match signer {
        Algorithm::Ed25519 => (signature.len() == 64).then(|| signature.to_vec()),
        Algorithm::P256 => Some(LowS::from_der(signature)?.as_bytes().to_vec()),
    }
}
