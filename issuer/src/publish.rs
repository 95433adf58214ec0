//! What everybody may read: key sets and lists, byte for byte as they are served or written.

mod folder;
mod publisher;
mod shelf;
mod web_keys;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, sync::Arc};

use pact_mandate::{Format, SecretKey, UnixTime, hex, key::SignerUnavailable, signed::SignedError};
use pact_revocation::{
    ListVersion, Published,
    compat::{biscuit::BiscuitList, tenuo::TenuoList},
    list::VersionOutOfRange,
};
use sha2::{Digest, Sha256};

pub use folder::{PublishError, write};
pub use publisher::{Publisher, Report};

use crate::{
    keyring::{Keyring, KeyringError, Role},
    limits::{BODY_CACHE_SECONDS, LIST_CACHE_SECONDS},
    record::CredentialId,
    store::State,
};

/// Where everything stands below the origin.
pub const WELL_KNOWN: &str = ".well-known";
/// The lists, below [`WELL_KNOWN`].
pub const REVOCATIONS: &str = ".well-known/pact-revocations";

/// One document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// What it is.
    pub kind: Kind,
    /// Its bytes.
    pub bytes: Arc<[u8]>,
    /// A strong validator: the SHA-256 of the bytes, quoted.
    pub etag: String,
}

/// What a document is, and so how it is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A key set, which may be cached for so many seconds.
    Keys {
        /// Seconds.
        cache: u64,
    },
    /// A list that is signed anew every ten seconds.
    List {
        /// Of which format.
        format: Format,
        /// Its number.
        version: ListVersion,
    },
    /// A body or delta, named by its hash: it never changes.
    Body,
}

/// Documents by their path below the origin, without a slash at the front.
pub type Documents = BTreeMap<String, Document>;

/// Why lists cannot be rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// A list cannot be signed.
    #[error(transparent)]
    Signed(#[from] SignedError),
    /// The key's keeper gave no signature.
    #[error(transparent)]
    Signer(#[from] SignerUnavailable),
    /// A number ran out.
    #[error(transparent)]
    Version(#[from] VersionOutOfRange),
}

impl Document {
    fn new(kind: Kind, bytes: impl Into<Arc<[u8]>>) -> Document {
        let bytes = bytes.into();
        let digest = Sha256::digest(&bytes);
        Document { kind, bytes, etag: format!("\"{}\"", hex::encode(&digest)) }
    }

    /// Its media type.
    pub fn content_type(&self) -> &'static str {
        match self.kind {
            Kind::Keys { .. } | Kind::List { format: Format::Biscuit | Format::Pact, .. } => {
                "application/json"
            }
            Kind::List { format: Format::Tenuo, .. } | Kind::Body => "application/octet-stream",
        }
    }

    /// How long it may be cached.
    pub fn cache_control(&self) -> String {
        match self.kind {
            Kind::Keys { cache } => format!("public, max-age={cache}"),
            Kind::List { .. } => format!("max-age={LIST_CACHE_SECONDS}"),
            Kind::Body => format!("public, max-age={BODY_CACHE_SECONDS}, immutable"),
        }
    }
}

/// The published key sets at `now` (protocol K1, K6). `cache` is how long they may be kept.
pub fn keys(keyring: &Keyring, issuer: &str, cache: u64, now: UnixTime) -> Result<Documents, KeyringError> {
    let mandate = keyring.published(Role::Mandate, now)?;
    let list = keyring.published(Role::List, now)?;
    let sets = [
        ("pact-keys.json", mandate.to_document()),
        ("pact-list-keys.json", list.to_document()),
        // Reserved for JWT keys (protocol K1): empty until there are any.
        ("jwks.json", r#"{"keys":[]}"#.to_owned()),
        ("biscuit-web-keys", web_keys::document(&mandate, issuer)),
    ];
    let document = |(name, text): (&str, String)| {
        (format!("{WELL_KNOWN}/{name}"), Document::new(Kind::Keys { cache }, text.into_bytes()))
    };
    Ok(sets.into_iter().map(document).collect())
}

/// The three lists, and the bodies that ours names. The two compatible ones are signed here, by the active mandate key
/// (protocol K1); without one they are left out, and verifiers that know only them stop for want of a fresh list.
pub fn lists(
    state: &State,
    published: &Published,
    key: Option<&SecretKey>,
    now: UnixTime,
) -> Result<Documents, RenderError> {
    let mut documents = Documents::new();
    let head = published.head_bytes()?;
    let path = list_path(Format::Pact);
    documents.extend(
        bodies(published).map(|(name, bytes)| (format!("{path}/{name}"), Document::new(Kind::Body, bytes))),
    );
    let kind = |format, version| Kind::List { format, version };
    documents.insert(path, Document::new(kind(Format::Pact, published.version()), head));
    if let Some(key) = key {
        for format in [Format::Tenuo, Format::Biscuit] {
            let (version, bytes) = compatible(state, format, key, now)?;
            documents.insert(list_path(format), Document::new(kind(format, version), bytes));
        }
    }
    Ok(documents)
}

/// Where the list of a format stands.
pub fn list_path(format: Format) -> String {
    format!("{REVOCATIONS}/{}", format.name())
}

fn bodies(published: &Published) -> impl Iterator<Item = (String, Arc<[u8]>)> {
    let body =
        (published.head().statement().entries().sha256.to_string(), Arc::clone(published.body_bytes()));
    published.deltas().map(|(name, bytes)| (name.to_string(), Arc::clone(bytes))).chain([body])
}

fn compatible(
    state: &State,
    format: Format,
    key: &SecretKey,
    now: UnixTime,
) -> Result<(ListVersion, Vec<u8>), RenderError> {
    let list = state.compatible(format).cloned().unwrap_or_default();
    let version = ListVersion::try_from(list.version())?;
    let mut warrants = Vec::new();
    let mut blocks = Vec::new();
    for id in list.unexpired(now) {
        match id {
            CredentialId::Warrant(id) => warrants.push(id),
            CredentialId::Block(id) => blocks.push(id),
        }
    }
    let bytes = if format == Format::Tenuo {
        TenuoList { version, issued_at: now, warrants }.sign(key)?
    } else {
        BiscuitList::new(version, now, blocks.iter().map(<[u8; 64]>::as_slice)).sign(key)?
    };
    Ok((version, bytes))
}
