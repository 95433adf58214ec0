//! What calls are judged by, as one value: read once per request, and swapped whole.

use std::sync::Arc;

use pact_mandate::Monotonic;
use pact_verifier::{Policy, Verifier, trust::TrustError};

use crate::keys::KeyBook;

/// One version of the configuration in force, with the trust that its key sets amount to now.
pub(crate) struct Rules {
    /// Counts the configurations that were in force since the start, this one included.
    pub(crate) version: u64,
    pub(crate) keys: Arc<KeyBook>,
    pub(crate) verifier: Verifier,
}

impl Rules {
    /// The first ones.
    pub(crate) fn new(keys: Arc<KeyBook>, verifier: Verifier) -> Rules {
        Rules { version: 1, keys, verifier }
    }

    /// What the next configuration makes of them. Cache and replay store stay; what was verified under another trust
    /// does not count under this one (protocol C7).
    pub(crate) fn next(
        &self,
        keys: Arc<KeyBook>,
        policy: Policy,
        now: Monotonic,
    ) -> Result<Rules, TrustError> {
        let trust = Arc::new(keys.trust(now)?);
        let verifier = self.verifier.with_trust(trust).with_policy(Arc::new(policy));
        Ok(Rules { version: self.version.saturating_add(1), keys, verifier })
    }

    /// The same configuration by the keys of now; `None` when they have not changed.
    pub(crate) fn by_the_keys_of(&self, now: Monotonic) -> Result<Option<Rules>, TrustError> {
        let trust = self.keys.believed(now)?;
        if trust.digest() == self.verifier.trust().digest() {
            return Ok(None);
        }
        let verifier = self.verifier.with_trust(Arc::new(trust));
        Ok(Some(Rules { version: self.version, keys: Arc::clone(&self.keys), verifier }))
    }
}
