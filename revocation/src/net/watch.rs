//! The watchers: one task for each list, fetching, judging, and publishing what is held.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use arc_swap::ArcSwap;
use pact_mandate::{Format, IssuerId, UnixTime};
use tokio::{
    sync::{Notify, watch},
    task::JoinHandle,
};

use super::{
    clock::Clock,
    fetch::{FetchError, Fetcher},
    pace::Pace,
    target::{ListUrl, Target},
};
use crate::{
    floor::{FloorError, FloorStore},
    keeper::Keeper,
    list::ListVersion,
    lists::Lists,
    refusal::ListRefusal,
};

mod round;

/// How lists are watched.
#[derive(Clone, Copy, Debug)]
pub struct WatchOptions {
    /// Between two fetches of a list; 10 s (protocol R2).
    pub every: Duration,
    /// At most this much sooner or later; 2 s (protocol R2).
    pub jitter: Duration,
}

/// Watches lists until it is dropped.
pub struct Watcher {
    shared: Arc<Shared>,
    changes: watch::Receiver<Arc<Lists>>,
    tasks: Vec<JoinHandle<()>>,
}

/// What the tasks share.
struct Shared {
    lists: ArcSwap<Lists>,
    sender: watch::Sender<Arc<Lists>>,
    states: Mutex<BTreeMap<(IssuerId, Format), WatchState>>,
    hurry: Notify,
}

/// How the watch of one list goes: for readiness and metrics.
#[derive(Clone, Debug)]
pub struct WatchState {
    /// Whose list.
    pub issuer: IssuerId,
    /// Which list.
    pub kind: Format,
    /// Where it is fetched.
    pub url: ListUrl,
    /// The number of the list that is held.
    pub version: Option<ListVersion>,
    /// When the list that is held was signed.
    pub issued_at: Option<UnixTime>,
    /// When the last fetch succeeded, by the wall clock.
    pub last_success: Option<UnixTime>,
    /// Fetches that failed since.
    pub failures: u32,
    /// Why the last one failed.
    pub last_fault: Option<WatchFault>,
    /// Refusals so far that only a broken or abused list key explains (protocol R6).
    pub alarms: u64,
}

/// Why a round of watching failed, in the words of its cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchFault {
    /// The stable code of the cause.
    pub code: &'static str,
    /// For a person.
    pub text: String,
}

/// Why lists cannot be watched.
#[derive(Debug, thiserror::Error)]
pub enum WatchError {
    /// One list, or two ways to the lists of one issuer's format.
    #[error("{issuer} has two lists for {kind}: watch either its own list or the compatible ones, each once")]
    Twice {
        /// Whose.
        issuer: IssuerId,
        /// Which.
        kind: Format,
    },
    /// A floor cannot be read.
    #[error(transparent)]
    Floor(#[from] FloorError),
}

/// Why one round brought nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RoundError {
    #[error(transparent)]
    Fetch(#[from] FetchError),
    #[error(transparent)]
    Refused(#[from] ListRefusal),
    #[error("the judging of the list broke off")]
    BrokeOff,
}

impl Default for WatchOptions {
    fn default() -> WatchOptions {
        WatchOptions { every: Duration::from_secs(10), jitter: Duration::from_secs(2) }
    }
}

impl Watcher {
    /// Starts a task for each target, on the runtime that this is called on. The first fetches start at once; until one
    /// succeeds, nothing is fresh (protocol R5).
    pub fn start(
        targets: Vec<Target>,
        options: WatchOptions,
        fetcher: &Fetcher,
        clock: &Arc<dyn Clock>,
        store: &(impl FloorStore + Clone + 'static),
    ) -> Result<Watcher, WatchError> {
        check_targets(&targets)?;
        let (sender, changes) = watch::channel(Arc::new(Lists::none()));
        let shared = Arc::new(Shared {
            lists: ArcSwap::from_pointee(Lists::none()),
            sender,
            states: Mutex::new(targets.iter().map(WatchState::before_the_first).collect()),
            hurry: Notify::new(),
        });
        let mut rounds = Vec::with_capacity(targets.len());
        for target in targets {
            let keeper = Keeper::new(target.issuer, target.kind, target.keys, store.clone())?;
            let keeper = match &target.before {
                Some(before) => keeper.continuing(before),
                None => keeper,
            };
            rounds.push(round::Rounds::new(keeper, target.url, fetcher.clone(), Arc::clone(clock)));
        }
        let pace = Pace { every: options.every, jitter: options.jitter };
        let tasks =
            rounds.into_iter().map(|rounds| tokio::spawn(rounds.run(pace, Arc::clone(&shared)))).collect();
        Ok(Watcher { shared, changes, tasks })
    }

    /// The lists as they are now, for one request.
    pub fn lists(&self) -> Arc<Lists> {
        self.shared.lists.load_full()
    }

    /// Tells of every list that takes the place of another, so that open answers can be judged again (protocol R9). That a list
    /// has become too old is told by nobody: who keeps an answer open sets a timer by [`crate::Fresh::stays_fresh_for`].
    pub fn changes(&self) -> watch::Receiver<Arc<Lists>> {
        self.changes.clone()
    }

    /// How each watch goes.
    pub fn states(&self) -> Vec<WatchState> {
        self.shared.lock_states().values().cloned().collect()
    }

    /// Fetches every list now, without waiting for its turn. A fetch that is under way is not doubled.
    pub fn hurry(&self) {
        self.shared.hurry.notify_waiters();
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Shared {
    fn lock_states(&self) -> std::sync::MutexGuard<'_, BTreeMap<(IssuerId, Format), WatchState>> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn publish(&self, held: &Arc<crate::held::Held>) {
        self.lists.rcu(|lists| lists.with(Arc::clone(held)));
        // Whichever task sends last sends what all of them have stored.
        self.sender.send_modify(|sent| *sent = self.lists.load_full());
    }
}

fn check_targets(targets: &[Target]) -> Result<(), WatchError> {
    for (at, target) in targets.iter().enumerate() {
        let own = |kind: Format| kind == Format::Pact;
        let clashes = |other: &&Target| {
            other.issuer == target.issuer
                && (other.kind == target.kind || own(other.kind) || own(target.kind))
        };
        if targets.iter().take(at).any(|other| clashes(&other)) {
            return Err(WatchError::Twice { issuer: target.issuer.clone(), kind: target.kind });
        }
    }
    Ok(())
}

impl WatchState {
    fn before_the_first(target: &Target) -> ((IssuerId, Format), WatchState) {
        let state = WatchState {
            issuer: target.issuer.clone(),
            kind: target.kind,
            url: target.url.clone(),
            version: None,
            issued_at: None,
            last_success: None,
            failures: 0,
            last_fault: None,
            alarms: 0,
        };
        ((target.issuer.clone(), target.kind), state)
    }
}

impl RoundError {
    fn fault(&self) -> WatchFault {
        let code = match self {
            RoundError::Fetch(error) => error.code(),
            RoundError::Refused(refusal) => refusal.code(),
            RoundError::BrokeOff => "list_judging_broke_off",
        };
        WatchFault { code, text: self.to_string() }
    }

    fn is_alarm(&self) -> bool {
        matches!(self, RoundError::Refused(refusal) if refusal.is_alarm())
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Watcher({} lists)", self.tasks.len())
    }
}
