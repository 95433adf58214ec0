//! Which requests one process has not answered, and which of its messages belong to which of them (protocol M4). A request
//! goes to it under a number of ours and its answer comes back under the caller's id, so that two callers may use the same
//! one; a message that belongs to no caller reaches none.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use bytes::Bytes;
use pact_mandate::Json;
use tokio::sync::mpsc;

use super::{
    counts::Counts,
    frame::{self, Frame, Kind},
};
use crate::{fault::UpstreamFault, limits::MAX_WAITING_MESSAGES, metrics::Dropped};

/// The open requests of one process.
pub(super) struct Calls {
    counts: Arc<Counts>,
    /// Whether it serves one session, whose client may hear more than answers.
    has_client: bool,
    has_babbled: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_over: bool,
    last: u64,
    open: BTreeMap<u64, Call>,
    /// The stream of the session.
    listener: Option<mpsc::Sender<Part>>,
}

/// One request, and the text under which its caller knows it.
struct Call {
    id: String,
    progress: Option<String>,
    asker: Asker,
    parts: mpsc::Sender<Part>,
}

/// Who asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    /// Whether it proved a key by this very call.
    pub(super) has_proven: bool,
    /// Whether it takes messages before the answer.
    pub(super) takes_events: bool,
}

/// What reaches a caller.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A message before the answer.
    Message(Bytes),
    /// The answer, and the end.
    Answer(Bytes),
    /// The end without one.
    Failed(UpstreamFault),
    /// The caller itself wants no answer any more.
    Cancelled,
}

impl Calls {
    pub(super) fn new(counts: Arc<Counts>, has_client: bool) -> Calls {
        Calls { counts, has_client, has_babbled: AtomicBool::new(false), state: Mutex::default() }
    }

    /// Takes note of a request: its number, and where its answer will come. `None` when the process answers nothing more.
    pub(super) fn open(
        &self,
        frame: &Frame,
        body: &[u8],
        asker: Asker,
    ) -> Option<(u64, mpsc::Receiver<Part>)> {
        let mut state = self.lock();
        if state.is_over {
            return None;
        }
        let text = |span: &_| frame::at(body, span).to_owned();
        // The last place is the answer's.
        let (parts, receiver) = mpsc::channel(MAX_WAITING_MESSAGES + 1);
        let id = frame.id.as_ref().map(text).unwrap_or_default();
        let call = Call { id, progress: frame.wants_progress.as_ref().map(text), asker, parts };
        state.last = state.last.saturating_add(1);
        let number = state.last;
        state.open.insert(number, call);
        Some((number, receiver))
    }

    /// Nobody waits for it any more; tells whether it was still open.
    pub(super) fn forget(&self, number: u64) -> bool {
        self.lock().open.remove(&number).is_some()
    }

    /// Ends the request of this id because its caller says so, and tells its number.
    pub(super) fn cancel(&self, id: &str) -> Option<u64> {
        let mut state = self.lock();
        let number = *state.open.iter().find(|(_, call)| is_same(&call.id, id))?.0;
        let call = state.open.remove(&number)?;
        // There is a place left for it.
        let _ = call.parts.try_send(Part::Cancelled);
        Some(number)
    }

    /// Opens the stream of the session. It takes the place of the one that was there, which ends.
    pub(super) fn listen(&self) -> Option<mpsc::Receiver<Part>> {
        let mut state = self.lock();
        let (parts, receiver) = mpsc::channel(MAX_WAITING_MESSAGES + 1);
        (!state.is_over).then(|| state.listener = Some(parts)).map(|()| receiver)
    }

