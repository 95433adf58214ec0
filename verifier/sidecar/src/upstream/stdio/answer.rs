//! The answer of a process, as a response of HTTP: one text of JSON, or an event stream where messages come before it.

use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderValue, Response, StatusCode, header};
use tokio::sync::mpsc;

use super::{calls::Part, ticket::Ticket};
use crate::{fault::UpstreamFault, upstream::body::BrokenOff};

/// The rest of an answer. Dropped before its end, the process is told that nobody waits.
pub(crate) struct ChildBody {
    first: Option<Bytes>,
    rest: Rest,
}

enum Rest {
    Nothing,
    /// Messages, and then the answer.
    Call(Ticket),
    /// What happens in a session, for as long as it lasts.
    Session(mpsc::Receiver<Part>),
}

impl ChildBody {
    /// The answer to a request, from its first part on.
    pub(super) async fn of(mut ticket: Ticket) -> Result<Response<ChildBody>, UpstreamFault> {
        match ticket.next().await.ok_or(UpstreamFault::Unreachable)? {
            Part::Answer(text) => Ok(ChildBody::json(text)),
            Part::Message(text) => Ok(events(Some(event(&text)), Rest::Call(ticket))),
            Part::Failed(fault) => Err(fault),
            Part::Cancelled => Ok(events(None, Rest::Nothing)),
        }
    }

    /// One text of JSON.
    pub(super) fn json(text: Bytes) -> Response<ChildBody> {
        let mut response = Response::new(ChildBody { first: Some(text), rest: Rest::Nothing });
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }

    /// The stream of a session.
    pub(super) fn of_session(parts: mpsc::Receiver<Part>) -> Response<ChildBody> {
        events(None, Rest::Session(parts))
    }

    /// Nothing but a status.
    pub(super) fn empty(status: StatusCode) -> Response<ChildBody> {
        let mut response = Response::new(ChildBody { first: None, rest: Rest::Nothing });
        *response.status_mut() = status;
        response
    }

    /// How many bytes are left, where that is known.
    pub(crate) fn left(&self) -> Option<u64> {
        let first = self.first.as_ref().map_or(0, Bytes::len);
        matches!(self.rest, Rest::Nothing).then(|| u64::try_from(first).ok()).flatten()
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, BrokenOff>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let (part, is_call) = match &mut self.rest {
            Rest::Nothing => return Poll::Ready(None),
            Rest::Call(ticket) => (std::task::ready!(ticket.poll(cx)), true),
            Rest::Session(parts) => (std::task::ready!(parts.poll_recv(cx)), false),
        };
        if !matches!(part, Some(Part::Message(_))) {
            self.rest = Rest::Nothing;
        }
        Poll::Ready(match part {
            Some(Part::Message(text) | Part::Answer(text)) => Some(Ok(event(&text))),
            Some(Part::Cancelled) => None,
            // A call that has no answer broke off; a session that has ended has ended.
            Some(Part::Failed(_)) => Some(Err(BrokenOff)),
            None => is_call.then_some(Err(BrokenOff)),
        })
    }
}

fn events(first: Option<Bytes>, rest: Rest) -> Response<ChildBody> {
    let mut response = Response::new(ChildBody { first, rest });
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// One message as an event. No text of ours has a line's end in it.
fn event(text: &[u8]) -> Bytes {
    let (before, after) = (b"event: message\ndata: ", b"\n\n");
    let mut event = BytesMut::with_capacity(before.len() + text.len() + after.len());
    event.put_slice(before);
    event.put_slice(text);
    event.put_slice(after);
    event.freeze()
}
