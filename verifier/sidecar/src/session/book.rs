//! Which sessions there are, whose they are, and what the tool server waits for in them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use pact_mandate::{KeyId, Monotonic};

use super::{SessionFault, SessionId};
use crate::{
    fault::UpstreamFault,
    limits::{MAX_REQUESTS_PER_SESSION, MAX_SESSIONS_PER_HOLDER},
    mcp::RpcId,
};

/// The bounds on sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionBounds {
    /// How many there may be; half of them may have no owner.
    pub(crate) count: usize,
    /// How long one may be idle.
    pub(crate) idle: Duration,
}

/// Every session that the tool server began through us and that has not ended.
pub(crate) struct SessionBook {
    bounds: SessionBounds,
    sessions: Mutex<HashMap<SessionId, Session>>,
}

struct Session {
    owner: Option<KeyId>,
    used: Monotonic,
    /// Answers of it that are open: while there is one, it is not idle.
    visits: usize,
    /// What the tool server asked and nobody has answered.
    requests: Vec<RpcId>,
}

/// An open answer of a session, for as long as it lives.
pub(crate) struct Visit {
    book: Arc<SessionBook>,
    id: SessionId,
}

impl SessionBook {
    pub(crate) fn new(bounds: SessionBounds) -> SessionBook {
        SessionBook { bounds, sessions: Mutex::default() }
    }

    /// Whether one more could begin.
    pub(crate) fn has_room(&self, now: Monotonic) -> Result<(), SessionFault> {
        let mut sessions = self.lock();
        self.forget_idle(&mut sessions, now);
        let owned = sessions.values().filter(|session| session.owner.is_some()).count();
        if owned < self.bounds.count { Ok(()) } else { Err(SessionFault::Full) }
    }

    /// Takes note of a session that the tool server began. One that nobody owns makes way: the one unused for the longest.
    /// An id that the tool server gives a second time stays whose it is.
    pub(crate) fn begin(&self, id: SessionId, now: Monotonic) -> Result<(), SessionFault> {
        let mut sessions = self.lock();
        if sessions.contains_key(&id) {
            return Ok(());
        }
        self.forget_idle(&mut sessions, now);
        let unowned = sessions.values().filter(|session| session.owner.is_none()).count();
        if unowned >= self.bounds.count.div_ceil(2) || sessions.len() >= self.bounds.count {
            forget_oldest(&mut sessions, |session| session.owner.is_none());
        }
        if sessions.len() >= self.bounds.count {
            return Err(SessionFault::Full);
        }
        sessions.insert(id, Session { owner: None, used: now, visits: 0, requests: Vec::new() });
        Ok(())
    }

    /// Whether there is such a session; it is in use from now.
    pub(crate) fn check(&self, id: &SessionId, now: Monotonic) -> Result<(), SessionFault> {
        self.with(id, now, |_| Ok(()))
    }

    /// Whether there is such a session, asked by nobody who uses it.
    pub(crate) fn knows(&self, id: &SessionId, now: Monotonic) -> bool {
        self.lock().get(id).is_some_and(|session| !self.is_idle(session, now))
    }

    /// How long one may be idle.
    pub(crate) fn idle(&self) -> Duration {
        self.bounds.idle
    }

    /// A permitted call by this key (`None` for one without a holder): the session is the key's, or becomes it.
    pub(crate) fn claim(
        &self,
        id: &SessionId,
        holder: Option<KeyId>,
        now: Monotonic,
    ) -> Result<(), SessionFault> {
        let holder = holder.ok_or(SessionFault::NeedsHolder)?;
        let mut sessions = self.lock();
        let session = self.find(&mut sessions, id, now)?;
        match &session.owner {
            Some(owner) if *owner == holder => Ok(()),
            Some(_) => Err(SessionFault::NotYours),
            None => {
                session.owner = Some(holder.clone());
                let count =
                    sessions.values().filter(|session| session.owner.as_ref() == Some(&holder)).count();
                if count > MAX_SESSIONS_PER_HOLDER {
                    // Whoever has too many loses one of its own.
                    forget_oldest(&mut sessions, |session| session.owner.as_ref() == Some(&holder));
                }
                Ok(())
            }
        }
    }

