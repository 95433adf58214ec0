//! Keeping one published key set fresh in the background (protocol K4): never on the path of a request.

use std::{future::Future, sync::Arc, time::Duration};

use bytes::Bytes;
use pact_mandate::jwks::KeySet;

use super::{KeyBook, KeyPlace, KeysFault};
use crate::{clock::Clock, config::HttpUrl, fetch::FetchFault};

/// Fetches, hands over, waits; for ever. `changed` is told after every fetch and at the hard stop.
pub(crate) async fn watch<F>(
    book: Arc<KeyBook>,
    place: KeyPlace,
    url: HttpUrl,
    clock: Clock,
    fetch: impl Fn() -> F,
    changed: impl Fn(),
) where
    F: Future<Output = Result<Bytes, FetchFault>>,
{
    loop {
        // Listening before looking: a miss in between is not lost.
        let asked = book.asked();
        let now = clock.now().monotonic;
        let due = book.with(place, |set| set.next_fetch(now)).unwrap_or(Duration::MAX);
        if due.is_zero() {
            book.with(place, |set| set.trying(now));
            let fetched = fetch().await.map_err(KeysFault::Fetch);
            let set = fetched.and_then(|document| Ok(KeySet::from_document(&document)?));
            match book.offer(place, set, clock.now().monotonic) {
                Ok(()) => tracing::debug!(%url, "the key set was fetched"),
                Err(fault) => tracing::warn!(%url, %fault, "the key set does not count"),
            }
            changed();
            continue;
        }
        let hard = book.with(place, |set| set.until_hard_stop(now)).flatten();
        let wait = hard.map_or(due, |hard| due.min(hard));
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = asked => {}
        }
        if hard.is_some_and(|hard| hard <= due) {
            changed();
        }
    }
}
