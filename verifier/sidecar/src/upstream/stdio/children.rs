//! Every process of the tool server that runs, by whom it serves: one session, one holder's key, or those who prove nothing.
//! No two of them share one (protocol M4).

use std::{
    collections::HashMap,
    io,
    pin::pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pact_mandate::KeyId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{
    child::Child,
    complaints::{Complaints, LastLine},
    counts::Counts,
    life::{Ending, live},
    process::Process,
    starts::Starts,
};
use crate::{
    clock::Clock,
    config::CommandConfig,
    fault::UpstreamFault,
    limits::{CHILD_GRACE, CHILD_SWEEP, PLACE_TIMEOUT},
    panic::caught,
    session::{SessionBook, SessionId},
};

/// Whom a process serves.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum Client {
    /// Open messages that stand in no session. It gets no call of anybody.
    Anybody,
    /// Calls that stand alone, of this key's holder.
    Holder(KeyId),
    /// One session.
    Session(SessionId),
}

/// Why none was started.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotStarted {
    #[error("as many processes of it run as may (upstream.max_children)")]
    Crowded,
    #[error("the sidecar stops")]
    Stopping,
    #[error("{program} cannot be started: {fault}")]
    Refused { program: String, fault: io::Error },
}

pub(super) struct Children {
    config: CommandConfig,
    sessions: Arc<SessionBook>,
    clock: Clock,
    pub(super) starts: Starts,
    pub(super) counts: Arc<Counts>,
    complaints: Complaints,
    /// One for each process, held until it has ended and is gone.
    places: Arc<Semaphore>,
    running: Mutex<Running>,
}

#[derive(Default)]
struct Running {
    is_closed: bool,
    children: HashMap<Client, Arc<Child>>,
}

impl Children {
    pub(super) fn new(config: CommandConfig, sessions: Arc<SessionBook>, clock: Clock) -> Children {
        Children {
            sessions,
            starts: Starts::default(),
            counts: Arc::default(),
            complaints: Complaints::new(clock.clone()),
            places: Arc::new(Semaphore::new(config.max_children)),
            running: Mutex::default(),
            clock,
            config,
        }
    }

    /// The one that serves this client, if it runs.
    pub(super) fn get(&self, client: &Client) -> Option<Arc<Child>> {
        self.lock().children.get(client).filter(|child| !child.is_over()).cloned()
    }

    /// The one that serves this client; it is started where it does not run.
    pub(super) async fn get_or_start(self: &Arc<Self>, client: &Client) -> Result<Arc<Child>, UpstreamFault> {
        if let Some(child) = self.get(client) {
            return Ok(child);
        }
        if !self.starts.wait().is_zero() {
            return Err(UpstreamFault::Unreachable);
        }
        let started = match self.place().await {
            Ok(place) => self.start(client, place, true),
            Err(fault) => Err(fault),
        };
        started.map_err(|fault| match fault {
            NotStarted::Crowded => UpstreamFault::Crowded,
            NotStarted::Stopping => UpstreamFault::Unreachable,
            NotStarted::Refused { .. } => {
                self.starts.failed(fault.to_string());
                UpstreamFault::Unreachable
            }
        })
    }

    /// Starts one on trial, for open messages: whoever tries tells what came of it.
    pub(super) async fn try_out(self: &Arc<Self>) -> Result<Arc<Child>, NotStarted> {
        let place = self.place().await?;
        self.start(&Client::Anybody, place, false)
    }

