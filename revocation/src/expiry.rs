//! Until when an entry is listed.

use pact_mandate::UnixTime;

use crate::{entry::Entry, limits::KEEP_AFTER_EXPIRY_SECONDS};

/// One id to list, and when the credential, mandate or last credential of the key that it names expires.
/// It leaves the list ten minutes after that (protocol R6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Listed {
    /// What is revoked.
    pub entry: Entry,
    /// When it would have ended by itself.
    pub expires_at: UnixTime,
}

/// An expiry as a list carries it: whole minutes since 1970, rounded up, so that nothing leaves early. Every
/// [`UnixTime`] fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Minute(u32);

/// An entry with its expiry, 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Row {
    pub(crate) entry: Entry,
    pub(crate) until: Minute,
}

impl Minute {
    pub(crate) const ZERO: Minute = Minute(0);
    /// For ids whose expiry nobody stated.
    pub(crate) const NEVER: Minute = Minute(u32::MAX);

    pub(crate) fn of(time: UnixTime) -> Minute {
        Minute(u32::try_from(time.seconds().div_ceil(60)).unwrap_or(u32::MAX))
    }

    pub(crate) const fn from_number(minutes: u32) -> Minute {
        Minute(minutes)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    pub(crate) fn time(self) -> UnixTime {
        UnixTime::EPOCH.plus(u64::from(self.0) * 60)
    }

    /// Whether an entry of this expiry may be gone from a list signed at `time` (protocol R6).
    pub(crate) fn may_have_left(self, time: UnixTime) -> bool {
        self != Minute::NEVER && u64::from(self.0) * 60 + KEEP_AFTER_EXPIRY_SECONDS <= time.seconds()
    }
}

impl From<Listed> for Row {
    fn from(listed: Listed) -> Row {
        Row { entry: listed.entry, until: Minute::of(listed.expires_at) }
    }
}

impl From<Row> for Listed {
    fn from(row: Row) -> Listed {
        Listed { entry: row.entry, expires_at: row.until.time() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_an_expiry_is_rounded_up_and_every_time_fits() {
        let at = |seconds| UnixTime::try_from(seconds).unwrap();
        assert_eq!(Minute::of(at(60)).number(), 1);
        assert_eq!(Minute::of(at(61)).number(), 2);
        assert_eq!(Minute::of(UnixTime::MAX).time(), UnixTime::MAX);
        assert!(Minute::of(UnixTime::MAX) < Minute::NEVER);
    }

    #[test]
    fn r6_an_entry_may_leave_ten_minutes_after_its_expiry_and_not_a_second_before() {
        let at = |seconds| UnixTime::try_from(seconds).unwrap();
        let minute = Minute::of(at(6_000));
        assert!(!minute.may_have_left(at(6_599)) && minute.may_have_left(at(6_600)));
        assert!(!Minute::NEVER.may_have_left(UnixTime::MAX));
    }
}