    /// Nothing more comes of this process: whoever waits is told so by the end of its channel.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_over = true;
        state.open.clear();
        state.listener = None;
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock().is_over
    }

    pub(super) fn count(&self) -> usize {
        self.lock().open.len()
    }

    /// Brings a line of the process to whom it belongs. What comes back is to be written to the process.
    pub(super) fn receive(&self, line: &[u8]) -> Option<Bytes> {
        let Some(frame) = Frame::read(line) else {
            if !line.trim_ascii().is_empty() {
                self.counts.dropped(Dropped::NotAMessage);
                self.complain("a line that is not one JSON-RPC message", line.len());
            }
            return None;
        };
        match frame.kind {
            Kind::Response => {
                self.answer(&frame, line);
                None
            }
            Kind::Notification => {
                self.notify(&frame, line);
                None
            }
            Kind::Request if self.tell_client(line) => None,
            Kind::Request => frame.id.map(|id| nobody_answers(frame::at(line, &id))),
        }
    }

    /// Ends the request of this number without an answer.
    pub(super) fn fail(&self, number: Option<u64>, fault: UpstreamFault) {
        match number.and_then(|number| self.lock().open.remove(&number)) {
            Some(call) => drop(call.parts.try_send(Part::Failed(fault))),
            None => self.counts.dropped(Dropped::TooLong),
        }
    }

    /// Tells whoever runs the sidecar of what the process should not have written, once for each: the rest is counted.
    pub(super) fn complain(&self, what: &'static str, bytes: usize) {
        if !self.has_babbled.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                bytes,
                "a process of the tool server wrote {what} to its standard output; what follows is counted only"
            );
        }
    }

    fn answer(&self, frame: &Frame, line: &[u8]) {
        let number = frame.id.as_ref().and_then(|id| number(line, id));
        let call = number.and_then(|number| self.lock().open.remove(&number));
        let (Some(call), Some(id)) = (call, &frame.id) else {
            // Attack 64: it was never asked, or is answered, or nobody waits any more.
            return self.counts.dropped(Dropped::UnknownId);
        };
        // Nobody else's messages take the last place.
        let _ = call.parts.try_send(Part::Answer(frame::replaced(line, vec![(id.clone(), &call.id)])));
    }

    /// A notification goes to the request that it belongs to, or to the session's client, or to nobody.
    fn notify(&self, frame: &Frame, line: &[u8]) {
        let state = self.lock();
        let named = frame.progress.as_ref().or(frame.subscription.as_ref());
        let Some(span) = named else {
            drop(state);
            if !self.tell_client(line) {
                self.counts.dropped(Dropped::Nobodys);
            }
            return;
        };
        let call = number(line, span).and_then(|number| state.open.get(&number));
        let known_as = |call: &Call| match frame.progress {
            Some(_) => call.progress.clone(),
            None => Some(call.id.clone()),
        };
        let Some((call, known_as)) = call.and_then(|call| Some((call, known_as(call)?))) else {
            return self.counts.dropped(Dropped::UnknownId);
        };
        let message = frame::replaced(line, vec![(span.clone(), &known_as)]);
        if !call.asker.takes_events || !sent(&call.parts, message) {
            self.counts.dropped(Dropped::SlowReader);
        }
    }

    /// Tells the client of the session: on its stream, or before the answer to its latest call. Nothing flows before a key
    /// was proven (protocol M4).
    fn tell_client(&self, line: &[u8]) -> bool {
        let state = self.lock();
        if !self.has_client {
            return false;
        }
        let listener = state.listener.iter().filter(|listener| !listener.is_closed());
        let calls = state.open.values().rev().filter(|call| call.asker.has_proven && call.asker.takes_events);
        let mut ways = listener.chain(calls.map(|call| &call.parts));
        ways.next().is_some_and(|parts| sent(parts, frame::replaced(line, Vec::new())))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // What it guards is changed by plain moves, which do not panic half-way.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of ours that stands there, as we wrote it.
fn number(line: &[u8], span: &std::ops::Range<usize>) -> Option<u64> {
    let text = frame::at(line, span);
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}

/// Sends a message unless the reader is too far behind; the last place is the answer's.
fn sent(parts: &mpsc::Sender<Part>, message: Bytes) -> bool {
    parts.capacity() > 1 && parts.try_send(Part::Message(message)).is_ok()
}

/// Whether two texts are the same id.
fn is_same(a: &str, b: &str) -> bool {
    let parsed = |text: &str| Json::parse(text.as_bytes()).ok();
    a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b))
}

/// JSON-RPC 2.0: what the tool server asks has no one here who could answer.
fn nobody_answers(id: &str) -> Bytes {
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"no client answers requests here"}}}}"#
    );
    frame::replaced(text.as_bytes(), Vec::new())
}

#[cfg(test)]
mod tests;