    /// A place for one more: free, or of one that nobody uses.
    async fn place(&self) -> Result<OwnedSemaphorePermit, NotStarted> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        self.sweep();
        self.end_idlest();
        let waiting = tokio::time::timeout(PLACE_TIMEOUT, Arc::clone(&self.places).acquire_owned());
        waiting.await.ok().and_then(Result::ok).ok_or(NotStarted::Crowded)
    }

    fn start(
        self: &Arc<Self>,
        client: &Client,
        place: OwnedSemaphorePermit,
        counts: bool,
    ) -> Result<Arc<Child>, NotStarted> {
        let mut running = self.lock();
        if running.is_closed {
            return Err(NotStarted::Stopping);
        }
        // Somebody may have been faster.
        if let Some(child) = running.children.get(client).filter(|child| !child.is_over()) {
            return Ok(Arc::clone(child));
        }
        let (process, pipes) = Process::start(&self.config).map_err(|fault| {
            self.counts.start(false);
            NotStarted::Refused { program: self.config.program.display().to_string(), fault }
        })?;
        self.counts.start(true);
        let has_client = matches!(client, Client::Session(_));
        let (child, lines) = Child::new(Arc::clone(&self.counts), has_client, self.config.message_bytes);
        let child = Arc::new(child);
        running.children.insert(client.clone(), Arc::clone(&child));
        drop(running);
        let (children, client, started) = (Arc::clone(self), client.clone(), Arc::clone(&child));
        tokio::spawn(async move {
            let last = LastLine::default();
            let complaints = children.complaints.clone();
            let life = live(process, pipes, Arc::clone(&started), lines, complaints, last.clone());
            let ending = caught(pin!(life)).await.unwrap_or(Ending::Hung);
            children.ended(&client, &started, &ending, &last, counts);
            drop(place);
        });
        Ok(child)
    }

    fn ended(&self, client: &Client, child: &Arc<Child>, ending: &Ending, last: &LastLine, counts: bool) {
        let mut running = self.lock();
        if running.children.get(client).is_some_and(|running| Arc::ptr_eq(running, child)) {
            running.children.remove(client);
        }
        drop(running);
        child.finish(ending.to_string());
        if let Client::Session(id) = client {
            self.sessions.end(id);
        }
        if matches!(ending, Ending::Told) {
            return tracing::debug!("a process of the tool server was told to end, and ended");
        }
        let (last_line, lived) = (last.get(), child.age());
        tracing::warn!(%ending, %last_line, ?lived, "a process of the tool server has ended");
        if counts && !child.has_answered() {
            self.starts.failed(format!("it {ending} before it answered anything"));
        }
    }

    /// Ends what nobody uses any more: processes of sessions that are forgotten, and of holders who are idle.
    pub(super) fn sweep(&self) {
        let (now, idle) = (self.clock.now().monotonic, self.sessions.idle());
        self.lock().children.retain(|client, child| {
            let is_used = match client {
                Client::Anybody => true,
                // It is known only once its beginning was answered.
                Client::Session(id) => {
                    child.answered_ago() < Some(CHILD_SWEEP) || self.sessions.knows(id, now)
                }
                Client::Holder(_) => child.calls().count() > 0 || child.idle_for() < idle,
            };
            if !is_used {
                child.end();
            }
            is_used && !child.is_over()
        });
    }

    /// Makes room: the process of the holder who has been idle for the longest.
    fn end_idlest(&self) {
        let mut running = self.lock();
        let idle = running.children.iter().filter(|(client, child)| {
            matches!(client, Client::Holder(_))
                && child.calls().count() == 0
                && child.idle_for() >= CHILD_SWEEP
        });
        let idlest = idle.max_by_key(|(_, child)| child.idle_for()).map(|(client, _)| client.clone());
        if let Some(child) = idlest.and_then(|client| running.children.remove(&client)) {
            child.end();
        }
    }

    /// Ends the one that serves this client.
    pub(super) fn end(&self, client: &Client) {
        if let Some(child) = self.lock().children.remove(client) {
            child.end();
        }
    }

    /// Ends them all, starts none any more, and comes back when they are gone.
    pub(super) async fn close(&self) {
        let children = {
            let mut running = self.lock();
            running.is_closed = true;
            std::mem::take(&mut running.children)
        };
        for child in children.values() {
            child.end();
        }
        let all = u32::try_from(self.config.max_children).unwrap_or(u32::MAX);
        let gone = tokio::time::timeout(closing_time(), self.places.acquire_many(all)).await;
        if gone.is_err() {
            tracing::error!("processes of the tool server are still there");
        }
    }

    /// How many run.
    pub(super) fn count(&self) -> usize {
        self.config.max_children.saturating_sub(self.places.available_permits())
    }

    fn lock(&self) -> MutexGuard<'_, Running> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Each signal and what follows it has its grace, and some time is left for reading what was written.
fn closing_time() -> Duration {
    CHILD_GRACE.saturating_mul(4)
}
