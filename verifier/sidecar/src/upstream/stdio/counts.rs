//! How often what happened to processes and their messages, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::metrics::{Dropped, Metrics};

#[derive(Default)]
pub(super) struct Counts {
    started: AtomicU64,
    failed: AtomicU64,
    dropped: [AtomicU64; Dropped::ALL.len()],
}

impl Counts {
    /// A process was started, or could not be.
    pub(super) fn start(&self, has_started: bool) {
        let counter = if has_started { &self.started } else { &self.failed };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// A message of the tool server's reached nobody.
    pub(super) fn dropped(&self, why: Dropped) {
        let counter = Dropped::ALL.iter().zip(&self.dropped).find(|(known, _)| **known == why);
        if let Some((_, counter)) = counter {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn export(&self, metrics: &Metrics) {
        metrics.children_started("started", self.started.load(Ordering::Relaxed));
        metrics.children_started("failed", self.failed.load(Ordering::Relaxed));
        for (why, counter) in Dropped::ALL.iter().zip(&self.dropped) {
            metrics.children_dropped(*why, counter.load(Ordering::Relaxed));
        }
    }
}
