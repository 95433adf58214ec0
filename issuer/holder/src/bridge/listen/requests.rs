//! Each request of a local client, from its head to its answer.

use std::{collections::VecDeque, pin::pin, sync::Arc};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode,
    header::{self, ACCEPT, CONTENT_ENCODING, CONTENT_TYPE},
};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use pact_verifier::repeated::PARAM_PREFIX;
use tokio::sync::{mpsc, oneshot};

use super::{
    Office,
    body::{Body, Events, Task, event},
    door::single,
    fault::Fault,
};
use crate::{
    bridge::{
        Relay,
        calls::Reply,
        message::{Id, Kind, Message},
        refused::Refused,
        session::{SESSION, Session},
    },
    limits::{BODY_TIMEOUT, KEEP_ALIVE, MAX_LINE_BYTES, MAX_LINES_WAITING},
};

const SESSION_HEAD: HeaderName = HeaderName::from_static(SESSION);
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
/// The revision that knows no sessions.
const STATELESS: &str = "2026-07-28";

impl Office {
    /// The answer to a request, whatever it is.
    pub(super) async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        let (head, body) = request.into_parts();
        let answered = match self.door.admit(&head) {
            Err(fault) => Err(fault),
            Ok(()) => match head.method {
                Method::POST => self.post(&head.headers, body).await,
                Method::GET => self.listen(&head.headers),
                Method::DELETE => self.close(&head.headers).await,
                _ => Err(Fault::MethodNotAllowed),
            },
        };
        answered.unwrap_or_else(|fault| {
            tracing::info!(code = fault.code(), "a local request was refused");
            refused(&fault)
        })
    }

    async fn post(&self, headers: &HeaderMap, body: Incoming) -> Result<Response<Body>, Fault> {
        check_content(headers)?;
        check_accepts(headers, &["application/json", "text/event-stream"])?;
        let said = repeated(headers)?;
        let session = single(headers, &SESSION_HEAD, "Mcp-Session-Id")?;
        let message = Message::parse(read(body).await?.to_vec())?.with_heads(said);
        let session = match session.filter(|_| !is_stateless(&message)) {
            Some(_) if message.method() == Some("initialize") => self.sessions.alone(),
            Some(id) => self.sessions.find(id).ok_or(Fault::SessionUnknown)?,
            None => self.sessions.alone(),
        };
        let (lines, incoming) = mpsc::channel(MAX_LINES_WAITING);
        let relay = Relay::new(Arc::clone(&self.bridge), session, lines);
        match message.kind().clone() {
            Kind::Request { id, .. } => self.ask(relay, incoming, id, message).await,
            Kind::Notification { .. } => Ok(accepted(relay.tell(&message).await)),
            Kind::Response { id } => Ok(accepted(relay.respond(&id, &message).await)),
        }
    }

    /// A request: its answer, as a whole body or, once there is anything before it, in a stream.
    async fn ask(
        &self,
        relay: Relay,
        mut incoming: mpsc::Receiver<Vec<u8>>,
        id: Id,
        message: Message,
    ) -> Result<Response<Body>, Fault> {
        let place = Arc::clone(&self.places).try_acquire_owned().map_err(|_| Fault::TooManyCalls)?;
        // The id of the session that it opens stands in the head of the answer, so that waits.
        let begins = (message.method() == Some("initialize")).then(|| Arc::clone(&relay.session));
        let broken = Refused::here("internal", "the bridge failed").error_answer(&id);
        let (lines, mut early) = (relay.lines.clone(), VecDeque::new());
        let (sender, mut reply) = oneshot::channel();
        let task = Task(tokio::spawn(async move {
            // Nobody waits any more when the client went away.
            let _ = sender.send(relay.answer(&id, &message).await);
        }));
        let mut patience = pin!(tokio::time::sleep(KEEP_ALIVE));
        let answered = loop {
            tokio::select! {
                biased;
                Some(line) = incoming.recv() => {
                    if early.len() < MAX_LINES_WAITING {
                        early.push_back(line);
                    }
                    if begins.is_none() {
                        break None;
                    }
                }
                reply = &mut reply => break Some(reply),
                () = &mut patience, if begins.is_none() => break None,
            }
        };
        Ok(match answered {
            Some(Ok(reply)) => {
                while let Ok(line) = incoming.try_recv() {
                    early.push_back(line);
                }
                self.whole(reply, &early, begins)
            }
            Some(Err(_)) => json(StatusCode::INTERNAL_SERVER_ERROR, broken),
            None => streamed(Events::new(early, incoming, follow(reply, lines, task, broken), Some(place))),
        })
    }

    /// The answer is here, and all that came before it.
    fn whole(&self, reply: Reply, early: &VecDeque<Vec<u8>>, begins: Option<Arc<Session>>) -> Response<Body> {
        let mut response = if reply.manner.streamed || !early.is_empty() {
            let events: Vec<u8> = early.iter().chain([&reply.line]).flat_map(|line| event(line)).collect();
            stream_of(Body::whole(events))
        } else {
            let status = StatusCode::from_u16(reply.manner.status).unwrap_or(StatusCode::BAD_GATEWAY);
            json(status, reply.line)
        };
        let id =
            begins.filter(|session| session.has_session()).and_then(|session| self.sessions.keep(session));
        if let Some(id) = id.and_then(|id| HeaderValue::from_str(&id).ok()) {
            response.headers_mut().insert(SESSION_HEAD, id);
        }
        response
    }

    /// The stream of a session.
    fn listen(&self, headers: &HeaderMap) -> Result<Response<Body>, Fault> {
        let session = self.sessions.find(named_session(headers)?).ok_or(Fault::SessionUnknown)?;
        check_accepts(headers, &["text/event-stream"])?;
        let (lines, incoming) = mpsc::channel(MAX_LINES_WAITING);
        let relay = Relay::new(Arc::clone(&self.bridge), session, lines);
        let task = Task(tokio::spawn(async move { relay.listen().await }));
        Ok(streamed(Events::new(VecDeque::new(), incoming, task, None)))
    }

    /// The end of a session.
    async fn close(&self, headers: &HeaderMap) -> Result<Response<Body>, Fault> {
        let session = self.sessions.remove(named_session(headers)?).ok_or(Fault::SessionUnknown)?;
        // What servers still want to say is heard by nobody.
        let (lines, _) = mpsc::channel(1);
        Relay::new(Arc::clone(&self.bridge), session, lines).close().await;
        Ok(Response::new(Body::whole("")))
    }
}

