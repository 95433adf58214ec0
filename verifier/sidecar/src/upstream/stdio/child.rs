//! One process of the tool server, as its callers see it: they ask and tell, and it ends.

use std::{
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    sync::{Notify, mpsc, watch},
    time::Instant,
};

use super::{
    calls::{Asker, Calls, Part},
    counts::Counts,
    frame::{self, Frame},
    lines::Line,
    ticket::Ticket,
};
use crate::{answer::Kind, fault::UpstreamFault, limits::MAX_WAITING_LINES, mcp::RpcId};

pub(super) struct Child {
    calls: Calls,
    lines: mpsc::Sender<Bytes>,
    end: Notify,
    /// How it ended.
    ended: watch::Sender<Option<String>>,
    began: Instant,
    /// When it answered for the first time.
    answered: OnceLock<Instant>,
    /// When somebody asked for the last time.
    used: Mutex<Instant>,
    /// Bytes of one of its messages.
    most: usize,
}

impl Child {
    /// A process that is about to run, and what is to be written to it.
    pub(super) fn new(counts: Arc<Counts>, has_client: bool, most: usize) -> (Child, mpsc::Receiver<Bytes>) {
        let (lines, to_write) = mpsc::channel(MAX_WAITING_LINES);
        let child = Child {
            calls: Calls::new(counts, has_client),
            lines,
            end: Notify::new(),
            ended: watch::Sender::new(None),
            began: Instant::now(),
            answered: OnceLock::new(),
            used: Mutex::new(Instant::now()),
            most,
        };
        (child, to_write)
    }

    /// Writes a request to it. Its answer comes by the ticket.
    pub(super) async fn ask(
        self: &Arc<Self>,
        frame: &Frame,
        body: &[u8],
        asker: Asker,
    ) -> Result<Ticket, UpstreamFault> {
        *self.used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        let (number, parts) = self.calls.open(frame, body, asker).ok_or(UpstreamFault::Unreachable)?;
        let ticket = Ticket::new(Arc::clone(self), number, parts);
        let number = number.to_string();
        let places = frame.id.iter().chain(&frame.wants_progress);
        let edits = places.map(|span| (span.clone(), number.as_str())).collect();
        self.tell(frame::replaced(body, edits)).await?;
        Ok(ticket)
    }

    /// Writes a line to it.
    pub(super) async fn tell(&self, line: Bytes) -> Result<(), UpstreamFault> {
        self.lines.send(line).await.map_err(|_| UpstreamFault::Unreachable)
    }

    /// The same, if there is room: a process that reads nothing misses nothing by it.
    pub(super) fn tell_at_once(&self, line: Bytes) {
        let _ = self.lines.try_send(line);
    }

    /// What its callers wait for.
    pub(super) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// A line that it wrote.
    pub(super) fn hear(&self, line: &Line) {
        match line {
            Line::Whole(text) => {
                if let Some(reply) = self.calls.receive(text) {
                    self.tell_at_once(reply);
                }
            }
            Line::TooLong(skim) => {
                self.calls.complain("a message beyond upstream.message_bytes", self.most);
                let number = match skim.finish() {
                    Ok(Some(Kind::Response(Some(RpcId::Number(number))))) => number.text().parse().ok(),
                    _ => None,
                };
                self.calls.fail(number, UpstreamFault::MessageTooLarge { limit: self.most });
            }
        }
    }

    /// Bytes of one of its messages.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// It has answered, so it was started well; tells whether that was the first time.
    pub(super) fn note_answer(&self) -> bool {
        self.answered.set(Instant::now()).is_ok()
    }

    pub(super) fn has_answered(&self) -> bool {
        self.answered.get().is_some()
    }

    /// How long ago it answered for the first time; `None` before, which is less than any time.
    pub(super) fn answered_ago(&self) -> Option<Duration> {
        self.answered.get().map(Instant::elapsed)
    }

    pub(super) fn age(&self) -> Duration {
        self.began.elapsed()
    }

    /// How long nobody has asked.
    pub(super) fn idle_for(&self) -> Duration {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    pub(super) fn is_over(&self) -> bool {
        self.calls.is_over()
    }

    /// It is to end; nothing of it reaches anybody any more.
    pub(super) fn end(&self) {
        self.calls.close();
        self.end.notify_one();
    }

    /// Done when it is to end.
    pub(super) async fn told_to_end(&self) {
        self.end.notified().await;
    }

    /// Its process is gone.
    pub(super) fn finish(&self, how: String) {
        self.ended.send_replace(Some(how));
    }

    /// Done when its process is gone: how it went.
    pub(super) async fn finished(&self) -> String {
        let mut ended = self.ended.subscribe();
        // It is sent by what is asked here, which lives.
        ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone()).unwrap_or_default()
    }
}

/// The first part of an answer, read whole by whoever asks for the sidecar's own sake.
pub(super) async fn answer(mut ticket: Ticket) -> Result<Bytes, UpstreamFault> {
    loop {
        match ticket.next().await {
            Some(Part::Answer(text)) => return Ok(text),
            Some(Part::Message(_)) => {}
            Some(Part::Failed(fault)) => return Err(fault),
            Some(Part::Cancelled) | None => return Err(UpstreamFault::Unreachable),
        }
    }
}
