//! From one key to the next (protocol K6), in two steps with a cache lifetime between them.

use pact_mandate::{KeyId, UnixTime};
use pact_revocation::limits::NEXT_UPDATE_SECONDS;

use super::{KeyEntry, KeyState, Keyring, KeyringError, Role};
use crate::limits::KEY_SKEW_SECONDS;

/// Why a key does not take over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RotationError {
    /// Nobody was announced.
    #[error("no next {0} key is published; announce one first")]
    NoNext(Role),
    /// One was announced already.
    #[error("the next {role} key {kid} is published already; it can take over from {from}")]
    AlreadyAnnounced {
        /// The role.
        role: Role,
        /// Which key.
        kid: KeyId,
        /// When it may sign.
        from: UnixTime,
    },
    /// Verifiers may hold a set without it.
    #[error(
        "the next {role} key {kid} may sign from {from} on, when every cache has seen it; rotate again then"
    )]
    TooSoon {
        /// The role.
        role: Role,
        /// Which key.
        kid: KeyId,
        /// When it may sign.
        from: UnixTime,
    },
    /// The keyring itself.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
}

impl Keyring {
    /// The key that was announced in this role.
    pub fn next(&self, role: Role, now: UnixTime) -> Option<&KeyEntry> {
        self.entries().iter().find(|entry| entry.role == role && entry.state(now) == KeyState::Next)
    }

    /// Whether a new key may be announced: one at a time, and not more than a set can hold. `cache` is the lifetime of a
    /// published set, in seconds.
    pub fn check_announce(&self, role: Role, cache: u64, now: UnixTime) -> Result<(), RotationError> {
        match self.next(role, now) {
            Some(next) => Err(RotationError::AlreadyAnnounced {
                role,
                kid: next.kid.clone(),
                from: next.published_at.plus(cache),
            }),
            None => Ok(self.check_room(role, now)?),
        }
    }

    /// The changed entries when the announced key takes over: the one that retires, if one was active, and the one that
    /// signs from now on. `last_expiry` is the latest end of any mandate or credential that the
    /// retiring key signed.
    pub fn take_over(
        &self,
        role: Role,
        cache: u64,
        last_expiry: UnixTime,
        now: UnixTime,
    ) -> Result<Vec<KeyEntry>, RotationError> {
        let next = self.next(role, now).ok_or(RotationError::NoNext(role))?;
        let from = next.published_at.plus(cache);
        if now < from {
            return Err(RotationError::TooSoon { role, kid: next.kid.clone(), from });
        }
        // Lists live so long, and either key signed one a moment ago.
        let remove_at = last_expiry.max(now.plus(NEXT_UPDATE_SECONDS)).plus(KEY_SKEW_SECONDS);
        let old = self.active(role).ok().map(|old| old.clone().retired(now, remove_at));
        let new = KeyEntry { active_from: Some(now), ..next.clone() };
        Ok(old.into_iter().chain([new]).collect())
    }
}
