//! The tool server behind. Nothing reaches it but what a [`Passage`] holds, and each of them once.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};
use tokio::net::TcpStream;

use crate::{
    answer::{Answer, AnswerBody, LastWord},
    config::UpstreamConfig,
    fault::{Fault, UpstreamFault},
    header::{ACCEL_BUFFERING, to_caller, to_upstream},
    lifeline::Lifeline,
    limits::{POOL_CONNECTIONS, POOL_IDLE},
    mcp::RpcId,
    passage::Passage,
    request_id::RequestId,
    respond,
};

/// The tool server.
pub(crate) struct Upstream {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    config: UpstreamConfig,
}

impl Upstream {
    /// Connects to nothing yet. `tls` is asked only for an `https` URL.
    pub(crate) fn new(config: UpstreamConfig, tls: rustls::ClientConfig) -> Upstream {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(config.connect_timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOL_IDLE)
            .pool_max_idle_per_host(POOL_CONNECTIONS)
            .build(connector);
        Upstream { client, config }
    }

    /// Sends one message and hands back the answer as it comes, watched by `lifeline` to its end.
    /// Dropping the future or the answer's body closes the connection to the tool server.
    pub(crate) async fn forward(
        &self,
        passage: Passage,
        headers: &HeaderMap,
        lifeline: Lifeline,
        request_id: RequestId,
    ) -> Result<Response<AnswerBody>, Fault> {
        // Whatever comes of it: one permit, one forwarded call.
        let (body, id) = passage.use_up();
        let request = self.request(headers, body);
        let limit = self.config.answer_timeout;
        let answer = tokio::select! {
            answer = tokio::time::timeout(limit, self.client.request(request)) => answer,
            fault = lifeline.ended() => return Err(fault),
        };
        let answer = answer.map_err(|_| UpstreamFault::TooSlow { limit })?.map_err(|error| {
            tracing::warn!(%request_id, error = %chain(&error), "the tool server gave no answer");
            UpstreamFault::Unreachable
        })?;
        Ok(self.pass(answer, lifeline, id, request_id)?)
    }

    fn request(&self, headers: &HeaderMap, body: Bytes) -> Request<Full<Bytes>> {
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.config.url.uri().clone();
        *request.headers_mut() = to_upstream(headers);
        let headers = request.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // MCP servers refuse a request that does not name both kinds of answer; a caller who says nothing, or that it takes
        // anything, takes either.
        if headers.get(header::ACCEPT).is_none_or(|said| said == "*/*") {
            headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        }
        request
    }

    fn pass(
        &self,
        answer: Response<Incoming>,
        lifeline: Lifeline,
        id: Option<RpcId>,
        request_id: RequestId,
    ) -> Result<Response<AnswerBody>, UpstreamFault> {
        let (head, body) = answer.into_parts();
        if head.status.is_redirection() && head.status != StatusCode::NOT_MODIFIED {
            return Err(UpstreamFault::Redirected);
        }
        if head.headers.contains_key(header::CONTENT_ENCODING) {
            return Err(UpstreamFault::Encoded);
        }
        let mut headers = to_caller(&head.headers);
        let last_word = if is_event_stream(&headers) {
            headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
            LastWord::Event(Box::new(move |fault| respond::error_message(fault, id.as_ref(), request_id)))
        } else {
            LastWord::None
        };
        let answer = Answer::new(body, lifeline, self.config.idle_timeout, last_word);
        let mut response = Response::new(answer.boxed_unsync());
        *response.status_mut() = head.status;
        *response.headers_mut() = headers;
        Ok(response)
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