    /// An act by this key: the session is the key's already.
    pub(crate) fn owned_by(
        &self,
        id: &SessionId,
        holder: &KeyId,
        now: Monotonic,
    ) -> Result<(), SessionFault> {
        self.with(id, now, |session| session.belongs_to(holder))
    }

    /// An answer by this key to what the tool server asked; from now on it is answered.
    pub(crate) fn take_request(
        &self,
        id: &SessionId,
        holder: &KeyId,
        request: &RpcId,
        now: Monotonic,
    ) -> Result<(), SessionFault> {
        self.with(id, now, |session| {
            session.belongs_to(holder)?;
            let at = session.requests.iter().position(|open| open == request);
            session.requests.swap_remove(at.ok_or(SessionFault::ResponseNotExpected)?);
            Ok(())
        })
    }

    /// Whether anybody could answer that now: asked before anything is proven.
    pub(crate) fn has_request(
        &self,
        id: &SessionId,
        request: &RpcId,
        now: Monotonic,
    ) -> Result<(), SessionFault> {
        self.with(id, now, |session| {
            let is_open = session.requests.contains(request);
            if is_open { Ok(()) } else { Err(SessionFault::ResponseNotExpected) }
        })
    }

    /// The session has ended.
    pub(crate) fn end(&self, id: &SessionId) {
        self.lock().remove(id);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Keeps the session from being idle for as long as the visit lives.
    pub(crate) fn visit(self: &Arc<Self>, id: &SessionId) -> Visit {
        if let Some(session) = self.lock().get_mut(id) {
            session.visits = session.visits.saturating_add(1);
        }
        Visit { book: Arc::clone(self), id: id.clone() }
    }

    fn with<T>(
        &self,
        id: &SessionId,
        now: Monotonic,
        act: impl FnOnce(&mut Session) -> Result<T, SessionFault>,
    ) -> Result<T, SessionFault> {
        act(self.find(&mut self.lock(), id, now)?)
    }

    fn find<'a>(
        &self,
        sessions: &'a mut HashMap<SessionId, Session>,
        id: &SessionId,
        now: Monotonic,
    ) -> Result<&'a mut Session, SessionFault> {
        if sessions.get(id).is_some_and(|session| self.is_idle(session, now)) {
            sessions.remove(id);
        }
        let session = sessions.get_mut(id).ok_or(SessionFault::Unknown)?;
        session.used = now;
        Ok(session)
    }

    fn is_idle(&self, session: &Session, now: Monotonic) -> bool {
        session.visits == 0 && now.since(session.used) > self.bounds.idle
    }

    fn forget_idle(&self, sessions: &mut HashMap<SessionId, Session>, now: Monotonic) {
        sessions.retain(|_, session| !self.is_idle(session, now));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn forget_oldest(sessions: &mut HashMap<SessionId, Session>, may_go: impl Fn(&Session) -> bool) {
    let oldest = sessions
        .iter()
        .filter(|(_, session)| may_go(session))
        .min_by_key(|(_, session)| (session.visits > 0, session.used))
        .map(|(id, _)| id.clone());
    if let Some(id) = oldest {
        sessions.remove(&id);
    }
}

impl Session {
    fn belongs_to(&self, holder: &KeyId) -> Result<(), SessionFault> {
        match &self.owner {
            None => Err(SessionFault::NotOwned),
            Some(owner) if owner == holder => Ok(()),
            Some(_) => Err(SessionFault::NotYours),
        }
    }
}

impl Visit {
    /// The tool server asks this; asked once more (a stream that is taken up again) it is the same question.
    pub(crate) fn note_request(&self, request: RpcId) -> Result<(), UpstreamFault> {
        let mut sessions = self.book.lock();
        let Some(session) = sessions.get_mut(&self.id) else { return Ok(()) };
        if session.requests.contains(&request) {
            return Ok(());
        }
        if session.requests.len() >= MAX_REQUESTS_PER_SESSION {
            return Err(UpstreamFault::AsksTooMuch);
        }
        session.requests.push(request);
        Ok(())
    }

    /// Gives back a question whose answer did not arrive.
    pub(crate) fn give_back(&self, request: RpcId) {
        // There was room for it a moment ago.
        let _ = self.note_request(request);
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(session) = self.book.lock().get_mut(&self.id) {
            session.visits = session.visits.saturating_sub(1);
        }
    }
}
