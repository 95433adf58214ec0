//! What a publisher stores and serves: the same bytes for a server of ours, any web server and a CDN (protocol R2).

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, signed::SignedError};

use crate::{list::ListVersion, name::BodyName, published::Published};

/// Where lists are published, below the origin.
pub const PUBLISHED_AT: &str = "/.well-known/pact-revocations/";

/// The files of one issuer's lists. A snapshot: a newer list is a new value.
#[derive(Clone, Debug, Default)]
pub struct PublishedFiles {
    lists: BTreeMap<Format, PublishedFile>,
    bodies: BTreeMap<BodyName, PublishedFile>,
}

/// One file and how it is served.
#[derive(Clone, Debug)]
pub struct PublishedFile {
    path: String,
    bytes: Arc<[u8]>,
    kind: FileKind,
    tag: BodyName,
}

/// Whether a file changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A head or a compatible list: replaced every few seconds.
    List {
        /// Its format's name is its place.
        format: Format,
        /// Its number, which is also told in a header.
        version: ListVersion,
    },
    /// A body or delta, named by its hash: never changes.
    Body,
}

impl PublishedFiles {
    /// The files of our own list.
    pub fn of(published: &Published) -> Result<PublishedFiles, SignedError> {
        let mut files = PublishedFiles::default();
        files.put(Format::Pact, published.version(), published.head_bytes()?);
        let body = (published.body().name(), published.body_bytes());
        for (name, bytes) in std::iter::once(body).chain(published.deltas()) {
            let path = format!("{}/{name}", Format::Pact);
            let file = PublishedFile { path, bytes: Arc::clone(bytes), kind: FileKind::Body, tag: *name };
            files.bodies.insert(*name, file);
        }
        Ok(files)
    }

    /// These, and a compatible list of that format.
    #[must_use]
    pub fn with_compatible(mut self, format: Format, version: ListVersion, bytes: Vec<u8>) -> PublishedFiles {
        self.put(format, version, bytes);
        self
    }

    /// These, and the bodies of the files before, so that who read the head before still finds what it names.
    #[must_use]
    pub fn keeping_bodies_of(mut self, before: &PublishedFiles) -> PublishedFiles {
        for (name, file) in &before.bodies {
            self.bodies.entry(*name).or_insert_with(|| file.clone());
        }
        self
    }

    /// The file at that place below [`PUBLISHED_AT`].
    pub fn get(&self, path: &str) -> Option<&PublishedFile> {
        match path.split_once('/') {
            None => self.lists.get(&Format::from_name(path)?),
            Some((format, name)) if format == Format::Pact.name() => self.bodies.get(&name.parse().ok()?),
            Some(_) => None,
        }
    }

    /// All files in the order in which they must be stored: bodies before the head that names them.
    pub fn in_storing_order(&self) -> impl Iterator<Item = &PublishedFile> {
        self.bodies.values().chain(self.lists.values())
    }

    /// Loses a body or delta.
    #[cfg(test)]
    pub(crate) fn forget(&mut self, name: &BodyName) {
        self.bodies.remove(name);
    }

    fn put(&mut self, format: Format, version: ListVersion, bytes: Vec<u8>) {
        let tag = BodyName::of(&bytes);
        let kind = FileKind::List { format, version };
        let file = PublishedFile { path: format.name().to_owned(), bytes: bytes.into(), kind, tag };
        self.lists.insert(format, file);
    }
}

impl PublishedFile {
    /// Its place in a URL, below [`PUBLISHED_AT`].
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
            FileKind::List { format: Format::Pact | Format::Biscuit, .. } => "application/json",
            FileKind::List { format: Format::Tenuo, .. } | FileKind::Body => "application/octet-stream",
        }
    }

    /// `cache-control` (protocol R2).
    pub fn cache_control(&self) -> &'static str {
        match self.kind {
            FileKind::List { .. } => "max-age=5",
            FileKind::Body => "public, max-age=31536000, immutable",
        }
    }
}
