//! A tool server that the sidecar starts, and that speaks on its standard input and output.
//!
//! Towards callers it is as any server over HTTP: it gives sessions their ids, opens their streams and ends them. Each session
//! has a process of its own, and so has each holder whose calls stand alone, so that nothing of one holder's can reach
//! another (protocol M4). Open messages that stand alone go to one more, which gets no call.

use std::{sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use http::{HeaderValue, Method, Response, StatusCode};

use super::{Outgoing, Proven};
use crate::{
    clock::Clock,
    config::CommandConfig,
    fault::{Fault, ShapeFault, UpstreamFault},
    header::SESSION,
    metrics::Metrics,
    session::{Leg, SessionBook, SessionFault, SessionId},
};

mod answer;
mod calls;
mod child;
mod children;
mod complaints;
mod counts;
mod frame;
mod life;
mod lines;
mod process;
mod starts;
#[cfg(test)]
mod tests;
mod ticket;
mod trial;

pub(crate) use answer::ChildBody;
use calls::Asker;
use child::Child;
use children::{Children, Client};
use frame::{Frame, Kind};
use starts::Speaks;

pub(crate) struct Stdio {
    children: Arc<Children>,
    answer_timeout: Duration,
}

/// A session that begins: unless it is kept, its process ends.
struct Beginning<'a> {
    children: &'a Children,
    client: Client,
    is_kept: bool,
}

impl Drop for Beginning<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.children.end(&self.client);
        }
    }
}

impl Stdio {
    /// Starts nothing yet.
    pub(super) fn new(
        config: CommandConfig,
        answer_timeout: Duration,
        sessions: Arc<SessionBook>,
        clock: Clock,
    ) -> Stdio {
        Stdio { children: Arc::new(Children::new(config, sessions, clock)), answer_timeout }
    }

    /// Dropping the future or the answer's body tells the process that nobody waits.
    pub(super) async fn send(&self, outgoing: Outgoing) -> Result<Response<ChildBody>, Fault> {
        match (&outgoing.leg, &outgoing.method) {
            (Leg::Begins, _) => self.begin(&outgoing).await,
            (Leg::In(session), &Method::GET) => {
                let parts = self.of_session(session)?.calls().listen();
                Ok(ChildBody::of_session(parts.ok_or(SessionFault::Unknown)?))
            }
            (Leg::In(session), &Method::DELETE) => {
                self.children.end(&Client::Session(session.clone()));
                Ok(ChildBody::empty(StatusCode::NO_CONTENT))
            }
            (Leg::In(session), _) => self.pass(&self.of_session(session)?, &outgoing).await,
            (Leg::Alone, _) => self.alone(&outgoing).await,
        }
    }

    /// `initialize`: a process of its own, and an id for the session once it agrees.
    async fn begin(&self, outgoing: &Outgoing) -> Result<Response<ChildBody>, Fault> {
        let id = new_session()?;
        let client = Client::Session(id.clone());
        let mut beginning = Beginning { children: &self.children, client, is_kept: false };
        let child = self.children.get_or_start(&beginning.client).await?;
        let frame = read(&outgoing.body)?;
        let text = child::answer(child.ask(&frame, &outgoing.body, asker(outgoing)).await?).await?;
        self.note_answer(&child);
        let is_begun = says_yes(&text);
        let mut response = ChildBody::json(text);
        if is_begun {
            let id = HeaderValue::try_from(id.as_str()).map_err(|_| UpstreamFault::SessionMalformed)?;
            response.headers_mut().insert(SESSION, id);
        }
        beginning.is_kept = is_begun;
        Ok(response)
    }

    fn of_session(&self, session: &SessionId) -> Result<Arc<Child>, SessionFault> {
        // With its process the session has ended.
        self.children.get(&Client::Session(session.clone())).ok_or(SessionFault::Unknown)
    }