/// Sends the answer behind what came before it.
fn follow(
    reply: oneshot::Receiver<Reply>,
    lines: mpsc::Sender<Vec<u8>>,
    task: Task,
    broken: Vec<u8>,
) -> Task {
    Task(tokio::spawn(async move {
        let line = reply.await.map_or(broken, |reply| reply.line);
        // The client went away when nobody takes it.
        let _ = lines.send(line).await;
        drop(task);
    }))
}

fn named_session(headers: &HeaderMap) -> Result<&str, Fault> {
    let stateless = single(headers, &VERSION, "MCP-Protocol-Version")? == Some(STATELESS);
    let session = single(headers, &SESSION_HEAD, "Mcp-Session-Id")?;
    session.filter(|_| !stateless).ok_or(Fault::MethodNotAllowed)
}

fn is_stateless(message: &Message) -> bool {
    let said = message.said().and_then(|said| said.get(VERSION));
    message.version() == Some(STATELESS) || said.is_some_and(|version| version == STATELESS)
}

/// The headers that repeat the body: the sidecar compares them with it.
fn repeated(headers: &HeaderMap) -> Result<HeaderMap, Fault> {
    let mut said = HeaderMap::new();
    for (header, name) in [(VERSION, "MCP-Protocol-Version"), (METHOD, "Mcp-Method"), (NAME, "Mcp-Name")] {
        single(headers, &header, name)?;
        said.extend(headers.get(&header).map(|value| (header, value.clone())));
    }
    let params = headers.iter().filter(|(name, _)| name.as_str().starts_with(PARAM_PREFIX));
    // One that came twice goes on twice, and the sidecar refuses it.
    params.for_each(|(name, value)| {
        said.append(name, value.clone());
    });
    Ok(said)
}

fn check_content(headers: &HeaderMap) -> Result<(), Fault> {
    let said = single(headers, &CONTENT_TYPE, "Content-Type")?.unwrap_or_default();
    let mut parts = said.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.all(|parameter| parameter.eq_ignore_ascii_case("charset=utf-8"));
    let is_plain = !headers.contains_key(CONTENT_ENCODING);
    if is_json && is_utf8 && is_plain { Ok(()) } else { Err(Fault::ContentType) }
}

/// The server chooses how it answers, so a client takes both (MCP, transports).
fn check_accepts(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Fault> {
    let said: Vec<String> = headers
        .get_all(ACCEPT)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|part| Some(part.split(';').next()?.trim().to_ascii_lowercase()))
        .collect();
    let takes = |wanted: &&str| {
        let family = wanted.split('/').next().unwrap_or_default();
        said.iter().any(|said| said == wanted || said == "*/*" || *said == format!("{family}/*"))
    };
    if wanted.iter().all(takes) { Ok(()) } else { Err(Fault::NotAcceptable) }
}

async fn read(body: Incoming) -> Result<Bytes, Fault> {
    match tokio::time::timeout(BODY_TIMEOUT, Limited::new(body, MAX_LINE_BYTES).collect()).await {
        Err(_) => Err(Fault::BodyTooSlow),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(Fault::BodyTooLarge),
        Ok(Err(_)) => Err(Fault::BodyBroken),
        Ok(Ok(body)) => Ok(body.to_bytes()),
    }
}

fn accepted(taken: Result<(), Refused>) -> Response<Body> {
    match taken {
        Ok(()) => with(StatusCode::ACCEPTED, Body::whole("")),
        Err(refused) => {
            let status = StatusCode::from_u16(refused.http_status()).unwrap_or(StatusCode::BAD_GATEWAY);
            json(status, refused.error_without_id())
        }
    }
}

fn refused(fault: &Fault) -> Response<Body> {
    let mut response = json(fault.status(), fault.body());
    let (name, value) = match fault {
        Fault::SecretWrong => (header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        Fault::MethodNotAllowed => (header::ALLOW, HeaderValue::from_static("POST, GET, DELETE")),
        Fault::TooManyCalls => (header::RETRY_AFTER, HeaderValue::from_static("1")),
        // What of a body was not read would be taken for the next request.
        _ => (header::CONNECTION, HeaderValue::from_static("close")),
    };
    response.headers_mut().insert(name, value);
    response
}

fn json(status: StatusCode, body: Vec<u8>) -> Response<Body> {
    let mut response = with(status, Body::whole(body));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn streamed(events: Events) -> Response<Body> {
    stream_of(Body::Events(events))
}

fn stream_of(body: Body) -> Response<Body> {
    let mut response = with(StatusCode::OK, body);
    let heads = response.headers_mut();
    heads.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    heads.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

fn with(status: StatusCode, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}
