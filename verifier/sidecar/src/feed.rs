//! What runs in the background: the watchers of key sets and of lists, and the upkeep of metrics.

use std::{path::Path, sync::Arc};

use pact_revocation::{FloorFolder, floor::FloorError, net::Fetcher};
use tokio::task::JoinSet;

use crate::{
    clock::Clock,
    config::Config,
    gate::Gate,
    keys::{self, KeyBook},
    limits::METRICS_UPKEEP,
    lists::{ListBook, ListWatch},
};

/// Watches the list of every issuer, above the floors in `folder` (protocol R7).
pub(crate) fn lists(
    config: &Config,
    keys: &Arc<KeyBook>,
    clock: &Clock,
    fetcher: &Fetcher,
    folder: &Path,
    watchers: &mut JoinSet<()>,
) -> Result<Arc<ListBook>, FloorError> {
    let book = Arc::new(ListBook::new());
    let floors = FloorFolder::open(folder)?;
    for issuer in &config.issuers {
        let watch = ListWatch {
            book: Arc::clone(&book),
            keys: Arc::clone(keys),
            issuer: issuer.id.clone(),
            url: issuer.lists_url.clone(),
            every: config.lists_every,
            fetcher: fetcher.clone(),
            floors: floors.clone(),
            clock: clock.clone(),
        };
        watchers.spawn(watch.run());
    }
    Ok(book)
}

/// Watches every published key set; a change of trust is another verifier, swapped in whole.
pub(crate) fn keys(gate: &Arc<Gate>, fetcher: &Fetcher, watchers: &mut JoinSet<()>) {
    for (place, url) in gate.keys.places() {
        let (book, clock, fetcher) = (Arc::clone(&gate.keys), gate.clock.clone(), fetcher.clone());
        let changing = Arc::clone(gate);
        watchers.spawn(keys::watch(book, place, url, clock, fetcher, move || retrust(&changing)));
    }
    let gate = Arc::clone(gate);
    watchers.spawn(async move {
        loop {
            tokio::time::sleep(METRICS_UPKEEP).await;
            gate.metrics.upkeep();
            // A fetch that hangs over the hard stop, or a watch that died, keeps no root alive (protocol K4).
            retrust(&gate);
        }
    });
}

fn retrust(gate: &Gate) {
    match gate.keys.trust(gate.clock.now().monotonic) {
        Ok(trust) if trust.digest() == gate.verifier.load().trust().digest() => {}
        Ok(trust) => {
            let trust = Arc::new(trust);
            gate.verifier.rcu(|verifier| verifier.with_trust(Arc::clone(&trust)));
            tracing::info!("the root keys changed; calls are judged by the new ones");
        }
        // Sets that do not go together are refused where they come in; if one slipped through, the old trust stays.
        Err(fault) => tracing::error!(%fault, "the root keys do not go together"),
    }
}
