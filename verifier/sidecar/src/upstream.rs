//! The tool server behind, whichever way it is reached. Nothing reaches it but what a [`Passage`] or a [`Deed`] holds, and each
//! of them once.

use std::{pin::pin, sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, header};
use http_body_util::BodyExt;

use crate::{
    answer::{Answer, AnswerBody, Events, Expected, Inspect, LastWord, Reply, Skim},
    clock::Clock,
    config::{UpstreamConfig, UpstreamPlace},
    fault::{Fault, UpstreamFault},
    header::{ACCEL_BUFFERING, SESSION, to_caller},
    lifeline::Lifeline,
    mcp::{ParamHeaders, RpcId},
    metrics::Metrics,
    passage::{Deed, Passage},
    request_id::RequestId,
    respond,
    session::{Leg, SessionBook, SessionId},
};

mod body;
mod http_server;
mod outgoing;
mod pool;
mod stdio;

use body::UpstreamBody;
use http_server::HttpServer;
pub(crate) use http_server::tls;
use outgoing::{Outgoing, Proven};
use stdio::Stdio;

/// The tool server.
pub(crate) struct Upstream {
    server: Server,
    answer_timeout: Duration,
    idle_timeout: Duration,
    sessions: Arc<SessionBook>,
}

/// The two ways to one.
enum Server {
    Http(Box<HttpServer>),
    Stdio(Box<Stdio>),
}

/// What an answer is to.
struct Asked {
    leg: Leg,
    id: Option<RpcId>,
    reply: Reply,
    /// A stream of what happens, which may be silent.
    is_stream: bool,
    request_id: RequestId,
}

impl Upstream {
    /// Connects to nothing and starts nothing yet. `tls` is asked only for an `https` URL.
    pub(crate) fn new(
        config: &UpstreamConfig,
        tls: rustls::ClientConfig,
        sessions: Arc<SessionBook>,
        clock: Clock,
    ) -> Upstream {
        let server = match &config.place {
            UpstreamPlace::Http { url, connect_timeout } => {
                Server::Http(Box::new(HttpServer::new(url.clone(), *connect_timeout, tls)))
            }
            UpstreamPlace::Command(command) => {
                let sessions = Arc::clone(&sessions);
                Server::Stdio(Box::new(Stdio::new(command.clone(), config.answer_timeout, sessions, clock)))
            }
        };
        let (answer_timeout, idle_timeout) = (config.answer_timeout, config.idle_timeout);
        Upstream { server, answer_timeout, idle_timeout, sessions }
    }

    /// Sends one message and hands back the answer as it comes, watched by `lifeline` to its end.
    /// Dropping the future or the answer's body tells the tool server that nobody waits any more.
    pub(crate) async fn forward(
        &self,
        passage: Passage,
        leg: Leg,
        headers: &HeaderMap,
        params: ParamHeaders,
        lifeline: Lifeline,
        request_id: RequestId,
    ) -> Result<Response<AnswerBody>, Fault> {
        let proven = passage.permit().map_or(Proven::Nothing, |permit| Proven::Call(permit.proven_by()));
        // Whatever comes of it: one permit, one forwarded call.
        let (body, id) = passage.use_up();
        let mut outgoing = Outgoing::new(Method::POST, headers, leg.clone(), body, proven, request_id);
        outgoing.headers.extend(params.into_headers());
        let asked = Asked { reply: Reply::To(id.clone()), leg, id, is_stream: false, request_id };
        self.send(outgoing, asked, lifeline).await
    }

    /// Does one act on a session: opens its stream, ends it, or answers in it.
    pub(crate) async fn act(
        &self,
        deed: Deed,
        headers: &HeaderMap,
        lifeline: Lifeline,
        request_id: RequestId,
    ) -> Result<Response<AnswerBody>, Fault> {
        let (session, last_event_id, method, body) = deed.use_up();
        let is_stream = method == Method::GET;
        let ends = method == Method::DELETE;
        let leg = Leg::In(session.clone());
        let reply = if last_event_id.is_some() { Reply::Earlier } else { Reply::To(None) };
        let outgoing = Outgoing::new(method, headers, leg.clone(), body, Proven::Act, request_id);
        let outgoing = Outgoing { last_event_id, ..outgoing };
        let asked = Asked { leg, id: None, reply, is_stream, request_id };
        let answer = self.send(outgoing, asked, lifeline).await?;
        if ends && answer.status().is_success() {
            self.sessions.end(&session);
        }
        Ok(answer)
    }

    async fn send(
        &self,
        outgoing: Outgoing,
        asked: Asked,
        lifeline: Lifeline,
    ) -> Result<Response<AnswerBody>, Fault> {
        let answer = lifeline.wait(self.answer_timeout, pin!(self.server.send(outgoing))).await??;
        self.pass(answer, lifeline, asked).await
    }