    /// A message that stands in no session.
    async fn alone(&self, outgoing: &Outgoing) -> Result<Response<ChildBody>, Fault> {
        let frame = read(&outgoing.body)?;
        if frame.kind != Kind::Request {
            // It tells of nothing that the tool server has with this caller.
            return Ok(ChildBody::empty(StatusCode::ACCEPTED));
        }
        if frame.method == "initialize" {
            // It would change for everybody what the process speaks.
            return Err(ShapeFault::MethodNotOpen.into());
        }
        let client = match &outgoing.proven {
            Proven::Call(Some(holder)) => Client::Holder(holder.clone()),
            Proven::Call(None) => return Err(SessionFault::NeedsHolder.into()),
            Proven::Nothing | Proven::Act => Client::Anybody,
        };
        let child = match self.children.starts.speaks() {
            Some(Speaks::Modern) => self.children.get_or_start(&client).await?,
            Some(Speaks::Legacy) => return Err(UpstreamFault::NeedsSession.into()),
            None => return Err(UpstreamFault::Unreachable.into()),
        };
        self.pass(&child, outgoing).await
    }

    /// Writes the message to the process, and waits for what it says, where it says anything.
    async fn pass(&self, child: &Arc<Child>, outgoing: &Outgoing) -> Result<Response<ChildBody>, Fault> {
        let (frame, body) = (read(&outgoing.body)?, &outgoing.body);
        if frame.kind == Kind::Request {
            let answer = ChildBody::of(child.ask(&frame, body, asker(outgoing)).await?).await?;
            self.note_answer(child);
            return Ok(answer);
        }
        match &frame.request {
            Some(span) if frame.method == "notifications/cancelled" => {
                // What is not open, or is somebody else's, cannot be cancelled.
                if let Some(number) = child.calls().cancel(frame::at(body, span)) {
                    let number = number.to_string();
                    child.tell(frame::replaced(body, vec![(span.clone(), &number)])).await?;
                }
            }
            _ => child.tell(frame::replaced(body, Vec::new())).await?,
        }
        Ok(ChildBody::empty(StatusCode::ACCEPTED))
    }

    fn note_answer(&self, child: &Child) {
        if child.note_answer() {
            self.children.starts.worked();
        }
    }

    /// Whether it could take a call now; if not, why.
    pub(super) fn probe(&self) -> Result<(), String> {
        self.children.starts.fault().map_or(Ok(()), Err)
    }

    pub(super) fn upkeep(&self) -> impl Future<Output = ()> + Send + 'static {
        trial::upkeep(Arc::clone(&self.children), self.answer_timeout)
    }

    pub(super) async fn close(&self) {
        self.children.close().await;
    }

    pub(super) fn export(&self, metrics: &Metrics) {
        metrics.whole(
            "pact_sidecar_children",
            f64::from(u32::try_from(self.children.count()).unwrap_or(u32::MAX)),
        );
        self.children.counts.export(metrics);
    }
}

fn asker(outgoing: &Outgoing) -> Asker {
    let has_proven = matches!(outgoing.proven, Proven::Call(_));
    Asker { has_proven, takes_events: outgoing.takes_events() }
}

/// The message. It was judged already, and strictly, so this finds nothing wrong with it.
fn read(body: &Bytes) -> Result<Frame, Fault> {
    Frame::read(body).ok_or(Fault::InternalForwarded)
}

/// Whether a response is a result.
fn says_yes(text: &[u8]) -> bool {
    #[derive(serde::Deserialize)]
    struct Outcome {
        result: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice(text).is_ok_and(|outcome: Outcome| outcome.result.is_some())
}

/// An id that nobody guesses.
fn new_session() -> Result<SessionId, Fault> {
    let mut random = [0; 24];
    getrandom::fill(&mut random).map_err(|_| Fault::Internal)?;
    SessionId::parse(&URL_SAFE_NO_PAD.encode(random)).ok_or(Fault::Internal)
}
