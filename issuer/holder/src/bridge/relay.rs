//! What happens to each line of the client.

use pact_verifier::Act;
use reqwest::header::HeaderMap;
use tokio::task::{JoinError, JoinSet};

use super::{
    Relay,
    answer::{ServerKind, ServerMessage},
    exchange,
    line::Line,
    message::{Id, Kind, LineFault, Members, Message},
    refused::Refused,
};
use crate::limits::{MAX_IN_FLIGHT, NOTIFY_TIMEOUT};

impl Relay {
    /// Takes a line: a request gets one answer, sooner or later; what is no message gets one at once.
    pub(super) async fn take(&self, line: Line, tasks: &mut JoinSet<()>) {
        let parsed = match line {
            Line::Bytes(bytes) => Message::parse(bytes),
            Line::TooLong => Err(LineFault::TooLong),
            Line::End => return,
        };
        let message = match parsed {
            Ok(message) => message,
            Err(fault) => return self.say(fault.answer()).await,
        };
        let relay = self.clone();
        match message.kind().clone() {
            // What comes behind these two stands on them, so it waits.
            Kind::Request { id, method } if method == "initialize" => {
                let reply = self.answer(&id, &message).await;
                self.say(reply.line).await;
            }
            Kind::Notification { method } if method == "notifications/initialized" => {
                let _ = self.tell(&message).await;
            }
            Kind::Request { id, .. } => self.begin(id, message, tasks).await,
            Kind::Notification { method } if method == "notifications/cancelled" => {
                self.cancel(&message);
                // Where requests belong to a session, closing one does not cancel it (MCP 2025-11-25, transports).
                if self.session.has_session() {
                    tasks.spawn(async move { drop(relay.tell(&message).await) });
                }
            }
            Kind::Notification { .. } => drop(tasks.spawn(async move { drop(relay.tell(&message).await) })),
            Kind::Response { id } => {
                tasks.spawn(async move { drop(relay.respond(&id, &message).await) });
            }
        }
    }

    async fn begin(&self, id: Id, message: Message, tasks: &mut JoinSet<()>) {
        let refused = self.admit(id, message, tasks).err();
        if let Some(answer) = refused {
            self.say(answer).await;
        }
    }

    /// Lets a request begin, or says why not.
    fn admit(&self, id: Id, message: Message, tasks: &mut JoinSet<()>) -> Result<(), Vec<u8>> {
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
        let (relay, own) = (self.clone(), id.clone());
        let task = tasks.spawn(async move {
            let reply = relay.answer(&own, &message).await;
            relay.open().asked.remove(&own);
            relay.say(reply.line).await;
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

    /// Passes on what wants no answer, to every server; what the first one says of it counts.
    pub(super) async fn tell(&self, message: &Message) -> Result<(), Refused> {
        let first = self.tell_one(0, message, HeaderMap::new()).await;
        for at in 1..self.bridge.upstreams.len() {
            let _ = self.tell_one(at, message, HeaderMap::new()).await;
        }
        first
    }

    /// `proof` are the headers of an act; empty where there is nothing to prove.
    async fn tell_one(&self, at: usize, message: &Message, proof: HeaderMap) -> Result<(), Refused> {
        let (upstream, agreed) = (self.upstream(at)?, self.session.agreed(at));
        let body = message.with_meta(&Members::default());
        let taken = match upstream.post_with(message, body, &agreed, proof, NOTIFY_TIMEOUT).await {
            Ok(response) if response.status().is_success() => Ok(()),
            Ok(response) => Err(exchange::refusal(response, NOTIFY_TIMEOUT).await),
            Err(refused) => Err(refused),
        };
        if let Err(refused) = &taken {
            tracing::warn!(url = %upstream.config.url, code = refused.code(), "a message was not taken");
        }
        taken
    }

    /// Passes on the client's answer to a request of a server, to that server, with a proof that it is the session's owner who
    /// answers.
    pub(super) async fn respond(&self, id: &Id, message: &Message) -> Result<(), Refused> {
        let whose = self.open().asking.remove(id);
        let Some(at) = whose else {
            tracing::warn!("the client answered what nobody asked; left out");
            return Err(Refused::not_asked());
        };
        let body = message.with_meta(&Members::default());
        let asked = id.request_id().ok_or_else(Refused::not_asked)?;
        let proof = self.act_heads(at, |session| Act::respond(session, asked, body.as_bytes())).await;
        let answered = match proof {
            Ok(proof) => self.tell_one(at, message, proof).await,
            Err(refused) => Err(refused),
        };
        if let Err(refused) = &answered {
            tracing::warn!(code = refused.code(), "the client's answer did not reach the server that asked");
        }
        answered
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
