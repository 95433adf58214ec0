//! One at a time: an advisory lock that the operating system releases when its process ends, however it ends.

use std::{
    fs::{File, OpenOptions, TryLockError},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    time::Duration,
};

use super::StoreError;

const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// A held lock; released when dropped.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Lock {
    /// Waits up to ten seconds.
    pub(super) fn take(path: &Path) -> Result<Lock, StoreError> {
        for _ in 1..TRIES {
            match Lock::try_take(path) {
                Err(StoreError::Locked(_)) => std::thread::sleep(PAUSE),
                other => return other,
            }
        }
        Lock::try_take(path)
    }

    /// Does not wait.
    pub(super) fn try_take(path: &Path) -> Result<Lock, StoreError> {
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(0o600).open(path);
        let file = file.map_err(StoreError::io(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => Err(StoreError::io(path)(source)),
        }
    }
}
