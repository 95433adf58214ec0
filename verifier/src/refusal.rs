//! Every way to say no. The rungs' own faults stand beside the code that finds them; here they become one closed enum
//! with a stable code each.

use crate::{
    format::{biscuit::BiscuitFault, tenuo::TenuoFault},
    proof::ProofFault,
};

/// A refusal: final, and never a secret, a token or policy text in it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The Tenuo warrant stack.
    #[error(transparent)]
    Tenuo(#[from] TenuoFault),
    /// The Biscuit token.
    #[error(transparent)]
    Biscuit(#[from] BiscuitFault),
    /// The proof of possession.
    #[error(transparent)]
    Proof(#[from] ProofFault),
}

/// Whose fault a refusal is; the one file that maps refusals to the wire reads this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Nothing that could be judged: HTTP 400.
    Malformed,
    /// The credential or its proof does not hold: HTTP 401.
    Unauthenticated,
    /// It holds, but not for this call: HTTP 403.
    Forbidden,
    /// The holder has used up its share of the replay store (protocol P6): HTTP 429.
    TooMany,
    /// We cannot judge now: HTTP 503.
    Unavailable,
}
