//! A tool server that runs somewhere, over streamable HTTP.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::Full;
use hyper_rustls::HttpsConnectorBuilder;
use hyper_util::client::legacy::connect::HttpConnector;
use tokio::net::TcpStream;

use super::{
    Outgoing,
    pool::{Pool, PooledBody},
};
use crate::{
    config::HttpUrl,
    fault::UpstreamFault,
    header::{LAST_EVENT_ID, SESSION},
};

pub(super) struct HttpServer {
    pool: Pool,
    url: HttpUrl,
    connect_timeout: Duration,
}

impl HttpServer {
    /// Connects to nothing yet. `tls` is asked only for an `https` URL.
    pub(super) fn new(url: HttpUrl, connect_timeout: Duration, tls: rustls::ClientConfig) -> HttpServer {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(connect_timeout));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let pool = Pool::new(connector, url.uri().clone());
        HttpServer { pool, url, connect_timeout }
    }

    /// Closes connections that nobody has used for too long.
    pub(super) fn let_go_of_idle(&self) {
        self.pool.let_go();
    }

    /// Dropping the future or the answer's body closes the connection.
    pub(super) async fn send(&self, outgoing: Outgoing) -> Result<Response<PooledBody>, UpstreamFault> {
        let request_id = outgoing.request_id;
        self.pool.request(HttpServer::request(outgoing)).await.map_err(|error| {
            tracing::warn!(%request_id, error = %chain(&error), "the tool server gave no answer");
            UpstreamFault::Unreachable
        })
    }

    fn request(outgoing: Outgoing) -> Request<Full<Bytes>> {
        let is_post = outgoing.method == Method::POST;
        let mut request = Request::new(Full::from(outgoing.body));
        *request.method_mut() = outgoing.method;
        *request.headers_mut() = outgoing.headers;
        let headers = request.headers_mut();
        if is_post {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(session) =
            outgoing.leg.session().and_then(|session| HeaderValue::try_from(session.as_str()).ok())
        {
            headers.insert(SESSION, session);
        }
        if let Some(id) = outgoing.last_event_id.and_then(|id| HeaderValue::try_from(id).ok()) {
            headers.insert(LAST_EVENT_ID, id);
        }
        request
    }

    /// Whether something listens there now.
    pub(super) async fn probe(&self) -> Result<(), UpstreamFault> {
        let uri = self.url.uri();
        let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let host = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        match tokio::time::timeout(self.connect_timeout, TcpStream::connect((host, port))).await {
            Ok(Ok(_)) => Ok(()),
            _ => Err(UpstreamFault::Unreachable),
        }
    }
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
