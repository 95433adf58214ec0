//! The moments that an open answer must not pass unnoticed, and one timer for all of them.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Instant, Sleep};

/// What must happen when.
pub(super) struct Deadlines {
    recheck: Instant,
    every: Duration,
    /// When the tool server has been silent for too long, and how long that is.
    silence: Option<(Instant, Duration)>,
    keep_alive: Instant,
    comment_after: Duration,
    /// Set once somebody has to wait: most answers are here at once.
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Deadlines {
    /// From now on: a recheck `every` so often, an end after `idle`, a comment after another while of silence.
    pub(super) fn new(every: Duration, idle: Option<Duration>, comment_after: Duration) -> Deadlines {
        let now = Instant::now();
        Deadlines {
            recheck: now + every,
            every,
            silence: idle.map(|limit| (now + limit, limit)),
            keep_alive: now + comment_after,
            comment_after,
            alarm: None,
        }
    }

    /// The tool server said something.
    pub(super) fn heard(&mut self, now: Instant) {
        if let Some((end, limit)) = &mut self.silence {
            *end = now + *limit;
        }
        self.keep_alive = now + self.comment_after;
    }

    /// Whether it is time to ask again what allows the answer; told once.
    pub(super) fn is_recheck_due(&mut self, now: Instant) -> bool {
        let is_due = now >= self.recheck;
        if is_due {
            self.recheck = now + self.every;
        }
        is_due
    }

    /// The bound, where the tool server has been silent for so long.
    pub(super) fn silent_for(&self, now: Instant) -> Option<Duration> {
        self.silence.filter(|(end, _)| now >= *end).map(|(_, limit)| limit)
    }

    /// Whether a comment is due; told once.
    pub(super) fn is_comment_due(&mut self, now: Instant) -> bool {
        let is_due = now >= self.keep_alive;
        if is_due {
            self.keep_alive = now + self.comment_after;
        }
        is_due
    }

    /// Wakes the task when the first of them is due, or before.
    pub(super) fn wake_in_time(&mut self, cx: &mut Context<'_>) {
        let first = self.silence.map_or(self.recheck, |(end, _)| end.min(self.recheck)).min(self.keep_alive);
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(first)));
        // One that comes too early finds nothing due and is set again: cheaper than to move it whenever something is heard.
        if alarm.is_elapsed() || alarm.deadline() > first {
            alarm.as_mut().reset(first);
        }
        if let Poll::Ready(()) = alarm.as_mut().poll(cx) {
            cx.waker().wake_by_ref();
        }
    }
}
