//! Where things lie in a data folder, and who may look in.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use pact_mandate::SecretKey;
use pact_revocation::disk;

use super::StoreError;
use crate::keyring::KeyEntry;

/// The paths of a data folder.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// Makes the folders that are missing, for their owner alone.
    pub(super) fn create(dir: &Path) -> Result<Folder, StoreError> {
        let folder = Folder(dir.to_owned());
        for path in [dir, &folder.keys(), &folder.lists()] {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(StoreError::io(path))?;
        }
        Folder::open(dir)
    }

    /// Refuses a folder that others may enter: it leads to the keys.
    pub(super) fn open(dir: &Path) -> Result<Folder, StoreError> {
        let metadata = match fs::metadata(dir) {
            Ok(metadata) if metadata.is_dir() => metadata,
            _ => return Err(StoreError::NotAStore(dir.to_owned())),
        };
        let mode = metadata.mode() & 0o7777;
        if mode & 0o077 != 0 {
            return Err(StoreError::OpenToOthers { path: dir.to_owned(), mode });
        }
        Ok(Folder(dir.to_owned()))
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.0.join("journal.jsonl")
    }

    /// The name that a journal of so many lines gets when a shorter one takes its place.
    pub(super) fn old_journal(&self, lines: u64) -> PathBuf {
        self.0.join(format!("journal-{lines}.jsonl"))
    }

    pub(super) fn lock(&self) -> PathBuf {
        self.0.join("lock")
    }

    pub(super) fn signer_lock(&self) -> PathBuf {
        self.0.join("signer.lock")
    }

    pub(super) fn lists(&self) -> PathBuf {
        self.0.join("lists")
    }

    fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    /// A key's file is named by its thumbprint: an operator's own key id may be no file name.
    fn secret(&self, entry: &KeyEntry) -> PathBuf {
        self.keys().join(format!("{}.key", entry.key.thumbprint()))
    }

    /// Keeps a secret key. It counts when the key is in the journal, so one left over by a crash harms nobody.
    pub(super) fn write_secret(&self, entry: &KeyEntry, secret: &SecretKey) -> Result<(), StoreError> {
        let path = self.secret(entry);
        if path.exists() {
            fs::remove_file(&path).map_err(StoreError::io(&path))?;
        }
        Ok(secret.write_file(&path)?)
    }

    /// Reads a secret key under its name in the keyring.
    pub(super) fn read_secret(&self, entry: &KeyEntry) -> Result<SecretKey, StoreError> {
        let secret = SecretKey::read_file(&self.secret(entry))?;
        Ok(secret.named(entry.kid.clone()))
    }
}

/// Puts a whole file in its place: readers see the old file or the new one.
pub(crate) fn replace_file(path: &Path, content: &[u8], mode: u32) -> Result<(), StoreError> {
    disk::replace(path, content, mode).map_err(StoreError::io(path))
}

pub(crate) fn sync_dir(dir: &Path) -> Result<(), StoreError> {
    disk::sync_folder(dir).map_err(StoreError::io(dir))
}
