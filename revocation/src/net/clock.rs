//! The clock of a watcher.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use pact_mandate::{Monotonic, Now, UnixTime};

/// Reads both clocks at once (protocol T1).
pub trait Clock: Send + Sync + 'static {
    /// The time now.
    fn now(&self) -> Now;
}

impl<F: Fn() -> Now + Send + Sync + 'static> Clock for F {
    fn now(&self) -> Now {
        self()
    }
}

/// The machine's clocks. Its monotonic readings compare with those of the same value alone, so a process makes one.
#[derive(Clone, Copy, Debug)]
pub struct SystemClock {
    origin: Instant,
}

impl SystemClock {
    /// A clock whose monotonic readings count from now.
    #[expect(clippy::disallowed_methods, reason = "a server loop's clock is made here, and handed on")]
    pub fn start() -> SystemClock {
        SystemClock { origin: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place where a watcher's clock is read")]
    fn now(&self) -> Now {
        // A clock before 1970 reads as 1970, where nothing is fresh.
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
        let wall = UnixTime::try_from(wall).unwrap_or(UnixTime::MAX);
        Now::new(wall, Monotonic::from_origin(self.origin.elapsed()))
    }
}
