//! Every key of every issuer, pinned or published, and what of them counts now (protocol K1 to K4).

use pact_mandate::{IssuerId, KeyId, jwks::KeySetError};

use pact_verifier::trust::TrustError;

use crate::limits::MAX_KEYS_SEEN;

mod book;
mod owners;
mod pages;
mod published;
mod watch;

pub(crate) use book::{IssuerKeys, KeyBook};
pub use owners::Dispute;
pub(crate) use pages::KeyPlace;
pub(crate) use watch::watch;

/// Why a fetched set does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeysFault {
    /// It could not be fetched.
    #[error("the key set could not be fetched: {text}")]
    Fetch {
        /// The stable code of the cause.
        code: &'static str,
        /// The cause, for a person.
        text: String,
    },
    /// It is none.
    #[error(transparent)]
    Set(#[from] KeySetError),
    /// K3: a public key belongs to one issuer.
    #[error(
        "the key set holds the key {key}, which belongs to {owner}; the set is refused whole until its issuer takes the key out"
    )]
    Foreign {
        /// Its id in the refused set.
        key: KeyId,
        /// Whose it is.
        owner: IssuerId,
    },
    /// K3, where it cannot be known whose the key is.
    #[error("{0}; the set is refused whole")]
    Disputed(Dispute),
    /// More keys of this issuer than are remembered.
    #[error(
        "the issuer has published more than {MAX_KEYS_SEEN} keys since this process began; a restart forgets them"
    )]
    TooManyKeysSeen,
    /// K1: a key has one role.
    #[error(
        "the key set holds the key {key}, which has another role already; the set is refused whole until its issuer publishes another key for one of the two"
    )]
    TwoRoles {
        /// Its id in the refused set.
        key: KeyId,
    },
    /// It slipped through, and does not go together with the others.
    #[error("the key set does not go together with the other keys: {0}")]
    NotTogether(TrustError),
    /// The id of a pinned key, for another key.
    #[error(
        "the key set gives the id {key} to another key than the pinned one; the set is refused whole: ask the issuer which of the two is right, and pin that one under its id"
    )]
    IdTaken {
        /// The id.
        key: KeyId,
    },
}
