//! The sessions of local clients of the older revisions, by ids of the bridge's own: what a server calls a session stays between
//! the bridge and that server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

use super::super::session::Session;
use crate::limits::MAX_SESSIONS;

/// Those that are known, the one that was used last at the end.
#[derive(Debug)]
pub(super) struct Sessions {
    upstreams: usize,
    known: Mutex<Vec<(String, Arc<Session>)>>,
}

impl Sessions {
    pub(super) fn new(upstreams: usize) -> Sessions {
        Sessions { upstreams, known: Mutex::default() }
    }

    /// One that nobody can come back to: each request of MCP 2026-07-28 stands alone.
    pub(super) fn alone(&self) -> Arc<Session> {
        Arc::new(Session::new(self.upstreams))
    }

    /// Keeps a session under a new id. `None` when the system has no random bytes.
    pub(super) fn keep(&self, session: Arc<Session>) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let id = URL_SAFE_NO_PAD.encode(bytes);
        let mut known = self.locked();
        if known.len() >= MAX_SESSIONS {
            known.remove(0);
        }
        known.push((id.clone(), session));
        Some(id)
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let mut known = self.locked();
        let at = known.iter().position(|(other, _)| other == id)?;
        let found = known.remove(at);
        let session = Arc::clone(&found.1);
        known.push(found);
        Some(session)
    }

    /// Forgets it.
    pub(super) fn remove(&self, id: &str) -> Option<Arc<Session>> {
        let mut known = self.locked();
        let at = known.iter().position(|(other, _)| other == id)?;
        Some(known.remove(at).1)
    }

    fn locked(&self) -> MutexGuard<'_, Vec<(String, Arc<Session>)>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_that_was_idle_longest_makes_way() {
        let sessions = Sessions::new(1);
        let ids: Vec<String> = (0..MAX_SESSIONS).map(|_| sessions.keep(sessions.alone()).unwrap()).collect();
        assert!(sessions.find(&ids[0]).is_some());
        let last = sessions.keep(sessions.alone()).unwrap();
        assert!(sessions.find(&ids[0]).is_some() && sessions.find(&last).is_some());
        assert!(sessions.find(&ids[1]).is_none());
        assert!(sessions.remove(&last).is_some() && sessions.find(&last).is_none());
    }
}
