//! When the next fetch is due.

use std::time::Duration;

/// The pace of fetches: every so often, spread a little so that verifiers do not come all at once, and sooner after a
/// failure, at growing distances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Between two fetches (protocol R2: 10 s).
    pub(crate) every: Duration,
    /// At most this much sooner or later (protocol R2: 2 s).
    pub(crate) jitter: Duration,
}

impl Pace {
    /// The wait after `failures` fetches in a row failed; `random` decides within the jitter.
    ///
    /// After a failure: a tenth of the interval, then twice as long each time, up to the interval itself. It is not longer,
    /// because a list that is not fetched for 60 s stops every call.
    pub(crate) fn wait(&self, failures: u32, random: u16) -> Duration {
        let full = u32::from(u16::MAX);
        if failures == 0 {
            let spread = self.jitter.saturating_mul(2).saturating_mul(u32::from(random)) / full;
            return (self.every + spread).saturating_sub(self.jitter);
        }
        let doubled =
            (self.every / 10).saturating_mul(1 << failures.saturating_sub(1).min(4)).min(self.every);
        // Half of it is certain, half of it random.
        doubled / 2 + (doubled / 2).saturating_mul(u32::from(random)) / full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r2_every_ten_seconds_give_or_take_two() {
        let pace = Pace { every: Duration::from_secs(10), jitter: Duration::from_secs(2) };
        assert_eq!(pace.wait(0, 0), Duration::from_secs(8));
        assert_eq!(pace.wait(0, u16::MAX), Duration::from_secs(12));
    }

    #[test]
    fn failures_wait_longer_and_longer_but_never_past_the_interval() {
        let pace = Pace { every: Duration::from_secs(10), jitter: Duration::from_secs(2) };
        let longest: Vec<u64> = (1..8).map(|failures| pace.wait(failures, u16::MAX).as_secs()).collect();
        assert_eq!(longest, [1, 2, 4, 8, 10, 10, 10]);
        assert_eq!(pace.wait(u32::MAX, 0), Duration::from_secs(5));
    }
}
