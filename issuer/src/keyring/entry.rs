//! One key of the keyring: {kid, role, alg, dates}; the state follows from the dates.

use std::fmt;

use pact_mandate::{KeyId, PublicKey, UnixTime};
use serde::{Deserialize, Serialize};

/// What a key is believed for, and nothing else (protocol K1). Other roles get their variant with their first user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Signs mandates, credentials and the two compatible lists.
    Mandate,
    /// Signs our own list.
    List,
}

/// The signature algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// Ed25519, as RFC 8037 names it.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// A key and the dates of its life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyEntry {
    /// Its name.
    pub kid: KeyId,
    /// What it is for.
    pub role: Role,
    /// How it signs.
    pub alg: Algorithm,
    /// The public half.
    pub key: PublicKey,
    /// Since when it is published.
    pub published_at: UnixTime,
    /// Since when it signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_from: Option<UnixTime>,
    /// Since when it signs no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retired_at: Option<UnixTime>,
    /// When the last thing that it signed has expired, and some skew: from then on it is not published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_at: Option<UnixTime>,
    /// When it was revoked: from then on it is neither used nor published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<UnixTime>,
}

/// Where a key stands in its life (protocol K6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum KeyState {
    /// Published, so that verifiers know it before it signs.
    Next,
    /// Signs.
    Active,
    /// Signs no more; what it signed still counts.
    Retiring,
    /// Neither signs nor is published.
    Removed,
}

impl Role {
    /// All of them.
    pub const ALL: [Role; 2] = [Role::Mandate, Role::List];

    /// The name used in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Role::Mandate => "mandate",
            Role::List => "list",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl KeyState {
    /// The name used in answers and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KeyState::Next => "next",
            KeyState::Active => "active",
            KeyState::Retiring => "retiring",
            KeyState::Removed => "removed",
        }
    }
}

impl fmt::Display for KeyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl KeyEntry {
    /// A key that is published and signs nothing yet.
    pub fn next(kid: KeyId, role: Role, key: PublicKey, now: UnixTime) -> KeyEntry {
        KeyEntry {
            kid,
            role,
            alg: Algorithm::EdDsa,
            key,
            published_at: now,
            active_from: None,
            retired_at: None,
            remove_at: None,
            revoked_at: None,
        }
    }

    /// The first key of a role: nobody holds an older set, so it signs at once.
    pub fn first(kid: KeyId, role: Role, key: PublicKey, now: UnixTime) -> KeyEntry {
        KeyEntry { active_from: Some(now), ..KeyEntry::next(kid, role, key, now) }
    }

    /// The same key, signing no more, published until `remove_at`.
    #[must_use]
    pub fn retired(self, now: UnixTime, remove_at: UnixTime) -> KeyEntry {
        KeyEntry { retired_at: Some(now), remove_at: Some(remove_at), ..self }
    }

    /// Whether it signs. This needs no clock: only [`KeyState::Retiring`] ends by itself.
    pub fn is_active(&self) -> bool {
        self.active_from.is_some() && self.retired_at.is_none() && self.revoked_at.is_none()
    }

    /// Its state at `now`.
    pub fn state(&self, now: UnixTime) -> KeyState {
        if self.revoked_at.is_some() || self.remove_at.is_some_and(|at| at <= now) {
            KeyState::Removed
        } else if self.retired_at.is_some() {
            KeyState::Retiring
        } else if self.active_from.is_some() {
            KeyState::Active
        } else {
            KeyState::Next
        }
    }
}
