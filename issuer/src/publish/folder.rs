//! The same bytes as static files, for any web server or CDN.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::MetadataExt,
    path::Path,
    time::{Duration, SystemTime},
};

use pact_mandate::{Format, UnixTime};
use pact_revocation::BodyName;

use super::{Document, Documents, Kind, RenderError, list_path};
use crate::{
    limits::BODY_KEPT_SECONDS,
    store::{StoreError, replace_file},
};

const READABLE_BY_ALL: u32 = 0o644;
/// Our list's head shares its path with the folder of its bodies, so it is that folder's index.
const INDEX: &str = "index.html";

/// Why nothing was published.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// What other processes did cannot be read.
    #[error(transparent)]
    Journal(StoreError),
    /// The data folder, or a file.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A list.
    #[error(transparent)]
    Render(#[from] RenderError),
}

/// Writes all documents below `out`: bodies first, then the lists that name them, then the key sets; each whole or not
/// at all. A body stays a while after nothing names it any more: a verifier that just read its head still asks for it.
pub fn write(documents: &Documents, out: &Path, now: UnixTime) -> Result<(), PublishError> {
    let (bodies, others): (Vec<_>, Vec<_>) =
        documents.iter().partition(|(_, document)| document.kind == Kind::Body);
    for (path, document) in bodies {
        let file = out.join(path);
        put(&file, document)?;
        mark_named(&file, now)?;
    }
    let head = list_path(Format::Pact);
    for (path, document) in others {
        let file = if *path == head { out.join(path).join(INDEX) } else { out.join(path) };
        put(&file, document)?;
    }
    remove_unnamed(&out.join(head), now);
    Ok(())
}

fn put(file: &Path, document: &Document) -> Result<(), StoreError> {
    if fs::read(file).is_ok_and(|held| *held == *document.bytes) {
        return Ok(());
    }
    if let Some(dir) = file.parent() {
        fs::create_dir_all(dir).map_err(|source| StoreError::Io { path: dir.to_owned(), source })?;
    }
    replace_file(file, &document.bytes, READABLE_BY_ALL)
}

/// A body's time of modification says when a head named it last, also to the process after this one.
fn mark_named(file: &Path, now: UnixTime) -> Result<(), StoreError> {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(now.seconds());
    let marked = OpenOptions::new().write(true).open(file).and_then(|file| file.set_modified(time));
    marked.map_err(|source| StoreError::Io { path: file.to_owned(), source })
}

/// What cannot be removed stays: nothing names it.
fn remove_unnamed(dir: &Path, now: UnixTime) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let is_body = entry.file_name().to_string_lossy().parse::<BodyName>().is_ok();
        let named_at = entry.metadata().ok().and_then(|file| u64::try_from(file.mtime()).ok());
        let kept_until = named_at.map(|at| at.saturating_add(BODY_KEPT_SECONDS));
        if is_body && kept_until.is_some_and(|until| until < now.seconds()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
