//! Why a data folder cannot be used.

use std::path::{Path, PathBuf};

use pact_mandate::{canonical::CanonicalError, keyfile::KeyFileError};

use super::signing::SigningError;
use crate::{keyring::KeyringError, records::RecordsError};

/// Why a data folder cannot be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Nothing there.
    #[error(
        "{0} is not a data folder of pact-issuer; make one with: pact-issuer --dir {0} init --issuer NAME"
    )]
    NotAStore(PathBuf),
    /// One is there already.
    #[error("{0} is a data folder already; nothing was changed")]
    Exists(PathBuf),
    /// Others may look in.
    #[error("{path} may be entered by others (mode {mode:o}); run: chmod 700 {path}")]
    OpenToOthers {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// Another process is at it.
    #[error("{0} is held by another pact-issuer process; wait for it or stop it")]
    Locked(PathBuf),
    /// The journal was changed by something else than us, or damaged.
    #[error("line {line} of {path} is damaged ({fault}); restore the folder from a backup")]
    Journal {
        /// The journal.
        path: PathBuf,
        /// Which line, from 1.
        line: u64,
        /// What is wrong.
        fault: JournalFault,
    },
    /// A shorter journal would say another thing of what counts.
    #[error(
        "the shortened journal does not say the same of what has not ended; nothing was changed. Go on with the long one \
         and report this, it is a fault of ours"
    )]
    Compaction,
    /// What is on the disk could not be read again after it changed.
    #[error(
        "the journal could not be read anew after it changed; nothing more is written: start the command again"
    )]
    Unread,
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// A list cannot be signed without its key.
    #[error("none of the first keys is an active list key; give one, it signs the first list")]
    NoListKey,
    /// A secret key.
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    /// The keyring.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The records.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// The signed list.
    #[error(transparent)]
    Signing(#[from] Box<SigningError>),
}

/// What is wrong with a line of the journal.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalFault {
    /// Not a line of ours.
    #[error("{0}")]
    Content(#[from] CanonicalError),
    /// A line is missing or stands there twice.
    #[error("it carries number {0}")]
    OutOfOrder(u64),
    /// The first line says whose journal it is, and no other does.
    #[error("it is a second beginning, or the beginning is missing")]
    Beginning,
    /// The file became shorter.
    #[error("the file became shorter")]
    Shorter,
    /// Another line than the one that was read stands there.
    #[error("it is another line than before")]
    TakenBack,
    /// It does not fit what stands before it.
    #[error("{0}")]
    Misfit(String),
}

impl StoreError {
    /// For `map_err`.
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> StoreError {
        let path = path.to_owned();
        move |source| StoreError::Io { path, source }
    }
}

impl From<SigningError> for StoreError {
    fn from(error: SigningError) -> StoreError {
        StoreError::Signing(Box::new(error))
    }
}
