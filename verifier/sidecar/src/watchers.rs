//! The tasks in the background, each by its name. None of them ends of itself: one that does has died, and what it kept true
//! is true no longer. From then on nothing is let through.

use std::{
    collections::HashMap,
    future::{Future, pending},
};

use arc_swap::ArcSwap;
use tokio::task::{Id, JoinSet};

use crate::fault::Fault;

/// What runs in the background; dropped, it stops.
#[derive(Default)]
pub(crate) struct Watchers {
    tasks: JoinSet<()>,
    names: HashMap<Id, String>,
}

/// The parts of the sidecar that have died.
#[derive(Default)]
pub(crate) struct Died(ArcSwap<Vec<String>>);

impl Watchers {
    pub(crate) fn spawn(&mut self, name: impl Into<String>, task: impl Future<Output = ()> + Send + 'static) {
        let id = self.tasks.spawn(task).id();
        self.names.insert(id, name.into());
    }

    /// Takes note of every task that ends, by a panic or otherwise. Never done; left half-way, nothing is lost.
    pub(crate) async fn supervise(&mut self, died: &Died) {
        while let Some(ended) = self.tasks.join_next_with_id().await {
            let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
            died.note(self.names.remove(&id).unwrap_or_default());
        }
        pending::<()>().await;
    }

    /// Ends them all, and comes back when none of them does anything any more.
    pub(crate) async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
        self.names.clear();
    }
}

impl Died {
    /// Closes the door for as long as the process runs.
    pub(crate) fn note(&self, component: impl Into<String>) {
        let component = component.into();
        if self.0.load().contains(&component) {
            return;
        }
        tracing::error!(%component, "a part of the sidecar has died; every call is refused until a restart");
        self.0.rcu(|died| died.iter().chain([&component]).cloned().collect::<Vec<_>>());
    }

    /// Whether everything lives.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        if self.0.load().is_empty() { Ok(()) } else { Err(Fault::ComponentDied) }
    }

    /// Their names.
    pub(crate) fn names(&self) -> Vec<String> {
        self.0.load().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_or_ends_closes_the_door_and_is_named() {
        for ends in [true, false] {
            let (mut watchers, died) = (Watchers::default(), Died::default());
            watchers.spawn("the one that lives", pending());
            watchers.spawn("the one that ends", async move { assert!(ends, "in a test") });
            assert_eq!(died.check(), Ok(()));
            let closed = async {
                for _ in (0..1000).take_while(|_| died.check().is_ok()) {
                    tokio::task::yield_now().await;
                }
            };
            tokio::select! {
                () = watchers.supervise(&died) => {}
                () = closed => {}
            }
            assert_eq!(
                (died.check(), died.names()),
                (Err(Fault::ComponentDied), vec!["the one that ends".to_owned()])
            );
        }
    }
}
