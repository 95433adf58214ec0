//! Time, as an argument (protocol T1): this crate reads no clock, it asks the one that it was given.

use std::sync::Arc;

use pact_mandate::Now;
use pact_revocation::net::{Clock as _, SystemClock};

/// Where the time comes from. A request asks once and is judged by that one answer.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Now + Send + Sync>);

impl Clock {
    /// The machine's clocks, counted from now.
    pub fn system() -> Clock {
        let system = SystemClock::start();
        Clock(Arc::new(move || system.now()))
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
