//! One at a time: an advisory lock that the operating system releases when its process ends, however it ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use pact_revocation::disk;

use super::StoreError;
use crate::limits::{LOCK_PAUSE_MILLISECONDS, LOCK_TRIES};

/// A held lock; released when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits up to ten seconds.
    pub(super) fn take(path: &Path) -> Result<Lock, StoreError> {
        for _ in 1..LOCK_TRIES {
            match Lock::try_take(path) {
                Err(StoreError::Locked(_)) => {
                    std::thread::sleep(Duration::from_millis(LOCK_PAUSE_MILLISECONDS));
                }
                other => return other,
            }
        }
        Lock::try_take(path)
    }

    /// Does not wait.
    pub(super) fn try_take(path: &Path) -> Result<Lock, StoreError> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(disk::PRIVATE).open(path);
        let file = file.map_err(StoreError::io(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(StoreError::io(path)(source)),
        }
    }
}
