//! What may be written to the log as often as others like, such as refusals before rung 1 (protocol M6): a few each second, the
//! rest counted.

use std::sync::Mutex;

use pact_mandate::{Monotonic, Now};

/// Lets a few through each second.
pub(crate) struct Sampler {
    per_second: u32,
    window: Mutex<Window>,
}

struct Window {
    since: Option<Monotonic>,
    written: u32,
    left_out: u64,
}

impl Sampler {
    pub(crate) fn new(per_second: u32) -> Sampler {
        Sampler { per_second, window: Mutex::new(Window { since: None, written: 0, left_out: 0 }) }
    }

    /// Whether to write this one; if so, how many were left out since the last that was.
    pub(crate) fn admit(&self, now: Now) -> Option<u64> {
        let mut window = self.window.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if window.since.is_none_or(|since| now.monotonic.since(since).as_secs() >= 1) {
            window.since = Some(now.monotonic);
            window.written = 0;
        }
        if window.written < self.per_second {
            window.written += 1;
            Some(std::mem::take(&mut window.left_out))
        } else {
            window.left_out = window.left_out.saturating_add(1);
            None
        }
    }
}

impl Sampler {
    /// How many were left out that no written one has told of.
    pub(crate) fn left_out(&self) -> u64 {
        self.window.lock().unwrap_or_else(std::sync::PoisonError::into_inner).left_out
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pact_mandate::UnixTime;

    use super::*;

    #[test]
    fn m6_refusals_before_rung_one_are_sampled_and_counted() {
        let sampler = Sampler::new(5);
        let at = |millis| Now::new(UnixTime::EPOCH, Monotonic::from_origin(Duration::from_millis(millis)));
        let written = (0..100).filter(|_| sampler.admit(at(10)).is_some()).count();
        assert_eq!(written, 5);
        assert_eq!(sampler.admit(at(900)), None);
        assert_eq!(sampler.admit(at(1010)), Some(96));
        assert_eq!(sampler.admit(at(1020)), Some(0));
    }
}
