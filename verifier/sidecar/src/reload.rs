//! Taking a changed configuration into force while calls are judged: whole, or not at all.
//!
//! The configuration file and the policy file are read again when their content has changed and has been the same for two
//! looks (an editor may be half-way through), and at once on SIGHUP. What does not do changes nothing: the rules in force
//! stay, `/readyz` says why, and the same broken files are reported once.

use std::{
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use pact_verifier::policy::Policy;

use crate::{
    config::{Config, ConfigError, read_bounded},
    feed::Feeds,
    gate::Gate,
    keys::KeyBook,
    limits::{MAX_CONFIG_BYTES, RELOAD_LOOK},
    sidecar::{StartError, read_policy},
    signals::Hangup,
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
    hangup: Hangup,
    /// What was judged last, whatever came of it.
    judged: Texts,
    /// What was there at the last look.
    seen: Texts,
}

/// The configuration file and the policy file, or nothing where they cannot be read. They are a megabyte at the very most.
type Texts = Option<[String; 2]>;

impl Reload {
    /// Starts the watches. The runtime must run. `policy` is the text whose policy is in force.
    pub(crate) fn start(gate: Arc<Gate>, feeds: Feeds, config: Config, policy: String) -> Reload {
        let watchers = feeds.start(&gate, &gate.rules.load(), &config);
        let judged = config.source().map(|(_, own)| [own.to_owned(), policy]);
        let hangup = Hangup::take();
        Reload { gate, feeds, config, watchers, hangup, seen: judged.clone(), judged }
    }

    /// For ever.
    pub(crate) async fn run(mut self) {
        loop {
            tokio::select! {
                () = self.watchers.supervise(&self.gate.died) => {}
                () = self.hangup.next() => {
                    let texts = self.texts();
                    self.judge(texts).await;
                }
                () = tokio::time::sleep(RELOAD_LOOK) => self.look().await,
            }
        }
    }

    async fn look(&mut self) {
        if self.config.source().is_none() {
            return;
        }
        let now = self.texts();
        let is_settled = self.seen.as_ref() == now.as_ref().ok();
        self.seen = now.as_ref().ok().cloned();
        if is_settled && self.seen != self.judged {
            self.judge(now).await;
        }
    }

    /// Puts what the files say in force, if it does.
    async fn judge(&mut self, texts: Result<[String; 2], ConfigError>) {
        let Some((path, _)) = self.config.source() else { return };
        let path = path.to_owned();
        self.judged = texts.as_ref().ok().cloned();
        let fault = match texts.map_err(StartError::from) {
            Ok(texts) => self.apply(&path, texts).await.err(),
            Err(fault) => Some(fault.into()),
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

    async fn apply(&mut self, path: &Path, [own, mut policy]: [String; 2]) -> Result<(), ReloadError> {
        let config = Config::from_text(own.clone(), path).map_err(StartError::from)?;
        if let Some(key) = self.config.needs_restart_for(&config) {
            return Err(ReloadError::NeedsRestart(key));
        }
        if config.policy_file() != self.config.policy_file() {
            policy = config.policy_text().map_err(StartError::from)?;
        }
        let parsed = read_policy(&config, &policy)?;
        // What a watch that still runs brings would reach the old book alone.
        self.watchers.shut_down().await;
        let replaced = self.replace(&config, parsed);
        if replaced.is_ok() {
            self.judged = Some([own, policy]);
            self.config = config;
        }
        self.watchers = self.feeds.start(&self.gate, &self.gate.rules.load(), &self.config);
        replaced
    }

    /// While nothing watches.
    fn replace(&self, config: &Config, policy: Policy) -> Result<(), ReloadError> {
        let now = self.gate.clock.now().monotonic;
        let old = self.gate.rules.load_full();
        let keys = Arc::new(KeyBook::successor(&old.keys, config));
        let next = old.next(keys, policy, now).map_err(StartError::from)?;
        self.gate.rules.store(Arc::new(next));
        self.gate.lists.keep_only(&config.issuers);
        Ok(())
    }

    /// Both files as they are now, each read once: what is judged is what was looked at.
    fn texts(&self) -> Result<[String; 2], ConfigError> {
        let own = self.config.source().map(|(path, _)| read_bounded(path, MAX_CONFIG_BYTES)).transpose()?;
        Ok([own.unwrap_or_default(), self.config.policy_text()?])
    }
}
