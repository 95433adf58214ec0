//! What a local client is answered: a whole body, or a stream of events.

use std::{
    collections::VecDeque,
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::Frame;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    task::JoinHandle,
    time::{Instant, Sleep, sleep},
};

use crate::limits::KEEP_ALIVE;

/// The body of an answer.
pub(super) enum Body {
    /// All of it, until it was given.
    Whole(Option<Bytes>),
    Events(Events),
}

/// Messages as they come, each an event; comments while none does.
pub(super) struct Events {
    early: VecDeque<Vec<u8>>,
    lines: mpsc::Receiver<Vec<u8>>,
    keep_alive: Pin<Box<Sleep>>,
    /// What sends the lines, and ends with whoever reads them.
    _task: Task,
    _place: Option<OwnedSemaphorePermit>,
}

/// A task that ends with whoever started it.
#[derive(Debug)]
pub(super) struct Task(pub(super) JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Body {
    pub(super) fn whole(bytes: impl Into<Bytes>) -> Body {
        Body::Whole(Some(bytes.into()))
    }
}

impl Events {
    /// What came early, then what comes; it ends when the task, and whoever else has it, let go of the other end.
    pub(super) fn new(
        early: VecDeque<Vec<u8>>,
        lines: mpsc::Receiver<Vec<u8>>,
        task: Task,
        place: Option<OwnedSemaphorePermit>,
    ) -> Events {
        Events { early, lines, keep_alive: Box::pin(sleep(KEEP_ALIVE)), _task: task, _place: place }
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(line) = self.early.pop_front() {
            return Poll::Ready(Some(event(&line)));
        }
        let next = self.lines.poll_recv(cx).map(|line| line.map(|line| event(&line)));
        let next = match next {
            Poll::Pending if self.keep_alive.as_mut().poll(cx).is_ready() => {
                Poll::Ready(Some(Bytes::from_static(b": keep-alive\n\n")))
            }
            next => next,
        };
        if next.is_ready() {
            self.keep_alive.as_mut().reset(Instant::now() + KEEP_ALIVE);
        }
        next
    }
}

/// A message stands on one line already.
pub(super) fn event(line: &[u8]) -> Bytes {
    [b"event: message\ndata: ", line, b"\n\n"].concat().into()
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Body::Whole(bytes) => Poll::Ready(bytes.take()),
            Body::Events(events) => events.poll_next(cx),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Body::Whole(bytes) if bytes.as_ref().is_none_or(Bytes::is_empty))
    }

    fn size_hint(&self) -> http_body::SizeHint {
        match self {
            Body::Whole(bytes) => {
                let length = bytes.as_ref().map_or(0, Bytes::len);
                http_body::SizeHint::with_exact(u64::try_from(length).unwrap_or(u64::MAX))
            }
            Body::Events(_) => http_body::SizeHint::default(),
        }
    }
}
