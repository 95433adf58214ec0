//! What keeps an open answer open (protocol R9): asked again while it runs, and no longer than that.

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use pact_mandate::Monotonic;
use pact_verifier::permit::Standing;
use tokio::{sync::OwnedSemaphorePermit, time::Instant};

use crate::{
    fault::{Fault, UpstreamFault},
    gate::Gate,
    request_id::RequestId,
    respond,
};

/// What an answer rests on and what it occupies, held for as long as it runs. Open methods rest on nothing.
pub(crate) struct Lifeline {
    gate: Arc<Gate>,
    standing: Option<Standing>,
    request_id: RequestId,
    _place: OwnedSemaphorePermit,
}

impl Lifeline {
    pub(crate) fn new(
        gate: Arc<Gate>,
        standing: Option<Standing>,
        request_id: RequestId,
        place: OwnedSemaphorePermit,
    ) -> Lifeline {
        gate.metrics.requests_open.increment(1.0);
        Lifeline { gate, standing, request_id, _place: place }
    }

    /// The present moment, by the clock that never steps.
    pub(crate) fn now(&self) -> Monotonic {
        self.gate.clock.now().monotonic
    }

    /// How often to ask.
    pub(crate) fn every(&self) -> Duration {
        self.gate.bounds.recheck
    }

    /// After how much silence an event stream gets a comment.
    pub(crate) fn keep_alive(&self) -> Duration {
        self.gate.bounds.keep_alive
    }

    /// Whether what allowed the call would still allow it.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        self.gate.died.check()?;
        self.standing.as_ref().map_or(Ok(()), |standing| self.gate.still_permits(standing))
    }

    /// Waits for what the tool server does: while it may, and for `limit` at the most.
    pub(crate) async fn wait<T>(
        &self,
        limit: Duration,
        mut done: Pin<&mut impl Future<Output = T>>,
    ) -> Result<T, Fault> {
        let end = Instant::now() + limit;
        loop {
            let turn = end.min(Instant::now() + self.every());
            if let Ok(done) = tokio::time::timeout_at(turn, done.as_mut()).await {
                return Ok(done);
            }
            if let Err(fault) = self.check() {
                self.count_end(&fault);
                return Err(fault);
            }
            if Instant::now() >= end {
                return Err(UpstreamFault::TooSlow { limit }.into());
            }
        }
    }

    pub(crate) fn count_end(&self, fault: &Fault) {
        self.gate.metrics.answer_ended(respond::code(fault));
        // What no permit began has no receipt that this could be the end of.
        if self.standing.is_some() {
            self.gate.receipts.end(&self.gate, fault, self.request_id);
        }
    }
}

impl Drop for Lifeline {
    fn drop(&mut self) {
        self.gate.metrics.requests_open.decrement(1.0);
    }
}
