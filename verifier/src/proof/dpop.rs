//! DPoP proofs (protocol P4).

use pact_mandate::{Asked, PublicKey, UnixTime};

use super::{Audience, ProofFault, ProvenBy};

pub(crate) fn verify(
    _: &str,
    _: &str,
    _: &PublicKey,
    _: &Asked,
    _: &Audience,
    _: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    unimplemented!()
}
