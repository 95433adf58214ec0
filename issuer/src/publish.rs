//! What everybody may read: key sets and lists. [`keys`] and [`lists`] make them of records, wherever those are kept;
//! [`pact_revocation::PublishedFiles`] are stored and served. [`Publisher`] does it for a data folder.

mod publisher;
mod web_keys;

#[cfg(test)]
mod tests;

use pact_mandate::{Format, SecretKey, UnixTime, key::SignerUnavailable, signed::SignedError};
use pact_revocation::{
    ListVersion, Published, PublishedFiles,
    compat::{biscuit::BiscuitList, tenuo::TenuoList},
    list::VersionOutOfRange,
};

pub use publisher::{PublishError, Publisher, Report};

use crate::{
    compatible::{Compatible, CompatibleIds},
    keyring::{Keyring, KeyringError, Role},
    record::CredentialId,
};

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

/// The published key sets at `now` (protocol K1, K6). `cache` is for how many seconds they may be kept.
pub fn keys(
    keyring: &Keyring,
    issuer: &str,
    cache: u64,
    now: UnixTime,
) -> Result<PublishedFiles, KeyringError> {
    let mandate = keyring.published(Role::Mandate, now)?;
    let list = keyring.published(Role::List, now)?;
    let sets = [
        ("pact-keys.json", mandate.to_document()),
        ("pact-list-keys.json", list.to_document()),
        // Reserved for JWT keys (protocol K1): empty until there are any.
        ("jwks.json", r#"{"keys":[]}"#.to_owned()),
        ("biscuit-web-keys", web_keys::document(&mandate, issuer)),
    ];
    let none = PublishedFiles::default();
    Ok(sets.into_iter().fold(none, |files, (name, document)| files.with_keys(name, document, cache)))
}

/// The three lists, and the bodies that ours names. The two compatible ones are signed here, by the active mandate key
/// (protocol K1); without one they are left out, and verifiers that know only them stop for want of a fresh list.
pub fn lists(
    published: &Published,
    compatible: &Compatible,
    key: Option<&SecretKey>,
    now: UnixTime,
) -> Result<PublishedFiles, RenderError> {
    let mut files = PublishedFiles::of(published, now)?;
    for format in [Format::Tenuo, Format::Biscuit] {
        if let (Some(ids), Some(key)) = (compatible.of(format), key) {
            let (version, bytes) = signed(format, ids, key, now)?;
            files = files.with_compatible(format, version, bytes);
        }
    }
    Ok(files)
}

fn signed(
    format: Format,
    ids: &CompatibleIds,
    key: &SecretKey,
    now: UnixTime,
) -> Result<(ListVersion, Vec<u8>), RenderError> {
    let version = ListVersion::try_from(ids.version())?;
    let mut warrants = Vec::new();
    let mut blocks = Vec::new();
    for id in ids.unexpired(now) {
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
