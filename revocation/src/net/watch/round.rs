//! One list's rounds: fetch the head, plan, fetch what the plan says, accept.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use pact_mandate::Format;

use super::{RoundError, Shared};
use crate::{
    held::Held,
    keeper::{Content, Examined, Keeper},
    limits::{MAX_COMPATIBLE_BYTES, MAX_HEAD_BYTES},
    net::{
        clock::Clock,
        fetch::{Fetched, Fetcher},
        pace::Pace,
        target::ListUrl,
    },
    plan::Step,
    refusal::ListRefusal,
};

/// The watch of one list. It alone uses its keeper, and one round ends before the next begins: a single flight.
pub(super) struct Rounds {
    keeper: Arc<Mutex<Keeper>>,
    url: ListUrl,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    /// Of the last head that was accepted; never of one that was refused, so that its cure is seen at once.
    etag: Option<String>,
}

impl Rounds {
    pub(super) fn new(keeper: Keeper, url: ListUrl, fetcher: Fetcher, clock: Arc<dyn Clock>) -> Rounds {
        Rounds { keeper: Arc::new(Mutex::new(keeper)), url, fetcher, clock, etag: None }
    }

    /// Fetches for ever, at its pace.
    pub(super) async fn run(mut self, pace: Pace, shared: Arc<Shared>) {
        let mut failures = 0;
        loop {
            let outcome = self.round().await;
            failures = if outcome.is_ok() { 0 } else { u32::saturating_add(failures, 1) };
            self.report(&shared, outcome, failures);
            let wait = pace.wait(failures, random());
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = shared.hurry.notified() => {}
            }
        }
    }

    /// `None` when nothing changed.
    async fn round(&mut self) -> Result<Option<Arc<Held>>, RoundError> {
        let kind = self.keep(|keeper| Ok(keeper.kind())).await?;
        let limit = if kind == Format::Pact { MAX_HEAD_BYTES } else { MAX_COMPATIBLE_BYTES };
        let fetched = self.fetcher.fetch(&self.url, limit, self.etag.as_deref()).await?;
        let Fetched::Content { bytes, etag } = fetched else { return Ok(None) };
        self.etag = None;
        let held = match kind {
            Format::Pact => self.accept_ours(bytes).await?,
            Format::Tenuo | Format::Biscuit => self.accept_compatible(bytes).await?,
        };
        self.etag = etag;
        Ok(Some(held))
    }

    async fn accept_ours(&self, head: Bytes) -> Result<Arc<Held>, RoundError> {
        let now = self.clock.now();
        let examined = Arc::new(self.keep(move |keeper| keeper.examine(&head, now)).await?);
        let by_plan = self.execute(&examined, *examined.step()).await;
        match (by_plan, examined.step()) {
            // A delta is only a short cut: where it fails, the whole body decides.
            (Err(error), Step::Delta { .. }) if error.concerns_content() => {
                self.execute(&examined, examined.whole()).await
            }
            (outcome, _) => outcome,
        }
    }

    async fn execute(&self, examined: &Arc<Examined>, step: Step) -> Result<Arc<Held>, RoundError> {
        let bytes = match step.fetches() {
            None => Bytes::new(),
            Some((name, limit)) => match self.fetcher.fetch(&self.url.below(&name), limit, None).await? {
                Fetched::Content { bytes, .. } => bytes,
                Fetched::NotModified => return Err(ListRefusal::ContentMissing.into()),
            },
        };
        let now = self.clock.now();
        let examined = Arc::clone(examined);
        self.keep(move |keeper| {
            let content = match step {
                Step::Nothing | Step::Refresh => Content::Held,
                Step::Delta { .. } => Content::Delta(&bytes),
                Step::Body { .. } => Content::Body(&bytes),
            };
            keeper.accept(&examined, content, now)
        })
        .await
    }

    async fn accept_compatible(&self, bytes: Bytes) -> Result<Arc<Held>, RoundError> {
        let now = self.clock.now();
        self.keep(move |keeper| keeper.accept_compatible(&bytes, now)).await
    }

    /// Judging reads megabytes and writes a file, so it does not run on a thread that serves requests.
    async fn keep<T: Send + 'static>(
        &self,
        judge: impl FnOnce(&mut Keeper) -> Result<T, ListRefusal> + Send + 'static,
    ) -> Result<T, RoundError> {
        let keeper = Arc::clone(&self.keeper);
        let judged = move || judge(&mut keeper.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(tokio::task::spawn_blocking(judged).await.map_err(|_| RoundError::BrokeOff)??)
    }

    fn report(&self, shared: &Shared, outcome: Result<Option<Arc<Held>>, RoundError>, failures: u32) {
        let (issuer, kind) = {
            let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
            (keeper.issuer().clone(), keeper.kind())
        };
        if let Ok(Some(held)) = &outcome {
            shared.publish(held);
        }
        let mut states = shared.lock_states();
        let Some(state) = states.get_mut(&(issuer.clone(), kind)) else { return };
        state.failures = failures;
        match outcome {
            Ok(held) => {
                state.last_success = Some(self.clock.now().wall);
                state.last_fault = None;
                if let Some(held) = held {
                    state.version = Some(held.version());
                    state.issued_at = Some(held.issued_at());
                }
            }
            Err(error) => {
                let fault = error.fault();
                if error.is_alarm() {
                    state.alarms = state.alarms.saturating_add(1);
                    tracing::error!(%issuer, %kind, code = fault.code, "revocation list alarm: {error}");
                } else {
                    tracing::warn!(%issuer, %kind, code = fault.code, failures, "revocation list not accepted: {error}");
                }
                state.last_fault = Some(fault);
            }
        }
    }
}

impl RoundError {
    fn concerns_content(&self) -> bool {
        match self {
            RoundError::Refused(refusal) => refusal.concerns_content(),
            RoundError::Fetch(_) => true,
            RoundError::BrokeOff => false,
        }
    }
}

/// Spreads fetches; without randomness they are merely not spread.
fn random() -> u16 {
    let mut bytes = [0x80; 2];
    if getrandom::fill(&mut bytes).is_err() {
        bytes = [0x80; 2];
    }
    u16::from_be_bytes(bytes)
}
