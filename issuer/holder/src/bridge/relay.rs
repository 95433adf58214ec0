//! What happens to each line of the client.

use std::sync::Arc;

use tokio::task::{JoinError, JoinSet};

use super::{
    Relay,
    answer::{ServerKind, ServerMessage},
    line::Line,
    message::{Id, Kind, LineFault, Members, Message},
    refused::Refused,
};
use crate::limits::{MAX_IN_FLIGHT, NOTIFY_TIMEOUT};

impl Relay {
    /// Takes a line: a request gets one answer, sooner or later; what is no message gets one at once.
    pub(super) async fn take(self: &Arc<Relay>, line: Line, tasks: &mut JoinSet<()>) {
        let parsed = match line {
            Line::Bytes(bytes) => Message::parse(bytes),
            Line::TooLong => Err(LineFault::TooLong),
            Line::End => return,
        };
        let message = match parsed {
            Ok(message) => message,
            Err(fault) => return self.say(fault.answer()).await,
        };
        let relay = Arc::clone(self);
        match message.kind().clone() {
            // What comes behind these two stands on them, so it waits.
            Kind::Request { id, method } if method == "initialize" => {
                let answer = self.answer(&id, &message).await;
                self.say(answer).await;
            }
            Kind::Notification { method } if method == "notifications/initialized" => {
                self.tell(&message).await;
            }
            Kind::Request { id, .. } => self.begin(id, message, tasks).await,
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel(&message);
                // Where requests belong to a session, closing one does not cancel it (MCP 2025-11-25, transports).
                if self.bridge.upstreams.iter().any(super::Upstream::has_session) {
                    tasks.spawn(async move { relay.tell(&message).await });
                }
            }
            Kind::Notification { .. } => drop(tasks.spawn(async move { relay.tell(&message).await })),
            Kind::Response { id } => drop(tasks.spawn(async move { relay.respond(&id, &message).await })),
        }
    }

    async fn begin(self: &Arc<Relay>, id: Id, message: Message, tasks: &mut JoinSet<()>) {
        let refused = self.admit(id, message, tasks).err();
        if let Some(answer) = refused {
            self.say(answer).await;
        }
    }

    /// Lets a request begin, or says why not.
    fn admit(self: &Arc<Relay>, id: Id, message: Message, tasks: &mut JoinSet<()>) -> Result<(), Vec<u8>> {
        let mut open = self.open();
        if open.asked.contains_key(&id) {
            // An answer with this id would be taken for that of the first.
            return Err(LineFault::NotAMessage.answer());
        }
        if open.asked.len() >= MAX_IN_FLIGHT {
            let refused =
                Refused::here("too_many_calls", format!("{MAX_IN_FLIGHT} requests wait for their answers"));
            return Err(refused.answer(&id, &message));
        }
        let (relay, own) = (Arc::clone(self), id.clone());
        let task = tasks.spawn(async move {
            let answer = relay.answer(&own, &message).await;
            relay.open().asked.remove(&own);
            relay.say(answer).await;
        });
        open.asked.insert(id, task);
        Ok(())
    }

    /// Closes the HTTP request that a cancelled request made; no answer is written.
    fn cancel(&self, message: &Message) {
        let Some(id) = message.param("requestId").and_then(Id::from_json) else { return };
        if let Some(task) = self.open().asked.remove(&id) {
            task.abort();
        }
    }

    /// A task that panicked answers nothing any more, so this does.
    pub(super) async fn bury(&self, error: &JoinError) {
        if !error.is_panic() {
            return;
        }
        tracing::error!("a request panicked");
        let id = {
            let mut open = self.open();
            let found = open.asked.iter().find(|(_, task)| task.id() == error.id());
            let id = found.map(|(id, _)| id.clone());
            id.as_ref().map(|id| open.asked.remove(id));
            id
        };
        if let Some(id) = id {
            self.say(Refused::here("internal", "the bridge failed").error_answer(&id)).await;
        }
    }

    /// Passes on what wants no answer, to every server.
    async fn tell(&self, message: &Message) {
        for at in 0..self.bridge.upstreams.len() {
            self.tell_one(at, message).await;
        }
    }

    async fn tell_one(&self, at: usize, message: &Message) {
        let Some(upstream) = self.bridge.upstreams.get(at) else { return };
        let body = message.with_meta(&Members::default());
        match upstream.post(message, body, NOTIFY_TIMEOUT).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => {
                tracing::warn!(url = %upstream.config.url, status = response.status().as_u16(), "a message was not taken");
            }
            Err(refused) => {
                tracing::warn!(url = %upstream.config.url, code = refused.code(), "a message was not sent");
            }
        }
    }

    /// Passes on the client's answer to a request of a server, to that server.
    async fn respond(&self, id: &Id, message: &Message) {
        let whose = self.open().asking.remove(id);
        if let Some(at) = whose {
            self.tell_one(at, message).await;
        } else {
            tracing::warn!("the client answered what nobody asked; left out");
        }
    }

    /// Writes what a server sends before its answer: notifications, and requests of its own.
    pub(super) async fn beside(&self, at: usize, message: ServerMessage) {
        if let ServerKind::Request(id) = message.kind() {
            let mut open = self.open();
            if open.asking.len() >= MAX_IN_FLIGHT || open.asking.contains_key(id) {
                tracing::warn!("a server asks too much, or twice under one id; left out");
                return;
            }
            open.asking.insert(id.clone(), at);
        }
        self.say(message.into_line()).await;
    }
}
