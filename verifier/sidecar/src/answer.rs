//! An answer on its way to the caller: nothing is held back, it says nothing that was not asked, and it ends when what allowed
//! it does (protocol M4, R9).

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

mod events;
mod inspect;
mod skim;

pub(crate) use events::Events;
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
pub(crate) struct Answer<B> {
    /// What was read of it, and judged, before its head went out.
    first: Option<Bytes>,
    inner: Option<B>,
    lifeline: Lifeline,
    recheck: Pin<Box<Sleep>>,
    silence: Option<Silence>,
    keep_alive: Pin<Box<Sleep>>,
    last_word: LastWord,
    inspect: Inspect,
    /// Why it ends once what was allowed of it has passed.
    stopped: Option<Fault>,
}

/// How long the tool server may be silent.
struct Silence {
    limit: Duration,
    sleep: Pin<Box<Sleep>>,
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
        let asleep = |time| Box::pin(tokio::time::sleep(time));
        Answer {
            first: None,
            inner: Some(inner),
            recheck: asleep(lifeline.every()),
            silence: idle.map(|limit| Silence { limit, sleep: asleep(limit) }),
            keep_alive: asleep(lifeline.keep_alive()),
            lifeline,
            last_word,
            inspect,
            stopped: None,
        }
    }

    /// The same, of which the first bytes were read already.
    pub(crate) fn after(self, first: Option<Bytes>) -> Answer<B> {
        Answer { first, ..self }
    }

    /// Lets go of the tool server and says the last word.
    fn end(&mut self, fault: Fault) -> Result<Frame<Bytes>, AnswerBroken> {
        self.inner = None;
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

    /// What of the tool server's bytes may pass.
    fn pass(&mut self, data: Bytes) -> Frame<Bytes> {
        let now = tokio::time::Instant::now();
        if let Some(silence) = &mut self.silence {
            silence.sleep.as_mut().reset(now + silence.limit);
        }
        self.keep_alive.as_mut().reset(now + self.lifeline.keep_alive());
        match self.inspect.take(&data) {
            Ok(()) => Frame::data(data),
            Err(stop) => {
                self.inner = None;
                self.stopped = Some(stop.fault.into());
                Frame::data(data.slice(..stop.at.min(data.len())))
            }
        }
    }

    /// A comment, where an event stream has been silent for so long that somebody on the way may take it for dead.
    fn poll_keep_alive(&mut self, cx: &mut Context<'_>) -> Option<Frame<Bytes>> {
        let is_between = self.inspect.events().map(Events::is_between)?;
        if self.keep_alive.as_mut().poll(cx).is_pending() {
            return None;
        }
        let next = tokio::time::Instant::now() + self.lifeline.keep_alive();
        self.keep_alive.as_mut().reset(next);
        // So that the timer wakes us again.
        let _ = self.keep_alive.as_mut().poll(cx);
        is_between.then(|| Frame::data(Bytes::from_static(b": keep-alive\n\n")))
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
        let silence = self.silence.as_mut()?;
        let limit = silence.limit;
        silence.sleep.as_mut().poll(cx).is_ready().then(|| {
            self.inner = None;
            Err(AnswerBroken::Silent { limit })
        })
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
        if let Some(first) = this.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        if let Some(fault) = this.stopped.take() {
            return Poll::Ready(Some(this.end(fault)));
        }
        if this.inner.is_none() {
            return Poll::Ready(None);
        }
        if let Some(last) = this.poll_end(cx) {
            return Poll::Ready(Some(last));
        }
        let Some(inner) = this.inner.as_mut() else { return Poll::Ready(None) };
        match Pin::new(inner).poll_frame(cx) {
            Poll::Pending => match this.poll_keep_alive(cx) {
                Some(comment) => Poll::Ready(Some(Ok(comment))),
                None => Poll::Pending,
            },
            Poll::Ready(None) => {
                this.inner = None;
                Poll::Ready(None)
            }
            Poll::Ready(Some(Err(_))) => {
                this.inner = None;
                Poll::Ready(Some(Err(AnswerBroken::Upstream)))
            }
            Poll::Ready(Some(Ok(frame))) => {
                // Trailers are headers that no allow-list saw.
                Poll::Ready(Some(Ok(this.pass(frame.into_data().unwrap_or_default()))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.first.is_none() && self.stopped.is_none() && self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        match (&self.inner, &self.last_word) {
            // A length that was announced could not be kept by a stream that gains an event.
            (Some(inner), LastWord::None) => {
                let first =
                    self.first.as_ref().and_then(|first| u64::try_from(first.len()).ok()).unwrap_or(0);
                match inner.size_hint().exact() {
                    Some(rest) => SizeHint::with_exact(rest.saturating_add(first)),
                    None => SizeHint::default(),
                }
            }
            (Some(_), LastWord::Event(_)) => SizeHint::default(),
            (None, _) if self.stopped.is_some() => SizeHint::default(),
            (None, _) => SizeHint::with_exact(0),
        }
    }
}
