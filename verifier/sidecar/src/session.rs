//! Sessions of the 2025 protocol (protocol M4): one belongs to the holder key that first proved itself in it by a permitted
//! call. Only ids that the tool server gave are known, so nothing that a caller makes up takes any room.

use std::{fmt, sync::Arc};

use crate::limits::MAX_SESSION_ID_BYTES;

mod book;
mod fault;
#[cfg(test)]
mod tests;

pub(crate) use book::{SessionBook, SessionBounds, Visit};
pub use fault::SessionFault;

/// The id of a session. Whoever knows it can speak in the session's name, so nothing shows it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct SessionId(Arc<str>);

impl SessionId {
    /// Takes an id in the form that the protocol gives it: visible ASCII.
    pub(crate) fn parse(text: &str) -> Option<SessionId> {
        let fits = (1..=MAX_SESSION_ID_BYTES).contains(&text.len());
        (fits && text.bytes().all(|byte| byte.is_ascii_graphic())).then(|| SessionId(text.into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// What a message does with a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Leg {
    /// It stands alone.
    Alone,
    /// It begins one, if the tool server gives it an id.
    Begins,
    /// It goes into this one.
    In(SessionId),
}

impl Leg {
    /// The session that the message goes into.
    pub(crate) fn session(&self) -> Option<&SessionId> {
        match self {
            Leg::In(session) => Some(session),
            Leg::Alone | Leg::Begins => None,
        }
    }
}
