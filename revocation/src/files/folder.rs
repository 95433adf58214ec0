//! The same bytes as static files, for any web server or CDN.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use pact_mandate::{Format, UnixTime};

use super::{FileKind, PublishedFile, PublishedFiles, list_path};
use crate::{disk, limits::BODY_KEPT_SECONDS, name::BodyName};

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[error("{path}: {source}")]
pub struct WriteError {
    /// The file or its folder.
    pub path: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

impl PublishedFiles {
    /// Writes all files below `out` in storing order, each whole or not at all. A body stays a while after nothing names
    /// it any more: a verifier that just read its head still asks for it.
    pub fn write(&self, out: &Path, now: UnixTime) -> Result<(), WriteError> {
        for file in self.in_storing_order() {
            let path = out.join(file.file_path());
            put(&path, file)?;
            if let FileKind::Body { named_at } = file.kind {
                mark_named(&path, named_at)?;
            }
        }
        remove_unnamed(&out.join(list_path(Format::Pact)), now);
        Ok(())
    }
}

impl WriteError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> WriteError {
        move |source| WriteError { path: path.to_owned(), source }
    }
}

fn put(path: &Path, file: &PublishedFile) -> Result<(), WriteError> {
    let length = u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
    if disk::read(path, length).is_ok_and(|held| *held == *file.bytes) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(WriteError::at(folder))?;
    }
    disk::replace(path, &file.bytes, disk::PUBLIC).map_err(WriteError::at(path))
}

/// A body's time of modification says when a head named it last, also to the process after this one.
fn mark_named(path: &Path, named_at: UnixTime) -> Result<(), WriteError> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(named_at.seconds());
    let marked = OpenOptions::new().write(true).open(path).and_then(|file| file.set_modified(time));
    marked.map_err(WriteError::at(path))
}

/// What cannot be removed stays: nothing names it.
fn remove_unnamed(folder: &Path, now: UnixTime) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_body = entry.file_name().to_string_lossy().parse::<BodyName>().is_ok();
        let named_at = entry.metadata().ok().and_then(|file| u64::try_from(file.mtime()).ok());
        let kept_until = named_at.map(|at| at.saturating_add(BODY_KEPT_SECONDS));
        if is_body && kept_until.is_some_and(|until| until < now.seconds()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