    async fn pass(
        &self,
        answer: Response<UpstreamBody>,
        lifeline: Lifeline,
        asked: Asked,
    ) -> Result<Response<AnswerBody>, Fault> {
        let (head, mut body) = answer.into_parts();
        if head.status.is_redirection() && head.status != StatusCode::NOT_MODIFIED {
            return Err(UpstreamFault::Redirected.into());
        }
        if head.headers.contains_key(header::CONTENT_ENCODING) {
            return Err(UpstreamFault::Encoded.into());
        }
        let mut headers = to_caller(&head.headers);
        let session = self.follow_session(&asked.leg, head.status, &head.headers, &lifeline)?;
        if let Some(begun) = session.as_ref().filter(|_| asked.leg == Leg::Begins) {
            headers.extend(HeaderValue::try_from(begun.as_str()).map(|value| (SESSION, value)));
        }
        let visit = session.map(|session| self.sessions.visit(&session));
        let expected = Expected { visit, reply: asked.reply };
        let is_error = !head.status.is_success();
        let (mut inspect, last_word) = match kind(&headers) {
            Kind::Events => {
                headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
                let (id, request_id) = (asked.id, asked.request_id);
                let last = move |fault: &Fault| respond::error_message(fault, id.as_ref(), request_id);
                (Inspect::Events(Events::default(), expected), LastWord::Event(Box::new(last)))
            }
            Kind::Json => (Inspect::Json { skim: Skim::default(), expected, is_error }, LastWord::None),
            // Some clients read a message out of it all the same, and nobody has looked at it.
            Kind::Opaque if asked.id.is_some() && !is_error => return Err(UpstreamFault::Malformed.into()),
            Kind::Opaque => (Inspect::Opaque, LastWord::None),
        };
        let first = match inspect {
            Inspect::Json { .. } => self.first_part(&mut body, &lifeline).await?,
            Inspect::Events(..) | Inspect::Opaque => None,
        };
        // While the head has not gone out, there is a better answer than to break off.
        first.as_ref().map_or(Ok(()), |first| inspect.take(first)).map_err(|stop| stop.fault)?;
        let idle = (!asked.is_stream).then_some(self.idle_timeout);
        let answer = Answer::new(body, lifeline, idle, last_word, inspect).after(first);
        let mut response = Response::new(answer.boxed_unsync());
        *response.status_mut() = head.status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// The first bytes of an answer of JSON, which most often are all.
    async fn first_part(&self, body: &mut UpstreamBody, lifeline: &Lifeline) -> Result<Option<Bytes>, Fault> {
        match lifeline.wait(self.answer_timeout, pin!(body.frame())).await? {
            None => Ok(None),
            Some(frame) => {
                let frame = frame.map_err(|_| UpstreamFault::Unreachable)?;
                Ok(Some(frame.into_data().unwrap_or_default()))
            }
        }
    }

    /// The session that an answer belongs to: the one that its request was in, unless the tool server has forgotten it, or
    /// the one that begins here.
    fn follow_session(
        &self,
        leg: &Leg,
        status: StatusCode,
        headers: &HeaderMap,
        lifeline: &Lifeline,
    ) -> Result<Option<SessionId>, Fault> {
        match leg {
            Leg::In(session) => {
                if status == StatusCode::NOT_FOUND {
                    self.sessions.end(session);
                }
                Ok(Some(session.clone()))
            }
            Leg::Begins if status.is_success() => {
                let Some(id) = headers.get(SESSION) else { return Ok(None) };
                let id =
                    id.to_str().ok().and_then(SessionId::parse).ok_or(UpstreamFault::SessionMalformed)?;
                self.sessions.begin(id.clone(), lifeline.now())?;
                Ok(Some(id))
            }
            Leg::Begins | Leg::Alone => Ok(None),
        }
    }

    /// Whether it could take a call now; if not, why, for whoever runs it.
    pub(crate) async fn probe(&self) -> Result<(), String> {
        match &self.server {
            Server::Http(server) => server.probe().await.map_err(|fault| fault.to_string()),
            Server::Stdio(server) => server.probe(),
        }
    }

    /// What must be done for it as long as the sidecar runs, where it is one that the sidecar starts.
    pub(crate) fn upkeep(&self) -> Option<impl Future<Output = ()> + Send + 'static> {
        match &self.server {
            Server::Http(_) => None,
            Server::Stdio(server) => Some(server.upkeep()),
        }
    }

    /// Closes connections to it that nobody has used for too long.
    pub(crate) fn let_go_of_idle(&self) {
        if let Server::Http(server) = &self.server {
            server.let_go_of_idle();
        }
    }

    /// Lets go of it: what the sidecar has started ends.
    pub(crate) async fn close(&self) {
        if let Server::Stdio(server) = &self.server {
            server.close().await;
        }
    }

    /// Brings its metrics up to date.
    pub(crate) fn export(&self, metrics: &Metrics) {
        if let Server::Stdio(server) = &self.server {
            server.export(metrics);
        }
    }
}

impl Server {
    async fn send(&self, outgoing: Outgoing) -> Result<Response<UpstreamBody>, Fault> {
        match self {
            Server::Http(server) => Ok(server.send(outgoing).await?.map(UpstreamBody::Http)),
            Server::Stdio(server) => Ok(server.send(outgoing).await?.map(UpstreamBody::Child)),
        }
    }
}

/// What a client takes an answer for.
enum Kind {
    Events,
    Json,
    Opaque,
}

fn kind(headers: &HeaderMap) -> Kind {
    if headers.get_all(header::CONTENT_TYPE).iter().count() != 1 {
        // Readers differ in which of two they go by.
        Kind::Opaque
    } else if is_event_stream(headers) {
        Kind::Events
    } else if is_content(headers, "application/json") {
        Kind::Json
    } else {
        Kind::Opaque
    }
}

pub(crate) fn is_event_stream(headers: &HeaderMap) -> bool {
    is_content(headers, "text/event-stream")
}

/// Whether the content type is that, whatever its parameters.
pub(crate) fn is_content(headers: &HeaderMap, wanted: &str) -> bool {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    content_type.split(';').next().is_some_and(|name| name.trim().eq_ignore_ascii_case(wanted))
}
