//! `[receipts]`: where decisions are written down, and what happens when that fails.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use super::{ConfigError, raw::RawReceipts};

/// Where receipts go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReceiptsTo {
    /// Into files in a folder.
    #[default]
    File,
    /// To standard output, a line each.
    Stdout,
    /// Nowhere: by an explicit word of the operator alone.
    Off,
}

/// What becomes of a call whose receipt cannot be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OnFull {
    /// No receipt, no call.
    #[default]
    Refuse,
    /// It is let through and counted: by an explicit word of the operator alone.
    Permit,
}

/// The section, its folder joined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReceiptsConfig {
    pub(crate) to: ReceiptsTo,
    pub(crate) folder: PathBuf,
    pub(crate) rotate_bytes: u64,
    pub(crate) rotate_after: Duration,
    pub(crate) keep: usize,
    pub(crate) on_full: OnFull,
}

impl ReceiptsConfig {
    /// Fills in the folder, so that the configuration in effect shows it.
    pub(super) fn from_raw(
        raw: &mut RawReceipts,
        state_dir: &Path,
        folder: &Path,
    ) -> Result<ReceiptsConfig, ConfigError> {
        if !(64 * 1024..=64 * 1024 * 1024 * 1024).contains(&raw.rotate_bytes) {
            return Err(ConfigError::OutOfRange("receipts.rotate_bytes", "65536 to 68719476736"));
        }
        if !(1..=100_000).contains(&raw.keep) {
            return Err(ConfigError::OutOfRange("receipts.keep", "1 to 100000 files"));
        }
        let path = raw.path.get_or_insert_with(|| state_dir.join("receipts"));
        Ok(ReceiptsConfig {
            to: raw.to,
            folder: folder.join(path),
            rotate_bytes: raw.rotate_bytes,
            rotate_after: raw.rotate_after.get(),
            keep: raw.keep,
            on_full: raw.on_full,
        })
    }
}
