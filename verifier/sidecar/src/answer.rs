//! An answer on its way to the caller: nothing is held back, and it ends when what allowed it does (protocol R9).

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::Sleep;

use crate::{fault::Fault, lifeline::Lifeline};

/// What the traffic port answers with.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, AnswerBroken>;

/// Why an answer broke off without a last event; the caller sees its connection close.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnswerBroken {
    /// The tool server's answer did.
    #[error("the tool server's answer broke off")]
    Upstream,
    /// It was silent for too long.
    #[error("the tool server was silent for {limit:?} (upstream.idle_timeout)")]
    Silent {
        /// The bound.
        limit: Duration,
    },
    /// What allowed it ended, and it was no event stream that could say so.
    #[error("the answer was ended: {0}")]
    Ended(Fault),
}

/// How an answer that must end says so.
pub(crate) enum LastWord {
    /// An event stream: by one more event, which this makes.
    Event(Box<dyn Fn(&Fault) -> String + Send>),
    /// Anything else: by breaking off.
    None,
}

/// The tool server's body, watched.
pub(crate) struct Answer<B> {
    inner: Option<B>,
    lifeline: Lifeline,
    recheck: Pin<Box<Sleep>>,
    silence: Pin<Box<Sleep>>,
    idle: Duration,
    last_word: LastWord,
    boundary: Boundary,
}

impl<B> Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    pub(crate) fn new(inner: B, lifeline: Lifeline, idle: Duration, last_word: LastWord) -> Answer<B> {
        Answer {
            inner: Some(inner),
            recheck: Box::pin(tokio::time::sleep(lifeline.every())),
            silence: Box::pin(tokio::time::sleep(idle)),
            lifeline,
            idle,
            last_word,
            boundary: Boundary::default(),
        }
    }

    /// Lets go of the tool server and says the last word.
    fn end(&mut self, fault: Fault) -> Result<Frame<Bytes>, AnswerBroken> {
        self.inner = None;
        self.lifeline.count_end(&fault);
        match &self.last_word {
            LastWord::None => Err(AnswerBroken::Ended(fault)),
            LastWord::Event(make) => Ok(Frame::data(self.boundary.last_event(&make(&fault)).into())),
        }
    }

    /// The last frame, when the answer must end now.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Option<Result<Frame<Bytes>, AnswerBroken>> {
        while self.recheck.as_mut().poll(cx).is_ready() {
            if let Err(fault) = self.lifeline.check() {
                return Some(self.end(fault));
            }
            let next = tokio::time::Instant::now() + self.lifeline.every();
            self.recheck.as_mut().reset(next);
        }
        if self.silence.as_mut().poll(cx).is_ready() {
            self.inner = None;
            return Some(Err(AnswerBroken::Silent { limit: self.idle }));
        }
        None
    }
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    type Data = Bytes;
    type Error = AnswerBroken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnswerBroken>>> {
        let this = &mut *self;
        if this.inner.is_none() {
            return Poll::Ready(None);
        }
        if let Some(last) = this.poll_end(cx) {
            return Poll::Ready(Some(last));
        }
        let Some(inner) = this.inner.as_mut() else { return Poll::Ready(None) };
        match Pin::new(inner).poll_frame(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(None) => {
                this.inner = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(_))) => {
                this.inner = None;
                Poll::Ready(Some(Err(AnswerBroken::Upstream)))
            }
            Poll::Ready(Some(Ok(frame))) => {
                this.silence.as_mut().reset(tokio::time::Instant::now() + this.idle);
                match frame.into_data() {
                    Ok(data) => {
                        this.boundary.passed(&data);
                        Poll::Ready(Some(Ok(Frame::data(data))))
                    }
                    // Trailers are headers that no allow-list saw.
                    Err(_) => Poll::Ready(Some(Ok(Frame::data(Bytes::new())))),
                }
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.inner, &self.last_word) {
            // A length that was announced could not be kept by a stream that gains an event.
            (Some(inner), LastWord::None) => inner.size_hint(),
            (Some(_), LastWord::Event(_)) => SizeHint::default(),
            (None, _) => SizeHint::with_exact(0),
        }
    }
}

/// The last bytes that passed: whether an event stream stands between two events.
#[derive(Default)]
struct Boundary {
    last: [u8; 2],
    begun: bool,
}

impl Boundary {
    fn passed(&mut self, data: &[u8]) {
        // A carriage return before a line feed says nothing more than the line feed does.
        for &byte in data.iter().rev().take(4).rev().filter(|byte| **byte != b'\r') {
            let [_, last] = self.last;
            self.last = [last, byte];
            self.begun = true;
        }
    }

    fn is_between_events(&self) -> bool {
        !self.begun || self.last == [b'\n', b'\n']
    }

    /// One event more. An event that was cut is closed under a type that no client of MCP listens to, so that its half
    /// is not taken for a message.
    fn last_event(&self, message: &str) -> String {
        let close = if self.is_between_events() { "" } else { "\nevent: cut\n\n" };
        format!("{close}event: message\ndata: {message}\n\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(parts: &[&str]) -> String {
        let mut boundary = Boundary::default();
        for part in parts {
            boundary.passed(part.as_bytes());
        }
        boundary.last_event("{}")
    }

    #[test]
    fn r9_the_last_event_never_joins_a_cut_one() {
        let plain = "event: message\ndata: {}\n\n";
        for whole in [
            &[][..],
            &["data: 1\n\n"],
            &["data: 1\r\n\r\n"],
            &["data: 1\n", "\n"],
            &["data: 1\r\n\r", "\n"],
            &[":\n\n"],
        ] {
            assert_eq!(after(whole), plain, "{whole:?}");
        }
        for cut in [&["data: 1"][..], &["data: 1\n"], &["data: 1\r\n"], &["\n\nd"]] {
            assert_eq!(after(cut), format!("\nevent: cut\n\n{plain}"), "{cut:?}");
        }
    }
}
