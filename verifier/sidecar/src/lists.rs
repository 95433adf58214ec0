//! The lists of all issuers, kept fresh in the background by `pact_revocation`'s watchers; swapped in whole. A fetch that
//! fails, or a list that is refused, leaves the held one, which ages on.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use pact_mandate::{Format, IssuerId, KeyId, PublicKey, jwks::KeySet};
use pact_revocation::{
    FloorFolder, Lists,
    net::{self, Fetcher, ListUrl, Target, WatchOptions, Watcher},
};

use crate::{clock::Clock, config::IssuerConfig, keys::KeyBook, limits::LISTS_LOOK};

/// What is held of every issuer, and how its watch goes.
pub(crate) struct ListBook {
    lists: ArcSwap<Lists>,
    watched: Mutex<BTreeMap<IssuerId, Watched>>,
}

/// How the watch of one issuer's list goes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watched {
    /// Why the last fetch brought nothing.
    pub(crate) fault: Option<String>,
    /// Lists that were refused and that only a broken or abused list key explains (protocol R6).
    pub(crate) alarms: u64,
}

/// The watch of one issuer's list.
pub(crate) struct ListWatch {
    pub(crate) book: Arc<ListBook>,
    pub(crate) keys: Arc<KeyBook>,
    pub(crate) issuer: IssuerId,
    pub(crate) url: ListUrl,
    pub(crate) every: Duration,
    pub(crate) fetcher: Fetcher,
    pub(crate) floors: FloorFolder,
    pub(crate) clock: Clock,
}

impl ListBook {
    /// Before the first list there is none.
    pub(crate) fn new() -> ListBook {
        ListBook { lists: ArcSwap::from_pointee(Lists::none()), watched: Mutex::default() }
    }

    /// The lists as they are now, for one request.
    pub(crate) fn lists(&self) -> Arc<Lists> {
        self.lists.load_full()
    }

    /// How the watch of an issuer's list goes.
    pub(crate) fn watched(&self, issuer: &IssuerId) -> Watched {
        self.lock().get(issuer).cloned().unwrap_or_default()
    }

    /// Lets go of what is held of issuers that are configured no more.
    pub(crate) fn keep_only(&self, issuers: &[IssuerConfig]) {
        let is_kept = |issuer: &IssuerId| issuers.iter().any(|config| config.id == *issuer);
        self.lists.rcu(|lists| {
            let gone = lists.iter().map(|held| held.issuer()).filter(|issuer| !is_kept(issuer));
            gone.fold(Lists::clone(lists), |all, issuer| all.without(issuer))
        });
        self.lock().retain(|issuer, _| is_kept(issuer));
    }

    fn note(&self, issuer: &IssuerId, watcher: &Watcher) {
        let states = watcher.states();
        let fault = states.iter().find_map(|state| state.last_fault.as_ref()).map(|fault| fault.text.clone());
        let alarms = states.iter().map(|state| state.alarms).sum();
        self.lock().insert(issuer.clone(), Watched { fault, alarms });
    }

    fn note_fault(&self, issuer: &IssuerId, fault: String) {
        self.lock().entry(issuer.clone()).or_default().fault = Some(fault);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<IssuerId, Watched>> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes over what a watcher holds of its issuer.
    fn adopt(&self, held: &Lists) {
        self.lists.rcu(|lists| held.iter().fold(Lists::clone(lists), |all, held| all.with(Arc::clone(held))));
    }

    /// Lets go of a list whose key counts no more.
    fn drop_unsigned(&self, issuer: &IssuerId, keys: &[(KeyId, PublicKey)]) {
        let signed =
            |list: &Arc<pact_revocation::Held>| keys.iter().any(|(_, key)| key.thumbprint() == *list.key());
        if !self.lists.load().of(issuer).all(signed) {
            self.lists.rcu(|lists| lists.without(issuer));
        }
    }
}

impl ListWatch {
    /// Watches for ever; begins anew, above the same floor, when other keys may sign the list (protocol R7).
    pub(crate) async fn run(self) {
        let this = Arc::new(self);
        loop {
            let keys = this.list_keys();
            this.book.drop_unsigned(&this.issuer, &keys);
            // The floor's lock and its bodies are on a disk, which may be slow: nobody else waits for it.
            let (starting, signed_by) = (Arc::clone(&this), keys.clone());
            let started = tokio::task::spawn_blocking(move || starting.start(&signed_by)).await;
            match started.unwrap_or_else(|broken| Err(broken.into())) {
                Ok(watcher) => this.follow(watcher, &keys).await,
                Err(fault) => {
                    tracing::error!(issuer = %this.issuer, %fault, "the list cannot be watched");
                    this.book.note_fault(&this.issuer, fault.to_string());
                    tokio::time::sleep(this.every).await;
                }
            }
        }
    }

    fn start(
        &self,
        keys: &[(KeyId, PublicKey)],
    ) -> Result<Watcher, Box<dyn std::error::Error + Send + Sync>> {
        let keys = KeySet::new(keys.to_vec())?;
        let (issuer, url) = (self.issuer.clone(), self.url.clone());
        let options = WatchOptions { every: self.every, jitter: self.every / 5 };
        let clock = self.clock.clone();
        let clock: Arc<dyn net::Clock> = Arc::new(move || clock.now());
        let before = self.book.lists().of(&issuer).find(|held| held.kind() == Format::Pact).cloned();
        let target = Target { issuer, kind: Format::Pact, url, keys, before };
        Ok(Watcher::start(vec![target], options, &self.fetcher, &clock, &self.floors)?)
    }

    /// Comes back when the keys have changed.
    async fn follow(&self, watcher: Watcher, keys: &[(KeyId, PublicKey)]) {
        let mut news = watcher.changes();
        loop {
            tokio::select! {
                told = news.changed() => match told {
                    Ok(()) => self.book.adopt(&watcher.lists()),
                    Err(_) => return,
                },
                () = tokio::time::sleep(LISTS_LOOK) => {}
            }
            self.book.note(&self.issuer, &watcher);
            if self.list_keys() != keys {
                return;
            }
        }
    }

    fn list_keys(&self) -> Vec<(KeyId, PublicKey)> {
        self.keys.list_keys(&self.issuer, self.clock.now().monotonic)
    }
}
