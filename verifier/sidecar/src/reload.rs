//! Taking a changed configuration into force while calls are judged: whole, or not at all.
//!
//! The configuration file and the policy file are read again when their content has changed and has been the same for two
//! looks (an editor may be half-way through), and at once on SIGHUP. What does not do changes nothing: the rules in force
//! stay, `/readyz` says why, and the same broken files are reported once.

use std::sync::{Arc, Mutex, PoisonError};

use pact_verifier::policy::Policy;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::{
    config::Config,
    feed::Feeds,
    gate::Gate,
    keys::KeyBook,
    limits::RELOAD_LOOK,
    sidecar::{StartError, read_policy},
    watchers::Watchers,
};

/// Why a changed configuration is not in force.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReloadError {
    /// It would not start either.
    #[error(transparent)]
    Start(#[from] StartError),
    /// What is bound or opened once.
    #[error("`{0}` has changed, which takes a restart; nothing of the change is in force")]
    NeedsRestart(&'static str),
}

/// What became of the last change, for `/readyz`.
#[derive(Default)]
pub(crate) struct LastChange(Mutex<Option<String>>);

impl LastChange {
    /// Why the files as they are now are not in force.
    pub(crate) fn fault(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, fault: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }
}

/// Keeps the watches of the rules in force running, and puts others in their place.
pub(crate) struct Reload {
    gate: Arc<Gate>,
    feeds: Feeds,
    config: Config,
    watchers: Watchers,
    /// The content that was judged last, whatever came of it.
    judged: Content,
    /// The content at the last look.
    seen: Content,
}

/// The text of both files, or nothing where they cannot be read. They are a megabyte at the very most.
type Content = Option<[String; 2]>;

impl Reload {
    /// Starts the watches. The runtime must run.
    pub(crate) fn start(gate: Arc<Gate>, feeds: Feeds, config: Config) -> Reload {
        let watchers = feeds.start(&gate, &gate.rules.load(), &config);
        let content = content(&config);
        Reload { gate, feeds, config, watchers, judged: content.clone(), seen: content }
    }

    /// For ever.
    pub(crate) async fn run(mut self) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        loop {
            tokio::select! {
                () = self.watchers.supervise(&self.gate.died) => {}
                () = received(hangup.as_mut()) => self.judge(),
                () = tokio::time::sleep(RELOAD_LOOK) => self.look(),
            }
        }
    }

    fn look(&mut self) {
        let now = content(&self.config);
        let is_settled = now == self.seen;
        self.seen = now;
        if is_settled && self.seen != self.judged {
            self.judge();
        }
    }

    /// Reads both files, and puts what they say in force if it does.
    fn judge(&mut self) {
        let Some(source) = self.config.source() else { return };
        self.judged = content(&self.config);
        let fault = match Config::read(source).map_err(StartError::from).map_err(ReloadError::from) {
            Ok(config) => self.apply(config).err(),
            Err(fault) => Some(fault),
        };
        self.gate.metrics.reloaded(fault.is_none());
        let version = self.gate.rules.load().version;
        match &fault {
            None => tracing::info!(version, "the changed configuration is in force"),
            Some(fault) => {
                tracing::error!(version, %fault, "the changed configuration is refused; the old one stays in force");
            }
        }
        self.gate.last_change.set(fault.map(|fault| fault.to_string()));
    }

    fn apply(&mut self, config: Config) -> Result<(), ReloadError> {
        if let Some(key) = self.config.needs_restart_for(&config) {
            return Err(ReloadError::NeedsRestart(key));
        }
        let policy: Policy = read_policy(&config)?;
        let now = self.gate.clock.now().monotonic;
        let old = self.gate.rules.load_full();
        let keys = Arc::new(KeyBook::successor(&old.keys, &config));
        let next = Arc::new(old.next(keys, policy, now).map_err(StartError::from)?);
        self.gate.rules.store(Arc::clone(&next));
        self.gate.lists.keep_only(&config.issuers);
        self.watchers = self.feeds.start(&self.gate, &next, &config);
        // The policy may lie elsewhere now, and it is the new files that were judged.
        (self.judged, self.config) = (content(&config), config);
        Ok(())
    }
}

async fn received(signal: Option<&mut Signal>) {
    let told = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if told.is_none() {
        std::future::pending::<()>().await;
    }
}

fn content(config: &Config) -> Content {
    config.texts().ok()
}
