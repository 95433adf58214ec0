//! One record of used proofs for several replicas, in a server of the Redis protocol (protocol P6, P7, T1).
//!
//! A script of ours judges and records each proof inside the server, as one step. In the same step it looks whether the
//! record is unbroken: the same process, the same part in replication, no eviction, nothing missing. When it is not, the
//! next record begins there and then, for every replica, and refuses what could have been used before.
//!
//! The callers' threads never touch the connection. They hand the proof to one thread that speaks to the server, and
//! wait for its answer for a bounded time; what waits at one moment is asked in one go.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{SyncSender, TrySendError, sync_channel},
    },
    thread::{self, JoinHandle},
    time::Duration,
};

use pact_mandate::Now;
use pact_verifier::replay::{ProofId, ReplayFault, ReplayHealth, ReplayStore};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::{Clock, config::RedisConfig, limits::MAX_WAITING_FOR_REDIS};

mod fault;
mod line;
mod resp;
mod script;
#[cfg(test)]
mod tests;
mod view;
mod worker;

pub(crate) use fault::SharedFault;
use script::{Answer, Bounds, Used};
pub(crate) use view::SharedState;
use view::View;
use worker::{Job, Worker};

/// The record that replicas share.
pub(crate) struct SharedReplay {
    jobs: SyncSender<Job>,
    view: Arc<View>,
    bounds: Bounds,
    timeout: Duration,
    thread: JoinHandle<()>,
}

impl SharedReplay {
    /// Starts the thread that speaks to the server. The server need not be there yet: until it is, every proof is refused.
    pub(crate) fn start(server: RedisConfig, clock: Clock) -> io::Result<SharedReplay> {
        SharedReplay::start_bounded(server, clock, Bounds::USUAL)
    }

    fn start_bounded(server: RedisConfig, clock: Clock, bounds: Bounds) -> io::Result<SharedReplay> {
        let (jobs, waiting) = sync_channel(MAX_WAITING_FOR_REDIS);
        let (view, timeout) = (Arc::new(View::new()), server.timeout);
        let worker = Worker::new(server, bounds, clock, Arc::clone(&view));
        let thread = thread::Builder::new().name("replay".into()).spawn(move || worker.run(&waiting))?;
        Ok(SharedReplay { jobs, view, bounds, timeout, thread })
    }

    /// How it is, with what went wrong so far.
    pub(crate) fn state(&self) -> SharedState {
        let state = self.view.state();
        if self.thread.is_finished() {
            return SharedState { fault: Some(SharedFault::ThreadDied), ..state };
        }
        state
    }

    fn ask(&self, used: Used, now: Now) -> Result<Answer, SharedFault> {
        let (answer, answered) = sync_channel(1);
        let given_up = Arc::new(AtomicBool::new(false));
        let job = Job { used, now: now.wall, answer, given_up: Arc::clone(&given_up) };
        self.jobs.try_send(job).map_err(|error| match error {
            TrySendError::Full(_) => SharedFault::Crowded,
            TrySendError::Disconnected(_) => SharedFault::ThreadDied,
        })?;
        let answer = aside(|| answered.recv_timeout(self.timeout));
        given_up.store(true, Ordering::Relaxed);
        answer.map_err(|error| match error {
            std::sync::mpsc::RecvTimeoutError::Timeout => SharedFault::TimedOut,
            std::sync::mpsc::RecvTimeoutError::Disconnected => SharedFault::ThreadDied,
        })?
    }
}

impl ReplayStore for SharedReplay {
    fn record(&self, proof: &ProofId, now: Now) -> Result<(), ReplayFault> {
        let used = Used::of(proof);
        match self.ask(used, now) {
            Ok(answer) => answer.verdict(&used, self.bounds),
            Err(fault) => Err(ReplayFault::Failed(fault.into())),
        }
    }

    fn health(&self) -> ReplayHealth {
        let state = self.state();
        ReplayHealth {
            since: state.since,
            held: state.held,
            limit: self.bounds.proofs,
            failed: state.fault.map(Into::into),
        }
    }
}

/// Waits without keeping a thread of the server from its other tasks.
fn aside<T>(wait: impl FnOnce() -> T) -> T {
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(wait),
        _ => wait(),
    }
}
