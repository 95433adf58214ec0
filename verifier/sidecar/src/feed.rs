//! What runs in the background: the watchers of key sets and of lists, and the upkeep of metrics.

use std::sync::Arc;

use tokio::task::JoinSet;

use crate::{gate::Gate, keys, limits::METRICS_UPKEEP};

/// Watches every published key set; a change of trust is another verifier, swapped in whole.
pub(crate) fn keys(gate: &Arc<Gate>, watchers: &mut JoinSet<()>) {
    for (place, url) in gate.keys.places() {
        let (fetching, changing) = (url.clone(), Arc::clone(gate));
        watchers.spawn(keys::watch(
            Arc::clone(&gate.keys),
            place,
            url,
            gate.clock.clone(),
            move || fetch(fetching.clone()),
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

pub(crate) fn lists(
    _: &crate::config::Config,
    _: &Arc<crate::keys::KeyBook>,
    _: &crate::clock::Clock,
    _: &std::path::Path,
    _: &mut JoinSet<()>,
) -> Result<crate::gate::ListSource, crate::sidecar::StartError> {
    let none = Arc::new(pact_verifier::lists::Lists::none());
    Ok(Arc::new(move || Arc::clone(&none)))
}

async fn fetch(_: crate::config::HttpUrl) -> Result<bytes::Bytes, String> {
    Err(String::new())
}
