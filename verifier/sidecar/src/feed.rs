//! What runs in the background: the watchers of key sets and of lists, and the upkeep of metrics.

use std::{path::Path, sync::Arc};

use arc_swap::ArcSwap;
use pact_mandate::{Format, jwks::KeySet, limits::MAX_KEY_SET_BYTES};
use pact_revocation::{FloorFolder, Keeper, Lists, floor::FloorError};
use tokio::task::JoinSet;

use crate::{
    clock::Clock,
    config::Config,
    fetch::Fetcher,
    gate::{Gate, ListSource},
    keys::{self, KeyBook},
    limits::METRICS_UPKEEP,
    lists::Watch,
};

/// Watches the list of every issuer, above the floors in `folder` (protocol R7). Before the first one there is none.
pub(crate) fn lists(
    config: &Config,
    keys: &Arc<KeyBook>,
    clock: &Clock,
    fetcher: &Fetcher,
    folder: &Path,
    watchers: &mut JoinSet<()>,
) -> Result<ListSource, FloorError> {
    let lists = Arc::new(ArcSwap::from_pointee(Lists::none()));
    let floors = FloorFolder::open(folder)?;
    for issuer in &config.issuers {
        let watch = Watch {
            keeper: Keeper::new(issuer.id.clone(), Format::Pact, KeySet::default(), floors.clone())?,
            uri: issuer.lists_url.uri().clone(),
            keys: Arc::clone(keys),
            lists: Arc::clone(&lists),
            fetcher: fetcher.clone(),
            clock: clock.clone(),
        };
        watchers.spawn(watch.run());
    }
    Ok(Arc::new(move || lists.load_full()))
}

/// Watches every published key set; a change of trust is another verifier, swapped in whole.
pub(crate) fn keys(gate: &Arc<Gate>, fetcher: &Fetcher, watchers: &mut JoinSet<()>) {
    for (place, url) in gate.keys.places() {
        let (fetching, changing, fetcher) = (url.clone(), Arc::clone(gate), fetcher.clone());
        watchers.spawn(keys::watch(
            Arc::clone(&gate.keys),
            place,
            url,
            gate.clock.clone(),
            move || {
                let (url, fetcher) = (fetching.clone(), fetcher.clone());
                async move { fetcher.get(url.uri(), MAX_KEY_SET_BYTES).await }
            },
            move || retrust(&changing),
        ));
    }
    let gate = Arc::clone(gate);
    watchers.spawn(async move {
        loop {
            tokio::time::sleep(METRICS_UPKEEP).await;
            gate.metrics.upkeep();
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
