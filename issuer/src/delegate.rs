//! A holder hands on: narrower, below a chain that holds.

use pact_mandate::{
    Mandate, Signer,
    chain::{ChainError, ChildGrant, LinkFault},
    signed::{Prepared, SignedError},
};

use crate::{
    chain::{UnrevokedChain, judge_again},
    record::MandateRecord,
};

/// Why nothing was delegated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelegateError {
    /// The grant is wider than what stands above it, or nothing may be handed on.
    #[error("cannot delegate: {0}")]
    Wider(#[from] LinkFault),
    /// The signing, or reading back what was signed.
    #[error(transparent)]
    Signed(#[from] SignedError),
    /// What was signed does not hold when it is read again. It did not leave.
    #[error("the new mandate does not hold when it is read again ({0}); it was discarded")]
    ReadBack(#[from] ChainError),
}

/// The exact bytes of a mandate below `parent`, ready to be signed.
pub fn prepare(parent: &UnrevokedChain, grant: ChildGrant) -> Result<Prepared<Mandate>, DelegateError> {
    Ok(Prepared::new(parent.chain().delegate(grant)?)?)
}

/// Signs a mandate below `parent` with the active mandate key, and reads the whole chain again.
pub fn delegate(
    parent: &UnrevokedChain,
    grant: ChildGrant,
    key: &dyn Signer,
) -> Result<MandateRecord, DelegateError> {
    let mandate = prepare(parent, grant)?.sign(key)?;
    judge_again(parent.chain().links(), &mandate)?;
    Ok(MandateRecord::from(&mandate))
}
