//! The clocks that proofs are dated by.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
};

use pact_mandate::{Now, UnixTime};
use time::{OffsetDateTime, format_description::well_known::Rfc2822};

use crate::limits::MAX_CLOCK_OFFSET_SECONDS;

/// Reads both clocks of the machine. The program hands it in; a test hands in another.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Now + Send + Sync>);

/// By how much one sidecar's clock is ahead, as it showed when it refused a proof for its time.
#[derive(Debug, Default)]
pub(crate) struct Offset(AtomicI64);

impl Clock {
    /// A clock of this reading.
    pub fn new(read: impl Fn() -> Now + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(read))
    }

    pub(crate) fn now(&self) -> Now {
        (self.0)()
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Offset {
    /// The time over there.
    pub(crate) fn there(&self, here: UnixTime) -> UnixTime {
        let offset = self.0.load(Ordering::Relaxed);
        if offset < 0 { here.minus(offset.unsigned_abs()) } else { here.plus(offset.unsigned_abs()) }
    }

    /// Follows the sidecar's clock, as its `Date` header (RFC 9110 6.6.1) shows it. `None` when there is no such date, or
    /// it is too far away to be followed.
    pub(crate) fn follow(&self, date: &str, here: UnixTime) -> Option<i64> {
        let there = OffsetDateTime::parse(date, &Rfc2822).ok()?.unix_timestamp();
        let offset = there.checked_sub(i64::try_from(here.seconds()).ok()?)?;
        if offset.unsigned_abs() > MAX_CLOCK_OFFSET_SECONDS {
            return None;
        }
        self.0.store(offset, Ordering::Relaxed);
        Some(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sidecars_clock_is_followed_for_an_hour_at_the_most() {
        let here = UnixTime::from_rfc3339("2026-12-03T05:00:00Z").unwrap();
        let offset = Offset::default();
        assert_eq!(offset.there(here), here);
        assert_eq!(offset.follow("Thu, 03 Dec 2026 04:58:00 GMT", here), Some(-120));
        assert_eq!(offset.there(here), here.minus(120));
        for bad in ["Thu, 03 Dec 2026 06:00:01 GMT", "Thu, 03 Dec 2026 03:59:59 GMT", "", "yesterday"] {
            assert_eq!(offset.follow(bad, here), None, "{bad}");
            assert_eq!(offset.there(here), here.minus(120));
        }
        assert_eq!(offset.follow("Thu, 03 Dec 2026 06:00:00 GMT", here), Some(3600));
        assert_eq!(offset.there(here), here.plus(3600));
    }
}
