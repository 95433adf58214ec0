//! The tool server behind. Nothing reaches it but what a [`Passage`] or a [`Deed`] holds, and each of them once.

use std::{pin::pin, sync::Arc};

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::net::TcpStream;

use crate::{
    answer::{Answer, AnswerBody, Events, Expected, Inspect, LastWord, Reply, Skim},
    config::UpstreamConfig,
    fault::{Fault, UpstreamFault},
    header::{ACCEL_BUFFERING, LAST_EVENT_ID, SESSION, to_caller, to_upstream},
    lifeline::Lifeline,
    mcp::RpcId,
    passage::{Deed, Passage},
    pool::{Pool, PooledBody},
    request_id::RequestId,
    respond,
    session::{Leg, SessionBook, SessionId},
};

/// The tool server.
pub(crate) struct Upstream {
    pool: Pool,
    config: UpstreamConfig,
    sessions: Arc<SessionBook>,
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
    /// Connects to nothing yet. `tls` is asked only for an `https` URL.
    pub(crate) fn new(
        config: UpstreamConfig,
        tls: rustls::ClientConfig,
        sessions: Arc<SessionBook>,
    ) -> Upstream {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(config.connect_timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Upstream { pool: Pool::new(connector, config.url.uri().clone()), config, sessions }
    }

    /// Closes connections that have idled for too long.
    pub(crate) fn upkeep(&self) {
        self.pool.let_go();
    }

    /// Sends one message and hands back the answer as it comes, watched by `lifeline` to its end.
    /// Dropping the future or the answer's body closes the connection to the tool server.
    pub(crate) async fn forward(
        &self,
        passage: Passage,
        leg: Leg,
        headers: &HeaderMap,
        lifeline: Lifeline,
        request_id: RequestId,
    ) -> Result<Response<AnswerBody>, Fault> {
        // Whatever comes of it: one permit, one forwarded call.
        let (body, id) = passage.use_up();
        let request = Upstream::request(Method::POST, headers, leg.session(), body);
        let asked = Asked { reply: Reply::To(id.clone()), leg, id, is_stream: false, request_id };
        self.send(request, asked, lifeline).await
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
        let mut request = Upstream::request(method, headers, Some(&session), body);
        let reply = if last_event_id.is_some() { Reply::Earlier } else { Reply::To(None) };
        if let Some(id) = last_event_id.and_then(|id| HeaderValue::try_from(id).ok()) {
            request.headers_mut().insert(LAST_EVENT_ID, id);
        }
        let leg = Leg::In(session.clone());
        let answer =
            self.send(request, Asked { leg, id: None, reply, is_stream, request_id }, lifeline).await?;
        if ends && answer.status().is_success() {
            self.sessions.end(&session);
        }
        Ok(answer)
    }

    async fn send(
        &self,
        request: Request<Full<Bytes>>,
        asked: Asked,
        lifeline: Lifeline,
    ) -> Result<Response<AnswerBody>, Fault> {
        let answer = lifeline.wait(self.config.answer_timeout, pin!(self.pool.request(request))).await?;
        let answer = answer.map_err(|error| {
            tracing::warn!(request_id = %asked.request_id, error = %chain(&error), "the tool server gave no answer");
            UpstreamFault::Unreachable
        })?;
        self.pass(answer, lifeline, asked).await
    }

    fn request(
        method: Method,
        headers: &HeaderMap,
        session: Option<&SessionId>,
        body: Bytes,
    ) -> Request<Full<Bytes>> {
        let is_post = method == Method::POST;
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = method;
        *request.headers_mut() = to_upstream(headers);
        let headers = request.headers_mut();
        if is_post {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        // MCP servers refuse a request that does not name both kinds of answer; a caller who says nothing, or that it takes
        // anything, takes either.
        if headers.get(header::ACCEPT).is_none_or(|said| said == "*/*") {
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
        if let Some(session) = session.and_then(|session| HeaderValue::try_from(session.as_str()).ok()) {
            headers.insert(SESSION, session);
        }
        request
    }

    async fn pass(
        &self,
        answer: Response<PooledBody>,
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
            Kind::Opaque => (Inspect::Opaque, LastWord::None),
        };
        let first = match inspect {
            Inspect::Json { .. } => self.first_part(&mut body, &lifeline).await?,
            Inspect::Events(..) | Inspect::Opaque => None,
        };
        // While the head has not gone out, there is a better answer than to break off.
        first.as_ref().map_or(Ok(()), |first| inspect.take(first)).map_err(|stop| stop.fault)?;
        let idle = (!asked.is_stream).then_some(self.config.idle_timeout);
        let answer = Answer::new(body, lifeline, idle, last_word, inspect).after(first);
        let mut response = Response::new(answer.boxed_unsync());
        *response.status_mut() = head.status;
        *response.headers_mut() = headers;
        Ok(response)
    }

    /// The first bytes of an answer of JSON, which most often are all.
    async fn first_part(&self, body: &mut PooledBody, lifeline: &Lifeline) -> Result<Option<Bytes>, Fault> {
        match lifeline.wait(self.config.answer_timeout, pin!(body.frame())).await? {
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

    /// Whether something listens there now.
    pub(crate) async fn probe(&self) -> Result<(), UpstreamFault> {
        let uri = self.config.url.uri();
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        match tokio::time::timeout(self.config.connect_timeout, TcpStream::connect((host, port))).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(UpstreamFault::Unreachable),
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
    if is_event_stream(headers) {
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

/// An error and its causes, for the log.
fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (*cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

/// TLS towards tool servers and issuers: the roots of Mozilla's programme, ring's arithmetic.
pub(crate) fn tls() -> Result<rustls::ClientConfig, rustls::Error> {
    use hyper_rustls::ConfigBuilderExt;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        rustls::ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions()?;
    Ok(builder.with_webpki_roots().with_no_client_auth())
}
