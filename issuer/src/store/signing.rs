//! Our list, signed by one process at a time (protocol R2). `lists/head` is the commit of a list: it is stored, with the
//! bodies that it names before it, and only then shown to anybody.

use std::{collections::BTreeSet, fs, io::ErrorKind};

use pact_mandate::{IssuerId, SecretKey, UnixTime, signed::SignedError};
use pact_revocation::{
    Draft, Listed, Published, disk, draft::DraftError, limits::KEEP_AFTER_EXPIRY_SECONDS,
    published::ReopenError,
};

use super::{Folder, Lock, Store, StoreError, folder::replace_file};
use crate::keyring::Role;

const HEAD: &str = "head";

/// The right to sign lists, and the last list that was signed.
#[derive(Debug)]
pub struct ListSigner {
    folder: Folder,
    published: Published,
    /// How much of what is listed was taken in, and of which reading of the journal.
    taken: usize,
    epoch: u64,
    _lock: Lock,
}

/// Why no list was signed.
#[derive(Debug, thiserror::Error)]
pub enum SigningError {
    /// The last one is gone.
    #[error("the last signed list is gone from {0}; restore it from a backup: a list is never begun anew")]
    NoHead(std::path::PathBuf),
    /// The last one cannot be continued.
    #[error("the last signed list cannot be continued: {0}")]
    Reopen(#[from] ReopenError),
    /// The new one cannot be made.
    #[error(transparent)]
    Draft(#[from] DraftError),
    /// The new one cannot be written.
    #[error(transparent)]
    Signed(#[from] SignedError),
}

/// Signs and stores the first list, which is empty.
pub(super) fn begin(
    folder: &Folder,
    issuer: &IssuerId,
    key: &SecretKey,
    now: UnixTime,
) -> Result<(), StoreError> {
    let first = Draft::first(issuer.clone()).sign(key, now).map_err(SigningError::from)?;
    keep(folder, &first)
}

impl ListSigner {
    /// Becomes the one process that signs lists.
    pub fn take(store: &Store) -> Result<ListSigner, StoreError> {
        let folder = store.folder().clone();
        let lock = Lock::try_take(&folder.signer_lock())?;
        let head = folder.lists().join(HEAD);
        let bytes = match fs::read(&head) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(SigningError::NoHead(head).into());
            }
            other => other.map_err(StoreError::io(&head))?,
        };
        let keys = store.state().keyring().historical(Role::List);
        let lists = folder.lists();
        let file = |name: &pact_revocation::BodyName| fs::read(lists.join(name.to_string())).ok();
        let published = Published::reopen(&bytes, &keys, file).map_err(SigningError::from)?;
        Ok(ListSigner { folder, published, taken: 0, epoch: store.epoch, _lock: lock })
    }

    /// Signs the list of this moment: a new one when the set changed, the same one anew when it did not.
    pub fn sign(&mut self, store: &Store, now: UnixTime) -> Result<&Published, StoreError> {
        let key = store.signer(Role::List)?;
        let listed = store.state().listed();
        if self.epoch != store.epoch {
            // The journal was read anew, so another name may stand in a place that was taken in.
            (self.taken, self.epoch) = (0, store.epoch);
        }
        let kept = |listed: &&Listed| listed.expires_at.plus(KEEP_AFTER_EXPIRY_SECONDS) > now;
        let new = listed.get(self.taken..).unwrap_or(listed).iter().filter(kept).copied();
        let draft = Draft::after(&self.published).revoke(new);
        let published = draft.sign(&key, now).map_err(SigningError::from)?;
        if published.version() != self.published.version() {
            keep(&self.folder, &published)?;
        }
        self.taken = listed.len();
        self.published = published;
        Ok(&self.published)
    }

    /// The last signed list.
    pub fn published(&self) -> &Published {
        &self.published
    }

    /// How much of what is listed stands in the last signed list.
    pub fn taken(&self) -> usize {
        self.taken
    }
}

/// Stores bodies and deltas, then the head that names them, then drops what it names no more.
fn keep(folder: &Folder, list: &Published) -> Result<(), StoreError> {
    let lists = folder.lists();
    let mut named = BTreeSet::from([HEAD.to_owned()]);
    let body = list.head().statement().entries().sha256;
    for (name, bytes) in list.deltas().chain([(&body, list.body_bytes())]) {
        let name = name.to_string();
        let path = lists.join(&name);
        if !path.exists() {
            replace_file(&path, bytes, disk::PRIVATE)?;
        }
        named.insert(name);
    }
    let head = list.head_bytes().map_err(SigningError::from)?;
    replace_file(&lists.join(HEAD), &head, disk::PRIVATE)?;
    for entry in fs::read_dir(&lists).map_err(StoreError::io(&lists))?.flatten() {
        if !named.contains(entry.file_name().to_string_lossy().as_ref()) {
            // Left over at worst: nothing names it.
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(())
}
