//! One client's standing with the servers: what `initialize` agreed on with each, and what waits for something. Standard input
//! and output have one; over local HTTP each session has its own.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use reqwest::header::{HeaderMap, HeaderValue};
use tokio::{sync::watch, task::AbortHandle};

use super::message::Id;
use crate::limits::MAX_SESSION_BYTES;

pub(super) const SESSION: &str = "mcp-session-id";

/// What one client has going.
#[derive(Debug)]
pub(super) struct Session {
    /// With each server, in the order of the configuration.
    agreed: Mutex<Vec<Agreed>>,
    open: Mutex<Open>,
    /// Counts the permitted calls: each may have made a session the property of the holder's key (protocol M4).
    permitted: watch::Sender<u64>,
}

/// What one server has said to `initialize`. Nothing with MCP 2026-07-28, where each request says its revision.
#[derive(Clone, Debug, Default)]
pub(crate) struct Agreed {
    pub(crate) version: Option<HeaderValue>,
    pub(crate) session: Option<HeaderValue>,
}

/// What waits for something.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// Requests of the client that are not answered yet.
    pub(super) asked: HashMap<Id, AbortHandle>,
    /// Requests of servers that the client has not answered yet, and whose they are.
    pub(super) asking: HashMap<Id, usize>,
}

impl Session {
    /// With so many servers, and nothing agreed on yet.
    pub(super) fn new(upstreams: usize) -> Session {
        Session {
            agreed: Mutex::new(vec![Agreed::default(); upstreams]),
            open: Mutex::default(),
            permitted: watch::Sender::new(0),
        }
    }

    /// What was agreed on with one server.
    pub(super) fn agreed(&self, at: usize) -> Agreed {
        self.locked().get(at).cloned().unwrap_or_default()
    }

    /// Remembers the session that an answer to `initialize` opens, and the revision that it agrees on.
    pub(super) fn initialized(&self, at: usize, heads: &HeaderMap, version: Option<&str>) {
        let session = heads
            .get(SESSION)
            .filter(|id| id.len() <= MAX_SESSION_BYTES && id.as_bytes().iter().all(u8::is_ascii_graphic));
        let agreed = Agreed {
            version: version.and_then(|version| HeaderValue::from_str(version).ok()),
            session: session.cloned(),
        };
        if let Some(place) = self.locked().get_mut(at) {
            *place = agreed;
        }
    }

    /// Whether any server has opened one of the older revisions' sessions.
    pub(super) fn has_session(&self) -> bool {
        self.locked().iter().any(|agreed| agreed.session.is_some())
    }

    pub(super) fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call went through.
    pub(super) fn call_permitted(&self) {
        self.permitted.send_modify(|count| *count = count.saturating_add(1));
    }

    /// Tells of calls that go through from now on.
    pub(super) fn permits(&self) -> watch::Receiver<u64> {
        self.permitted.subscribe()
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Agreed>> {
        self.agreed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
