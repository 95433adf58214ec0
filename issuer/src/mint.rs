//! A person grants: the root of every chain.

use pact_mandate::{
    Mandate, Signer,
    chain::ChainError,
    mandate::{GrantError, RootGrant},
    signed::{Prepared, SignedError},
};

use crate::{chain::judge_again, record::MandateRecord};

/// Why nothing was minted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MintError {
    /// The grant itself.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// The signing, or reading back what was signed.
    #[error(transparent)]
    Signed(#[from] SignedError),
    /// What was signed does not hold when it is read again. It did not leave.
    #[error("the new mandate does not hold when it is read again ({0}); it was discarded")]
    ReadBack(#[from] ChainError),
}

/// The exact bytes of a person's grant, ready to be signed; [`Prepared::issue`] takes a signature made elsewhere.
pub fn prepare(grant: RootGrant) -> Result<Prepared<Mandate>, MintError> {
    Ok(Prepared::new(Mandate::root(grant)?)?)
}

/// Signs a person's grant with the active mandate key, and reads it again.
pub fn mint(grant: RootGrant, key: &dyn Signer) -> Result<MandateRecord, MintError> {
    let mandate = prepare(grant)?.sign(key)?;
    judge_again(std::iter::empty(), &mandate)?;
    Ok(MandateRecord::from(&mandate))
}
