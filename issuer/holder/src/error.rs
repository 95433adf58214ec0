//! Every way in which no proof is made.

use std::path::PathBuf;

use pact_mandate::{
    canonical::CanonicalError,
    cbor::CborError,
    key::{KeyError, SignerUnavailable},
    signed::SignedError,
};
use pact_verifier::{act::ActProofFault, proof::tenuo::TenuoProofFault};

/// Why no proof was made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignError {
    /// The stack is not base64.
    #[error(
        "the Tenuo credential is not base64; give the warrant stack as it was exported, nothing around it"
    )]
    NotBase64,
    /// The stack is not one.
    #[error("the Tenuo credential is not a warrant stack: {0}")]
    NotAStack(#[from] CborError),
    /// A stack without warrants has no holder.
    #[error("the Tenuo credential holds no warrant")]
    EmptyStack,
    /// The last warrant has no id.
    #[error("the last warrant of the Tenuo credential does not begin with its version and id")]
    NoWarrantId,
    /// The token's text could not stand in a header.
    #[error("the Biscuit credential is empty, or holds spaces or characters outside base64url")]
    NotAToken,
    /// P2: an argument whose name would be taken for a member of the proof.
    #[error("the argument {0} begins with '@', which no argument may")]
    ReservedArgument(String),
    /// The arguments of a call are an object.
    #[error("the arguments of a call are a JSON object")]
    NotAnObject,
    /// The request for a credential anew could not be written.
    #[error(transparent)]
    Statement(#[from] SignedError),
    /// The key has no name in text.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The arguments have no canonical form.
    #[error(transparent)]
    Canonical(#[from] CanonicalError),
    /// Tenuo's message could not be made of the call.
    #[error(transparent)]
    Tenuo(#[from] TenuoProofFault),
    /// The act could not be put into words.
    #[error(transparent)]
    Act(#[from] ActProofFault),
    /// The keeper of the key gave no signature.
    #[error(transparent)]
    Signer(#[from] SignerUnavailable),
}

/// Why a file is not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// Longer than the bound.
    #[error("{path} is longer than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        limit: usize,
    },
}
