//! What runs in the background: the watchers of key sets and of lists, and the upkeep of metrics and connections.

use std::{path::Path, sync::Arc};

use pact_revocation::{FloorFolder, floor::FloorError, net::Fetcher};

use crate::{
    config::Config, gate::Gate, keys, limits::METRICS_UPKEEP, lists::ListWatch, rules::Rules,
    watchers::Watchers,
};

/// Starts the watches that a configuration asks for.
pub(crate) struct Feeds {
    fetcher: Fetcher,
    floors: FloorFolder,
}

impl Feeds {
    /// Lists are watched above the floors in `folder` (protocol R7).
    pub(crate) fn new(fetcher: Fetcher, folder: &Path) -> Result<Feeds, FloorError> {
        Ok(Feeds { fetcher, floors: FloorFolder::open(folder)? })
    }

    /// Watches every list and every published key set of these rules; dropped, the watches end.
    pub(crate) fn start(&self, gate: &Arc<Gate>, rules: &Rules, config: &Config) -> Watchers {
        let mut watchers = Watchers::default();
        for issuer in &config.issuers {
            let watch = ListWatch {
                book: Arc::clone(&gate.lists),
                keys: Arc::clone(&rules.keys),
                issuer: issuer.id.clone(),
                url: issuer.lists_url.clone(),
                every: config.lists_every,
                fetcher: self.fetcher.clone(),
                floors: self.floors.clone(),
                clock: gate.clock.clone(),
            };
            watchers.spawn(format!("the watch of {}'s list", issuer.id), watch.run());
        }
        for (place, url) in rules.keys.places() {
            let name = format!("the watch of the key set at {url}");
            let (book, clock, fetcher) = (Arc::clone(&rules.keys), gate.clock.clone(), self.fetcher.clone());
            let changing = Arc::clone(gate);
            watchers.spawn(name, keys::watch(book, place, url, clock, fetcher, move || retrust(&changing)));
        }
        watchers
    }
}

/// The upkeep of metrics, of connections to the tool server and of trust, for ever.
pub(crate) async fn upkeep(gate: Arc<Gate>) {
    loop {
        tokio::time::sleep(METRICS_UPKEEP).await;
        gate.metrics.upkeep();
        gate.upstream.let_go_of_idle();
        // A fetch that hangs over the hard stop keeps no root alive (protocol K4).
        retrust(&gate);
    }
}

/// Judges by the keys of now. They are read inside the swap: of two swaps at once, the later one has read the newer keys.
fn retrust(gate: &Gate) {
    gate.rules.rcu(|rules| match rules.by_the_keys_of(gate.clock.now().monotonic) {
        Ok(None) => Arc::clone(rules),
        Ok(Some(next)) => {
            tracing::info!("the root keys changed; calls are judged by the new ones");
            Arc::new(next)
        }
        Err(fault) => {
            tracing::error!(%fault, "nobody can be trusted by the keys of now");
            gate.died.note("trust");
            Arc::clone(rules)
        }
    });
}
