//! How starting the tool server goes: what it speaks, why it does not run, and when that is tried again.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::limits::{BACKOFF_FIRST, BACKOFF_MOST};

/// Which protocol the tool server speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaks {
    /// 2026-07-28: every message stands alone.
    Modern,
    /// 2025-11-25 or older: every message stands in a session.
    Legacy,
}

#[derive(Default)]
pub(super) struct Starts {
    state: Mutex<State>,
    failed: Notify,
}

#[derive(Default)]
struct State {
    speaks: Option<Speaks>,
    fault: Option<String>,
    backoff: Backoff,
    not_before: Option<Instant>,
}

/// How long to wait after failures in a row.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
}

impl Backoff {
    /// After one more.
    pub(super) fn next(&mut self) -> Duration {
        let factor = 2_u32.saturating_pow(self.failures);
        self.failures = self.failures.saturating_add(1);
        BACKOFF_FIRST.saturating_mul(factor).min(BACKOFF_MOST)
    }

    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

impl Starts {
    /// A process did not come so far as to answer.
    pub(super) fn failed(&self, why: String) {
        let mut state = self.lock();
        let wait = state.backoff.next();
        tracing::error!(%why, ?wait, "the tool server does not start");
        (state.fault, state.not_before) = (Some(why), Some(Instant::now() + wait));
        drop(state);
        self.failed.notify_one();
    }

    /// A process has answered.
    pub(super) fn worked(&self) {
        let mut state = self.lock();
        state.backoff.reset();
        (state.fault, state.not_before) = (None, None);
    }

    /// The one that answers whoever has no session has ended, and is started again after `wait`.
    pub(super) fn lost(&self, why: &str, wait: Duration) {
        self.lock().fault = Some(format!("{why}; it is started again after {wait:?}"));
    }

    pub(super) fn learnt(&self, speaks: Speaks) {
        self.lock().speaks = Some(speaks);
    }

    pub(super) fn speaks(&self) -> Option<Speaks> {
        self.lock().speaks
    }

    /// How long nothing is started yet.
    pub(super) fn wait(&self) -> Duration {
        let not_before = self.lock().not_before;
        not_before.map_or(Duration::ZERO, |at| at.saturating_duration_since(Instant::now()))
    }

    /// Done when a start has failed since this was last asked.
    pub(super) async fn failure(&self) {
        self.failed.notified().await;
    }

    /// Why calls would get no answer now, for whoever runs the sidecar.
    pub(super) fn fault(&self) -> Option<String> {
        let state = self.lock();
        let unknown =
            state.speaks.is_none().then(|| "it is being started and has not answered yet".to_owned());
        state.fault.clone().or(unknown)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_up_to_its_bound_and_begins_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let waits: Vec<u64> = (0..8).map(|_| backoff.next().as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60]);
        backoff.reset();
        assert_eq!(backoff.next(), BACKOFF_FIRST);
        let mut forever = Backoff { failures: u32::MAX };
        assert_eq!(forever.next(), BACKOFF_MOST);
    }
}
