//! Time as an argument: nothing in this crate reads a clock.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::limits::MAX_SAFE_INTEGER;

/// Whole seconds since 1970-01-01T00:00:00Z, at most year 9999 (so that every value has an RFC 3339 text).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "u64", into = "u64")]
pub struct UnixTime(u64);

/// A reading of a clock that never steps back, from an origin of the caller's choice.
/// Two readings compare only when they come from one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Monotonic(Duration);

/// The one reading of both clocks that a request is judged by (protocol T1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The wall clock.
    pub wall: UnixTime,
    /// The clock that a step of the wall clock does not move.
    pub monotonic: Monotonic,
}

/// The span in which a statement counts: from `not_before` up to, but not at, `expires_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Validity {
    /// First second.
    pub not_before: UnixTime,
    /// First second at which it no longer counts (protocol T2: expiry is strict).
    pub expires_at: UnixTime,
}

/// A number of seconds past year 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} is not a time before the year 10000 in Unix seconds")]
pub struct TimeOutOfRange(pub u64);

impl UnixTime {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: UnixTime = UnixTime(0);
    /// 9999-12-31T23:59:59Z.
    pub const MAX: UnixTime = UnixTime(253_402_300_799);

    /// Seconds since the epoch.
    pub const fn seconds(self) -> u64 {
        self.0
    }

    /// That many seconds later, at most [`UnixTime::MAX`].
    #[must_use]
    pub const fn plus(self, seconds: u64) -> UnixTime {
        let sum = self.0.saturating_add(seconds);
        if sum > Self::MAX.0 { Self::MAX } else { UnixTime(sum) }
    }

    /// That many seconds earlier, at least the epoch.
    #[must_use]
    pub const fn minus(self, seconds: u64) -> UnixTime {
        UnixTime(self.0.saturating_sub(seconds))
    }

    /// Seconds from `earlier` to this; zero when `earlier` is later.
    pub const fn since(self, earlier: UnixTime) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// RFC 3339 in UTC, whole seconds: `2027-01-02T03:04:05Z`.
    pub fn rfc3339(self) -> String {
        let seconds = i64::try_from(self.0).unwrap_or(i64::MAX);
        OffsetDateTime::from_unix_timestamp(seconds)
            .ok()
            .and_then(|time| time.format(&Rfc3339).ok())
            .unwrap_or_else(|| self.0.to_string())
    }

    /// Reads RFC 3339; a fraction of a second is dropped. `None` when it is no such text or before 1970.
    pub fn from_rfc3339(text: &str) -> Option<UnixTime> {
        let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        UnixTime::try_from(u64::try_from(time.unix_timestamp()).ok()?).ok()
    }
}

impl TryFrom<u64> for UnixTime {
    type Error = TimeOutOfRange;

    fn try_from(seconds: u64) -> Result<UnixTime, TimeOutOfRange> {
        const { assert!(UnixTime::MAX.0 < MAX_SAFE_INTEGER) };
        if seconds > Self::MAX.0 { Err(TimeOutOfRange(seconds)) } else { Ok(UnixTime(seconds)) }
    }
}

impl From<UnixTime> for u64 {
    fn from(time: UnixTime) -> u64 {
        time.0
    }
}

impl fmt::Display for UnixTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rfc3339())
    }
}

impl Monotonic {
    /// A reading: the time passed since the caller's origin.
    pub const fn from_origin(passed: Duration) -> Monotonic {
        Monotonic(passed)
    }

    /// Time from `earlier` to this reading; zero when `earlier` is later.
    pub const fn since(self, earlier: Monotonic) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

impl Now {
    /// Both readings together.
    pub const fn new(wall: UnixTime, monotonic: Monotonic) -> Now {
        Now { wall, monotonic }
    }
}

impl Validity {
    /// Whether `time` lies in the span.
    pub fn contains(&self, time: UnixTime) -> bool {
        self.not_before <= time && time < self.expires_at
    }

    /// Seconds from the first to the last.
    pub fn seconds(&self) -> u64 {
        self.expires_at.since(self.not_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_is_rfc_3339_in_utc() {
        let time = UnixTime::try_from(1_798_858_800).unwrap();
        assert_eq!(time.to_string(), "2027-01-02T03:00:00Z");
        assert_eq!(UnixTime::from_rfc3339("2027-01-02T03:00:00.9Z"), Some(time));
        assert_eq!(UnixTime::from_rfc3339("2027-01-02T04:00:00+01:00"), Some(time));
        assert_eq!(UnixTime::from_rfc3339("1969-12-31T23:59:59Z"), None);
        assert_eq!(UnixTime::MAX.to_string(), "9999-12-31T23:59:59Z");
        assert_eq!(UnixTime::try_from(253_402_300_800), Err(TimeOutOfRange(253_402_300_800)));
    }

    #[test]
    fn t2_expiry_is_strict() {
        let at = |seconds| UnixTime::try_from(seconds).unwrap();
        let span = Validity { not_before: at(10), expires_at: at(20) };
        assert!(!span.contains(at(9)) && span.contains(at(10)));
        assert!(span.contains(at(19)) && !span.contains(at(20)));
    }
}
