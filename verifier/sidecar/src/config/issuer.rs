//! One issuer of the configuration (protocol K2): its keys, its list, and what it may speak for.

use pact_mandate::{IssuerId, key::Thumbprint};
use pact_revocation::net::ListUrl;
use pact_verifier::trust::{KeyOwners, KeyRole, Projects, Speaks};

use super::{
    ConfigError,
    pinned::{PinnedKey, PinnedRoot},
    raw::{RawIssuer, RawSpeaks},
};

/// An issuer whose credentials count.
#[derive(Clone, Debug)]
pub struct IssuerConfig {
    /// Its name.
    pub id: IssuerId,
    /// Keys at which its chains may begin, pinned here.
    pub roots: Vec<PinnedRoot>,
    /// Where it publishes such keys.
    pub keys_url: Option<ListUrl>,
    /// Keys that sign its list, pinned here.
    pub list_keys: Vec<PinnedKey>,
    /// Where it publishes such keys.
    pub list_keys_url: Option<ListUrl>,
    /// Its revocation list.
    pub lists_url: ListUrl,
    /// What it may speak for.
    pub speaks: Speaks,
    /// Whether a Biscuit without a holder may be used by whoever has it (protocol P8).
    pub bearer: bool,
}

impl IssuerConfig {
    pub(super) fn from_raw(raw: RawIssuer) -> Result<IssuerConfig, ConfigError> {
        let url = |key: &'static str, text: &str| {
            text.parse::<ListUrl>().map_err(|fault| ConfigError::IssuerUrl { key, fault })
        };
        let issuer = IssuerConfig {
            keys_url: raw.keys_url.as_deref().map(|text| url("keys_url", text)).transpose()?,
            list_keys_url: raw.list_keys_url.as_deref().map(|text| url("list_keys_url", text)).transpose()?,
            lists_url: url("lists_url", &raw.lists_url)?,
            speaks: speaks(raw.speaks)?,
            id: raw.id,
            roots: raw.roots,
            list_keys: raw.list_keys,
            bearer: raw.bearer,
        };
        issuer.check_keys()?;
        Ok(issuer)
    }

    /// Every key that is pinned here, and for what.
    pub(crate) fn pinned_keys(&self) -> impl Iterator<Item = (KeyRole, Thumbprint)> {
        let roots = self.roots.iter().filter_map(|root| root.key().thumbprint());
        let lists = self.list_keys.iter().map(|pinned| pinned.key.thumbprint());
        roots.map(|key| (KeyRole::Root, key)).chain(lists.map(|key| (KeyRole::List, key)))
    }

    /// Notes whose the pinned keys are (protocol K1, K3).
    pub(super) fn note_owners(&self, owners: &mut KeyOwners) -> Result<(), ConfigError> {
        for (role, key) in self.pinned_keys() {
            owners.note(&self.id, role, key)?;
        }
        Ok(())
    }

    /// An issuer without a root or without a list key could never be believed: a slip, not a wish.
    fn check_keys(&self) -> Result<(), ConfigError> {
        let issuer = || self.id.clone();
        if self.roots.is_empty() && self.keys_url.is_none() {
            return Err(ConfigError::NoRoots(issuer()));
        }
        if self.list_keys.is_empty() && self.list_keys_url.is_none() {
            return Err(ConfigError::NoListKeys(issuer()));
        }
        Ok(())
    }
}

fn speaks(raw: RawSpeaks) -> Result<Speaks, ConfigError> {
    let projects = Projects::from_texts(&raw.projects).map_err(|_| ConfigError::Project)?;
    Ok(Speaks { formats: raw.formats.into_iter().collect(), actions: raw.actions, projects })
}
