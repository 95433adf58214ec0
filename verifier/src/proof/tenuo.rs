//! Tenuo proofs, with and without our five members (protocol P1, P3).

use pact_mandate::{Call, PublicKey, Signature, UnixTime};

use super::{Audience, FreshProof, ProofFault, ProvenBy};

pub(crate) fn verify(
    _: &[u8; 16],
    _: &PublicKey,
    _: &Call,
    _: &Audience,
    _: &Signature,
    _: Option<&FreshProof>,
    _: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    unimplemented!()
}
