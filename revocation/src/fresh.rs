//! Freshness: the proof that a list may answer, and the reasons why one may not (protocol R4, R5).

use std::time::Duration;

use pact_mandate::{Format, IssuerId, Now, UnixTime};

use crate::{
    entry::Entry,
    head::SourceTime,
    held::Held,
    limits::{MAX_AGE, MAX_FUTURE_SECONDS},
    list::ListVersion,
};

/// A list that was fresh, of the right issuer and covering the right format at the time of asking. Made by
/// [`crate::Lists::fresh`] alone; whoever holds one may ask what is revoked.
#[derive(Clone, Copy, Debug)]
pub struct Fresh<'a> {
    held: &'a Held,
    age: Duration,
}

/// Why an issuer's list answers nothing. Every one of these stops the call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// None was received yet.
    #[error("no revocation list of this issuer has been received")]
    NoList,
    /// It does not speak for this format.
    #[error("the issuer's revocation list does not cover {format}")]
    NotCovered {
        /// The format of the credential.
        format: Format,
    },
    /// It is too old.
    #[error("the issuer's revocation list is {} s old, at most {} s are accepted", age.as_secs(), MAX_AGE.as_secs())]
    TooOld {
        /// Its age.
        age: Duration,
    },
    /// The next one is overdue.
    #[error("the issuer's revocation list should have been replaced by {next_update}")]
    PastNextUpdate {
        /// When the next one was due.
        next_update: UnixTime,
    },
    /// It was signed later than our clock is.
    #[error(
        "the issuer's revocation list was signed at {issued_at}, after our clock ({now}); check both clocks"
    )]
    FromTheFuture {
        /// When it was signed.
        issued_at: UnixTime,
        /// Our clock.
        now: UnixTime,
    },
    /// The list says nothing of the source of an imported mandate (protocol C6).
    #[error("the issuer's revocation list says nothing of the source {source_issuer}")]
    SourceMissing {
        /// The issuer that the mandate was imported from.
        source_issuer: IssuerId,
    },
    /// The source's list was last verified too long ago (protocol C6).
    #[error("the issuer last verified the list of the source {source_issuer} as signed {} s ago, at most {} s are accepted", age.as_secs(), MAX_AGE.as_secs())]
    SourceTooOld {
        /// The issuer that the mandate was imported from.
        source_issuer: IssuerId,
        /// Age of its list.
        age: Duration,
    },
    /// The source's list claims to be signed later than our clock is.
    #[error(
        "the list of the source {source_issuer} was signed at {signed_at}, after our clock; check the clocks"
    )]
    SourceFromTheFuture {
        /// The issuer that the mandate was imported from.
        source_issuer: IssuerId,
        /// When it claims to be signed.
        signed_at: UnixTime,
    },
}

impl<'a> Fresh<'a> {
    pub(crate) fn judge(held: &'a Held, format: Format, now: Now) -> Result<Fresh<'a>, Stale> {
        if !held.covers.contains(&format) {
            return Err(Stale::NotCovered { format });
        }
        if held.issued_at > now.wall.plus(MAX_FUTURE_SECONDS) {
            return Err(Stale::FromTheFuture { issued_at: held.issued_at, now: now.wall });
        }
        let age = held.age(now);
        if age > MAX_AGE {
            return Err(Stale::TooOld { age });
        }
        match held.next_update {
            // The later of the two clocks decides here too.
            Some(next_update) if time_to(held, next_update).is_none_or(|left| age > left) => {
                Err(Stale::PastNextUpdate { next_update })
            }
            _ => Ok(Fresh { held, age }),
        }
    }

    /// Whether this id or key is revoked.
    pub fn contains(&self, entry: &Entry) -> bool {
        self.held.contains(entry)
    }

    /// The number of the list.
    pub fn version(&self) -> ListVersion {
        self.held.version
    }

    /// How old the list is.
    pub fn age(&self) -> Duration {
        self.age
    }

    /// How long it stays fresh when no newer one comes. An answer that stays open ends then (protocol R9).
    pub fn stays_fresh_for(&self) -> Duration {
        let until_due = self.held.next_update.and_then(|due| time_to(self.held, due)).unwrap_or(MAX_AGE);
        until_due.min(MAX_AGE).saturating_sub(self.age)
    }

    /// Protocol C6: whether the list vouches for the source that a credential's mandate was imported from.
    pub fn check_source(&self, source: &IssuerId, now: Now) -> Result<(), Stale> {
        let missing = || Stale::SourceMissing { source_issuer: source.clone() };
        let signed_at = match self.held.sources.get(source).ok_or_else(missing)? {
            SourceTime::None => return Ok(()),
            SourceTime::At(signed_at) => *signed_at,
        };
        if signed_at > now.wall.plus(MAX_FUTURE_SECONDS) {
            return Err(Stale::SourceFromTheFuture { source_issuer: source.clone(), signed_at });
        }
        // By the wall clock, or as old as it was when our head was signed and as the head has become since.
        let by_wall = Duration::from_secs(now.wall.since(signed_at));
        let when_signed = Duration::from_secs(self.held.issued_at.since(signed_at));
        let age = by_wall.max(when_signed.saturating_add(self.held.age(now)));
        if age > MAX_AGE {
            return Err(Stale::SourceTooOld { source_issuer: source.clone(), age });
        }
        Ok(())
    }
}

/// From the signing of a list to a later time; `None` when that time was before it.
fn time_to(held: &Held, time: UnixTime) -> Option<Duration> {
    time.seconds().checked_sub(held.issued_at.seconds()).map(Duration::from_secs)
}

impl Stale {
    /// All codes of this enum.
    pub const CODES: &[&str] = &[
        "list_missing",
        "list_not_covering",
        "list_stale",
        "list_overdue",
        "list_from_the_future",
        "source_missing",
        "source_stale",
        "source_from_the_future",
    ];

    /// The stable code of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            Stale::NoList => "list_missing",
            Stale::NotCovered { .. } => "list_not_covering",
            Stale::TooOld { .. } => "list_stale",
            Stale::PastNextUpdate { .. } => "list_overdue",
            Stale::FromTheFuture { .. } => "list_from_the_future",
            Stale::SourceMissing { .. } => "source_missing",
            Stale::SourceTooOld { .. } => "source_stale",
            Stale::SourceFromTheFuture { .. } => "source_from_the_future",
        }
    }
}
