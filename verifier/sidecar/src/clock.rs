//! The one place where this crate reads clocks (protocol T1).

use std::{
    sync::Arc,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use pact_mandate::{Monotonic, Now, UnixTime};

/// Where the time comes from. A request asks once and is judged by that one answer.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Now + Send + Sync>);

impl Clock {
    /// The machine's clocks.
    pub fn system() -> Clock {
        let started = read();
        Clock(Arc::new(move || {
            let (wall, monotonic) = read();
            Now::new(wall, Monotonic::from_origin(monotonic.saturating_duration_since(started.1)))
        }))
    }

    /// A clock of the caller's, for tests that move time.
    pub fn from_fn(now: impl Fn() -> Now + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// Both clocks, read together.
    pub fn now(&self) -> Now {
        (self.0)()
    }
}

#[expect(clippy::disallowed_methods, reason = "the server's one reading of both clocks")]
fn read() -> (UnixTime, Instant) {
    // A clock before 1970 reads as 1970, at which nothing that we know of is valid: closed.
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    (UnixTime::try_from(seconds).unwrap_or(UnixTime::MAX), Instant::now())
}
