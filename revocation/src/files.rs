//! What a publisher stores and serves: the same bytes for a server of ours, any web server and a CDN (protocol R2).

mod folder;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, UnixTime, signed::SignedError};

use crate::{
    limits::{BODY_CACHE_SECONDS, BODY_KEPT_SECONDS, LIST_CACHE_SECONDS},
    list::ListVersion,
    name::BodyName,
    published::Published,
};

pub use folder::WriteError;

/// Where everything stands, below the origin.
pub const WELL_KNOWN: &str = ".well-known";

/// The files of one issuer at one moment, by their path below the origin. A newer list is a new value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PublishedFiles(BTreeMap<String, PublishedFile>);

/// One file and how it is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    path: String,
    bytes: Arc<[u8]>,
    kind: FileKind,
    tag: BodyName,
}

/// What a file is, and so whether it changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A body or delta, named by its hash: never changes.
    Body {
        /// When a head named it last.
        named_at: UnixTime,
    },
    /// A key set.
    Keys {
        /// Seconds for which it may be cached (protocol K6).
        cache: u64,
    },
    /// A head or a compatible list: replaced every few seconds.
    List {
        /// Its format's name is its place.
        format: Format,
        /// Its number, which is also told in a header.
        version: ListVersion,
    },
}

/// Where the list of a format stands, below the origin, without a slash at the front.
pub fn list_path(format: Format) -> String {
    format!("{WELL_KNOWN}/pact-revocations/{}", format.name())
}

impl PublishedFiles {
    /// The files of our own list, whose head names its bodies at `now`.
    pub fn of(published: &Published, now: UnixTime) -> Result<PublishedFiles, SignedError> {
        let mut files = PublishedFiles::default();
        let head = list_path(Format::Pact);
        let body = (published.body().name(), published.body_bytes());
        for (name, bytes) in published.deltas().chain([body]) {
            let (path, kind) = (format!("{head}/{name}"), FileKind::Body { named_at: now });
            files.put(PublishedFile { path, bytes: Arc::clone(bytes), kind, tag: *name });
        }
        let kind = FileKind::List { format: Format::Pact, version: published.version() };
        files.put(PublishedFile::new(head, kind, published.head_bytes()?));
        Ok(files)
    }

    /// These, and the compatible list of that format.
    #[must_use]
    pub fn with_compatible(mut self, format: Format, version: ListVersion, bytes: Vec<u8>) -> PublishedFiles {
        self.put(PublishedFile::new(list_path(format), FileKind::List { format, version }, bytes));
        self
    }

    /// These, and a key set of that name below [`WELL_KNOWN`], which may be cached for so many seconds.
    #[must_use]
    pub fn with_keys(mut self, name: &str, document: String, cache: u64) -> PublishedFiles {
        let (path, kind) = (format!("{WELL_KNOWN}/{name}"), FileKind::Keys { cache });
        self.put(PublishedFile::new(path, kind, document.into_bytes()));
        self
    }

    /// These and those; where both have a file at one place, that of those.
    #[must_use]
    pub fn with(mut self, those: PublishedFiles) -> PublishedFiles {
        self.0.extend(those.0);
        self
    }

    /// These, and the bodies of the files before that a head named a moment ago: who read that head still asks for them.
    #[must_use]
    pub fn keeping_bodies_of(mut self, before: &PublishedFiles, now: UnixTime) -> PublishedFiles {
        for (path, file) in &before.0 {
            if matches!(file.kind, FileKind::Body { named_at } if now.since(named_at) <= BODY_KEPT_SECONDS) {
                self.0.entry(path.clone()).or_insert_with(|| file.clone());
            }
        }
        self
    }

    /// The file at that path below the origin.
    pub fn get(&self, path: &str) -> Option<&PublishedFile> {
        self.0.get(path)
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All files in the order in which they must be stored: bodies before the head that names them. Key sets come before
    /// the lists that they verify.
    pub fn in_storing_order(&self) -> impl Iterator<Item = &PublishedFile> {
        let turns: [fn(&FileKind) -> bool; 3] = [
            |kind| matches!(kind, FileKind::Body { .. }),
            |kind| matches!(kind, FileKind::Keys { .. }),
            |kind| matches!(kind, FileKind::List { .. }),
        ];
        turns.into_iter().flat_map(|turn| self.0.values().filter(move |file| turn(&file.kind)))
    }

    /// Loses a body or delta.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, name: &BodyName) {
        self.0.remove(&format!("{}/{name}", list_path(Format::Pact)));
    }

    fn put(&mut self, file: PublishedFile) {
        self.0.insert(file.path.clone(), file);
    }
}

impl PublishedFile {
    fn new(path: String, kind: FileKind, bytes: Vec<u8>) -> PublishedFile {
        PublishedFile { path, tag: BodyName::of(&bytes), bytes: bytes.into(), kind }
    }

    /// Its place in a URL: the path below the origin, without a slash at the front.
    pub fn url_path(&self) -> &str {
        &self.path
    }

    /// Its place in a folder. A file system cannot hold both the head `pact` and the bodies `pact/…`, so there the head is the
    /// index of the folder: a web server that is asked for `pact` answers with it, mostly after a redirect to `pact/`.
    pub fn file_path(&self) -> String {
        match self.kind {
            FileKind::List { format: Format::Pact, .. } => format!("{}/index.html", self.path),
            _ => self.path.clone(),
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// What it is.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The entity tag, with its quotes: the hash of the bytes.
    pub fn etag(&self) -> String {
        format!("\"{}\"", self.tag)
    }

    /// `content-type`.
    pub fn content_type(&self) -> &'static str {
        match self.kind {
            FileKind::Keys { .. } | FileKind::List { format: Format::Pact | Format::Biscuit, .. } => {
                "application/json"
            }
            FileKind::List { format: Format::Tenuo, .. } | FileKind::Body { .. } => {
                "application/octet-stream"
            }
        }
    }

    /// `cache-control` (protocol R2, K6).
    pub fn cache_control(&self) -> String {
        match self.kind {
            FileKind::Body { .. } => format!("public, max-age={BODY_CACHE_SECONDS}, immutable"),
            FileKind::Keys { cache } => format!("public, max-age={cache}"),
            FileKind::List { .. } => format!("max-age={LIST_CACHE_SECONDS}"),
        }
    }
}
