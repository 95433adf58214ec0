//! What is known of the shared record, for whoever asks how it is.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use pact_mandate::UnixTime;

use super::{
    fault::SharedFault,
    script::{Answer, Epoch},
};

/// The last word from the server.
pub(super) struct View(Mutex<Seen>);

struct Seen {
    epoch: Epoch,
    since: UnixTime,
    held: usize,
    fault: Option<SharedFault>,
    faults: BTreeMap<&'static str, u64>,
}

/// A copy of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SharedState {
    pub(super) since: UnixTime,
    pub(super) held: usize,
    /// Why the last question got no answer.
    pub(crate) fault: Option<SharedFault>,
    /// How often each fault was met.
    pub(crate) faults: BTreeMap<&'static str, u64>,
}

impl View {
    pub(super) fn new() -> View {
        View(Mutex::new(Seen {
            epoch: Epoch::default(),
            since: UnixTime::MAX,
            held: 0,
            fault: Some(SharedFault::NotYet),
            faults: BTreeMap::new(),
        }))
    }

    pub(super) fn note(&self, answer: &Result<Answer, SharedFault>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(answer) => {
                if seen.epoch.id != answer.epoch.id {
                    tracing::warn!(since = %answer.since, "the shared record of used proofs begins anew");
                }
                seen.epoch = answer.epoch.clone();
                (seen.since, seen.held, seen.fault) = (answer.since, answer.held, None);
            }
            Err(fault) => {
                if seen.fault.replace(*fault) != Some(*fault) {
                    let reason = pact_verifier::replay::StoreFailure::from(*fault);
                    tracing::error!(fault = fault.code(), %reason, "the shared store of used proofs fails");
                }
                let met = seen.faults.entry(fault.code()).or_default();
                *met = met.saturating_add(1);
            }
        }
    }

    pub(super) fn epoch(&self) -> Epoch {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).epoch.clone()
    }

    pub(super) fn state(&self) -> SharedState {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        SharedState { since: seen.since, held: seen.held, fault: seen.fault, faults: seen.faults.clone() }
    }
}
