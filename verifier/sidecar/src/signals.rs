//! Signals of the operating system. Each is taken before anything is told: untaken, it ends the process without a word.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What stops the process: an interrupt, or a request to terminate.
#[derive(Debug)]
pub struct Stop {
    interrupt: Option<Signal>,
    terminate: Option<Signal>,
}

/// What makes it look at its files at once.
#[derive(Debug)]
pub(crate) struct Hangup(Option<Signal>);

impl Stop {
    /// Takes both. The runtime must run.
    pub fn take() -> Stop {
        Stop {
            interrupt: signal(SignalKind::interrupt()).ok(),
            terminate: signal(SignalKind::terminate()).ok(),
        }
    }

    /// Done at the next of them.
    pub async fn next(&mut self) {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => {}
            () = received(self.terminate.as_mut()) => {}
        }
    }
}

impl Hangup {
    /// Takes it. The runtime must run.
    pub(crate) fn take() -> Hangup {
        Hangup(signal(SignalKind::hangup()).ok())
    }

    /// Done at the next one.
    pub(crate) async fn next(&mut self) {
        received(self.0.as_mut()).await;
    }
}

/// A signal that could not be taken never comes.
async fn received(signal: Option<&mut Signal>) {
    let told = match signal {
        Some(signal) => signal.recv().await,
        None => None,
    };
    if told.is_none() {
        std::future::pending::<()>().await;
    }
}
