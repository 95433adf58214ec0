//! The one place where this program reads the clock.

use std::time::{SystemTime, UNIX_EPOCH};

use pact_mandate::UnixTime;

/// The wall clock. One before 1970 is read as 1970: everything has expired then.
#[expect(clippy::disallowed_methods, reason = "a main: the library takes time as an argument")]
pub(crate) fn now() -> UnixTime {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    UnixTime::try_from(passed.as_secs()).unwrap_or(UnixTime::MAX)
}
