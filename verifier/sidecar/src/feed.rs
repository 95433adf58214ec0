//! What runs in the background: the watchers of key sets and of lists, and the upkeep of metrics.

use std::{path::Path, sync::Arc};

use pact_revocation::{FloorFolder, floor::FloorError, net::Fetcher};

use crate::{
    clock::Clock,
    config::Config,
    gate::Gate,
    keys::{self, KeyBook},
    limits::METRICS_UPKEEP,
    lists::{ListBook, ListWatch},
    watchers::Watchers,
};

/// Watches the list of every issuer, above the floors in `folder` (protocol R7).
pub(crate) fn lists(
    config: &Config,
    keys: &Arc<KeyBook>,
    clock: &Clock,
    fetcher: &Fetcher,
    folder: &Path,
    watchers: &mut Watchers,
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
        watchers.spawn(format!("the watch of {}'s list", issuer.id), watch.run());
    }
    Ok(book)
}

/// Watches every published key set; a change of trust is another verifier, swapped in whole.
pub(crate) fn keys(gate: &Arc<Gate>, fetcher: &Fetcher, watchers: &mut Watchers) {
    for (place, url) in gate.keys.places() {
        let name = format!("the watch of the key set at {url}");
        let (book, clock, fetcher) = (Arc::clone(&gate.keys), gate.clock.clone(), fetcher.clone());
        let changing = Arc::clone(gate);
        watchers.spawn(name, keys::watch(book, place, url, clock, fetcher, move || retrust(&changing)));
    }
    let gate = Arc::clone(gate);
    watchers.spawn("the upkeep", async move {
        loop {
            tokio::time::sleep(METRICS_UPKEEP).await;
            gate.metrics.upkeep();
            // A fetch that hangs over the hard stop keeps no root alive (protocol K4).
            retrust(&gate);
        }
    });
}

/// Judges by the keys of now. They are read inside the swap: of two swaps at once, the later one has read the newer keys.
fn retrust(gate: &Gate) {
    gate.verifier.rcu(|verifier| match gate.keys.believed(gate.clock.now().monotonic) {
        Ok(trust) if trust.digest() == verifier.trust().digest() => Arc::clone(verifier),
        Ok(trust) => {
            tracing::info!("the root keys changed; calls are judged by the new ones");
            Arc::new(verifier.with_trust(Arc::new(trust)))
        }
        Err(fault) => {
            gate.died.note(format!("trust: {fault}"));
            Arc::clone(verifier)
        }
    });
}
