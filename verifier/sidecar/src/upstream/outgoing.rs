//! What goes to the tool server, once it may.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, header};
use pact_mandate::KeyId;

use crate::{header::to_upstream, request_id::RequestId, session::Leg};

/// One message, or one act on a session, and nothing that carries trust.
pub(crate) struct Outgoing {
    pub(crate) method: Method,
    /// What the tool server may see of the caller's headers (protocol M2).
    pub(crate) headers: HeaderMap,
    pub(crate) leg: Leg,
    /// Behind which event a stream is taken up again.
    pub(crate) last_event_id: Option<String>,
    pub(crate) body: Bytes,
    pub(crate) proven: Proven,
    pub(crate) request_id: RequestId,
}

/// Who is known to have sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Proven {
    /// Nobody: the method is open.
    Nothing,
    /// A permitted call, by the holder of this key; `None` for a credential without a holder (protocol P8).
    Call(Option<KeyId>),
    /// An act on a session, by its owner.
    Act,
}

impl Outgoing {
    pub(crate) fn new(
        method: Method,
        headers: &HeaderMap,
        leg: Leg,
        body: Bytes,
        proven: Proven,
        request_id: RequestId,
    ) -> Outgoing {
        let mut headers = to_upstream(headers);
        // MCP servers refuse a request that does not name both kinds of answer; a caller who says nothing, or that it takes
        // anything, takes either.
        if headers.get(header::ACCEPT).is_none_or(|said| said == "*/*") {
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
        Outgoing { method, headers, leg, last_event_id: None, body, proven, request_id }
    }

    /// Whether its sender can be told more than the answer.
    pub(crate) fn takes_events(&self) -> bool {
        let accepts = self.headers.get_all(header::ACCEPT).iter();
        accepts.filter_map(|said| said.to_str().ok()).any(|said| said.contains("text/event-stream"))
    }
}
