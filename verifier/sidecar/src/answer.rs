//! An answer on its way to the caller: nothing is held back, it says nothing that was not asked, and it ends when what allowed
//! it does (protocol M4, R9).

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::UnsyncBoxBody;
use tokio::time::Instant;

use crate::{fault::Fault, lifeline::Lifeline};

mod deadlines;
mod events;
mod gather;
mod inspect;
mod skim;

use deadlines::Deadlines;
pub(crate) use events::Events;
use gather::Gathered;
pub(crate) use inspect::{Expected, Inspect, Reply};
pub(crate) use skim::{Kind, Skim};

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
pub(crate) struct Answer<B: Body> {
    /// What was read of it, and judged, before its head went out.
    first: Option<Bytes>,
    inner: Gathered<B>,
    lifeline: Lifeline,
    deadlines: Deadlines,
    last_word: LastWord,
    inspect: Inspect,
    /// Why it ends once what was allowed of it has passed.
    stopped: Option<Fault>,
    /// Nothing more comes.
    is_over: bool,
    /// How it broke off, told once what came before has gone out.
    broken: Option<AnswerBroken>,
}

impl<B> Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
{
    /// `idle` is how long the tool server may be silent; `None` for a stream of what happens, which may be nothing.
    pub(crate) fn new(
        inner: B,
        lifeline: Lifeline,
        idle: Option<Duration>,
        last_word: LastWord,
        inspect: Inspect,
    ) -> Answer<B> {
        Answer {
            first: None,
            inner: Gathered::new(inner),
            deadlines: Deadlines::new(lifeline.every(), idle, lifeline.keep_alive()),
            lifeline,
            last_word,
            inspect,
            stopped: None,
            is_over: false,
            broken: None,
        }
    }

    /// The same, of which the first bytes were read already.
    pub(crate) fn after(self, first: Option<Bytes>) -> Answer<B> {
        Answer { first, ..self }
    }

    /// Lets go of the tool server and says the last word.
    fn end(&mut self, fault: Fault) -> Result<Frame<Bytes>, AnswerBroken> {
        self.let_go();
        self.lifeline.count_end(&fault);
        match &self.last_word {
            LastWord::None => Err(AnswerBroken::Ended(fault)),
            LastWord::Event(make) => {
                let message = make(&fault);
                let last =
                    self.inspect.events().map_or(message.clone(), |events| events.last_event(&message));
                Ok(Frame::data(last.into()))
            }
        }
    }

    fn let_go(&mut self) {
        self.inner.let_go();
        self.is_over = true;
    }

    /// What of the tool server's bytes may pass.
    fn pass(&mut self, data: Bytes, now: Instant) -> Frame<Bytes> {
        self.deadlines.heard(now);
        match self.inspect.take(&data) {
            Ok(()) => Frame::data(data),
            Err(stop) => {
                self.let_go();
                self.stopped = Some(stop.fault.into());
                Frame::data(data.slice(..stop.at.min(data.len())))
            }
        }
    }

    /// A comment, where an event stream has been silent for so long that somebody on the way may take it for dead.
    fn comment(&mut self, now: Instant) -> Option<Frame<Bytes>> {
        let is_due = self.deadlines.is_comment_due(now);
        let is_between = self.inspect.events().is_some_and(Events::is_between);
        (is_due && is_between).then(|| Frame::data(Bytes::from_static(b": keep-alive\n\n")))
    }

    /// The last frame, when the answer must end now.
    fn end_if_due(&mut self, now: Instant) -> Option<Result<Frame<Bytes>, AnswerBroken>> {
        if self.deadlines.is_recheck_due(now)
            && let Err(fault) = self.lifeline.check()
        {
            return Some(self.end(fault));
        }
        let limit = self.deadlines.silent_for(now)?;
        self.let_go();
        Some(Err(AnswerBroken::Silent { limit }))
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, AnswerBroken>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(fault) = self.stopped.take() {
            return Poll::Ready(Some(self.end(fault)));
        }
        if self.is_over {
            return Poll::Ready(None);
        }
        let now = Instant::now();
        if let Some(last) = self.end_if_due(now) {
            return Poll::Ready(Some(last));
        }
        match self.inner.poll_data(cx) {
            Poll::Pending => {
                let comment = self.comment(now);
                if comment.is_none() {
                    self.deadlines.wake_in_time(cx);
                }
                comment.map_or(Poll::Pending, |comment| Poll::Ready(Some(Ok(comment))))
            }
            Poll::Ready(Some(Ok(data))) => Poll::Ready(Some(Ok(self.pass(data, now)))),
            Poll::Ready(end) => {
                self.let_go();
                Poll::Ready(end.map(|_| Err(AnswerBroken::Upstream)))
            }
        }
    }
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Unpin,
{
    type Data = Bytes;
    type Error = AnswerBroken;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, AnswerBroken>>> {
        if let Some(broken) = self.broken.take() {
            return Poll::Ready(Some(Err(broken)));
        }
        let next = self.poll_next(cx);
        let Poll::Ready(Some(Err(broken))) = next else { return next };
        // The HTTP server throws away what it has not written when a body fails, and writes while it has to wait for one.
        self.broken = Some(broken);
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        let is_waited_for = self.first.is_some() || self.stopped.is_some() || self.broken.is_some();
        !is_waited_for && (self.is_over || self.inner.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        if self.stopped.is_some() {
            return SizeHint::default();
        }
        match &self.last_word {
            // A length that was announced could not be kept by a stream that gains an event.
            LastWord::Event(_) if !self.is_over => SizeHint::default(),
            LastWord::Event(_) | LastWord::None => {
                let first =
                    self.first.as_ref().and_then(|first| u64::try_from(first.len()).ok()).unwrap_or(0);
                match self.inner.size_hint().exact() {
                    Some(rest) => SizeHint::with_exact(rest.saturating_add(first)),
                    None => SizeHint::default(),
                }
            }
        }
    }
}
