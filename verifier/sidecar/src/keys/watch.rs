//! Keeping one published key set fresh in the background (protocol K4): never on the path of a request.

use std::{sync::Arc, time::Duration};

use pact_mandate::{jwks::KeySet, limits::MAX_KEY_SET_BYTES};
use pact_revocation::net::{FetchError, Fetched, Fetcher, ListUrl};

use super::{KeyBook, KeyPlace, KeysFault};
use crate::clock::Clock;

/// Fetches, hands over, waits; for ever. `changed` is told after every fetch and at the hard stop.
pub(crate) async fn watch(
    book: Arc<KeyBook>,
    place: KeyPlace,
    url: ListUrl,
    clock: Clock,
    fetcher: Fetcher,
    changed: impl Fn(),
) {
    loop {
        // Listening before looking: a miss in between is not lost.
        let asked = book.asked();
        let now = clock.now().monotonic;
        let due = book.with(place, |set| set.next_fetch(now)).unwrap_or(Duration::MAX);
        if due.is_zero() {
            book.with(place, |set| set.trying(now));
            let set = fetch(&fetcher, &url).await;
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

async fn fetch(fetcher: &Fetcher, url: &ListUrl) -> Result<KeySet, KeysFault> {
    let limit = u64::try_from(MAX_KEY_SET_BYTES).unwrap_or(u64::MAX);
    // No entity tag is sent, so a 304 would be an answer to nothing.
    match fetcher.fetch(url, limit, None).await.map_err(|fault| failed(&fault))? {
        Fetched::Content { bytes, .. } => Ok(KeySet::from_document(&bytes)?),
        Fetched::NotModified => {
            Err(KeysFault::Fetch { code: "fetch_status", text: "304 out of turn".to_owned() })
        }
    }
}

fn failed(fault: &FetchError) -> KeysFault {
    KeysFault::Fetch { code: fault.code(), text: fault.to_string() }
}
