//! Keeping one issuer's list fresh in the background (protocol R2): fetched every ten seconds or so, judged by its keeper,
//! swapped in whole. A fetch that fails or is refused leaves the held list, which ages on.

use std::{sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::Uri;
use pact_mandate::{IssuerId, jwks::KeySet};
use pact_revocation::{Content, Examined, Held, Keeper, ListRefusal, Lists, plan::Step};

use crate::{
    clock::Clock,
    fetch::{FetchFault, Fetcher},
    keys::KeyBook,
    limits::{LIST_EVERY, LIST_JITTER, LIST_RETRY},
};

/// One list to watch.
pub(crate) struct Watch {
    pub(crate) keeper: Keeper,
    pub(crate) uri: Uri,
    pub(crate) keys: Arc<KeyBook>,
    pub(crate) lists: Arc<ArcSwap<Lists>>,
    pub(crate) fetcher: Fetcher,
    pub(crate) clock: Clock,
}

/// Why a round brought no list.
#[derive(Debug, thiserror::Error)]
enum RoundFault {
    #[error("the list could not be fetched: {0}")]
    Fetch(#[from] FetchFault),
    #[error("the list was refused: {0}")]
    Refused(#[from] ListRefusal),
    #[error("the place of a body is no URL")]
    Place,
}

impl Watch {
    /// For ever.
    pub(crate) async fn run(mut self) {
        let mut failures: u32 = 0;
        loop {
            match self.round().await {
                Ok(held) => {
                    failures = 0;
                    tracing::debug!(issuer = %held.issuer(), version = %held.version(), "the list is held");
                    self.lists.rcu(|lists| lists.with(Arc::clone(&held)));
                }
                Err(fault) => {
                    failures = failures.saturating_add(1);
                    let issuer: &IssuerId = self.keeper.issuer();
                    tracing::warn!(%issuer, %fault, failures, "no newer list");
                }
            }
            tokio::time::sleep(wait(failures)).await;
        }
    }

    async fn round(&mut self) -> Result<Arc<Held>, RoundFault> {
        self.pin();
        let limit = usize::try_from(pact_revocation::limits::MAX_HEAD_BYTES).unwrap_or(usize::MAX);
        let head = self.fetcher.get(&self.uri, limit).await?;
        let examined = self.keeper.examine(&head, self.clock.now())?;
        let body = self.body(&examined).await?;
        let content = match (examined.step(), &body) {
            (Step::Delta { .. }, Some(bytes)) => Content::Delta(bytes),
            (_, Some(bytes)) => Content::Body(bytes),
            (_, None) => Content::Held,
        };
        Ok(self.keeper.accept(&examined, content, self.clock.now())?)
    }

    async fn body(&self, examined: &Examined) -> Result<Option<Bytes>, RoundFault> {
        let Some((name, limit)) = examined.step().fetches() else { return Ok(None) };
        let place: Uri = format!("{}/{name}", self.uri).parse().map_err(|_| RoundFault::Place)?;
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        Ok(Some(self.fetcher.get(&place, limit).await?))
    }

    /// The keys of the moment: those that count may have changed since the last round.
    fn pin(&mut self) {
        let now = self.clock.now().monotonic;
        match KeySet::new(self.keys.list_keys(self.keeper.issuer(), now)) {
            Ok(keys) => self.keeper.pin(keys),
            Err(fault) => tracing::error!(%fault, "the list keys do not go together"),
        }
    }
}

/// Ten seconds or so after a success; sooner after the first failures, so that a start is not slow.
fn wait(failures: u32) -> Duration {
    let mut byte = [0; 1];
    // Without randomness there is no jitter, which harms nobody but the publisher.
    let _ = getrandom::fill(&mut byte);
    let [byte] = byte;
    let jitter = LIST_JITTER.mul_f64(f64::from(byte) / 255.0);
    match failures {
        0 => LIST_EVERY + jitter,
        _ => LIST_EVERY.min(LIST_RETRY.saturating_mul(failures)) + jitter / 4,
    }
}
