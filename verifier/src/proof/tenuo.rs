//! Tenuo proofs, with and without our five members (protocol P1, P3).

use pact_mandate::{Asked, PublicKey, Signature, UnixTime};

use super::{Audience, FreshProof, ProofFault, ProvenBy};

pub(crate) fn verify(
    _: &[u8; 16],
    _: &PublicKey,
    _: &Signature,
    _: Option<&FreshProof>,
    _: &Asked,
    _: &Audience,
    _: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    unimplemented!()
}
