//! Every way in which a command can fail; the library's own words go through.

use pact_issuer::{
    delegate::DelegateError,
    keyring::{BoardKeysError, KeyringError, RotationError},
    mint::MintError,
    publish::PublishError,
    records::RecordsError,
    serve::ServeError,
    store::{ChainUnusable, NotExported, StoreError},
};
use pact_mandate::{ceilings::CeilingsError, key::KeyError, scope::ScopeError};

#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    BoardKeys(#[from] BoardKeysError),
    #[error(
        "neither PACT_BOARD_KEYS nor PACT_SIGNING_KEY is set; set one as the board has it, or leave --board-keys out for a \
         new key"
    )]
    NoBoardKeys,
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    #[error(transparent)]
    Rotation(#[from] RotationError),
    #[error("{0}")]
    Key(#[from] KeyError),
    #[error("the operating system gives no random numbers: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    Scope(#[from] ScopeError),
    #[error(transparent)]
    Limits(#[from] CeilingsError),
    #[error("the limit {0} is given twice")]
    LimitTwice(pact_mandate::ceilings::LimitName),
    #[error(transparent)]
    Mint(#[from] MintError),
    #[error(transparent)]
    Delegate(#[from] DelegateError),
    #[error("mandate cannot be used: {0}")]
    Chain(#[from] ChainUnusable),
    #[error(transparent)]
    Export(#[from] NotExported),
    #[error(transparent)]
    Records(#[from] RecordsError),
    #[error("{0} is neither a key of this folder nor a public key (43 characters of base64url)")]
    NotAKey(String),
    #[error(
        "--and-siblings goes with a warrant or block id; a mandate takes all its credentials with it anyway"
    )]
    NoSiblings,
    #[error(transparent)]
    Publish(#[from] PublishError),
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("{path}: {source}")]
    Listen { path: String, source: std::io::Error },
    #[error("--every must be between 1s and 10s: a list that is signed less often goes stale (protocol R2)")]
    Every,
}
