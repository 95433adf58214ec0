//! Why a session is not for this caller.

/// Why nothing is done in a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionFault {
    /// The tool server gave no such id, or it is forgotten. MCP wants 404: the client begins anew.
    #[error("no such session: initialize without Mcp-Session-Id")]
    Unknown,
    /// `initialize` within a session.
    #[error("initialize begins a session: send it without Mcp-Session-Id")]
    NotExpected,
    /// No permitted call was made in it.
    #[error(
        "no key owns this session yet: it belongs to the one that first proves itself in it, by a permitted tools/call"
    )]
    NotOwned,
    /// Another key's.
    #[error("the session belongs to another key than the one that proved itself here")]
    NotYours,
    /// A call by a credential without a holder.
    #[error(
        "a session, like a tool server that the sidecar starts, belongs to a holder's key, and this credential names no holder"
    )]
    NeedsHolder,
    /// What is answered was never asked, or is answered.
    #[error("the tool server has not asked that in this session, or it was answered")]
    ResponseNotExpected,
    /// As many sessions as there may be.
    #[error("there are as many sessions as there may be (limits.sessions); try again")]
    Full,
}

impl SessionFault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            SessionFault::Unknown => "session_unknown",
            SessionFault::NotExpected => "session_not_expected",
            SessionFault::NotOwned => "session_not_owned",
            SessionFault::NotYours => "session_not_yours",
            SessionFault::NeedsHolder => "session_needs_holder",
            SessionFault::ResponseNotExpected => "response_not_expected",
            SessionFault::Full => "sessions_full",
        }
    }
}
