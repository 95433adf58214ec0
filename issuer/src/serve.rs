//! Serves what [`crate::publish`] renders: the same bytes, with validators and CORS (board rules 5.4, 5.5, protocol R2).
//! Beside it, on a port of its own, how all of that goes.

mod admin;
mod health;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{
        HeaderMap, Method, StatusCode, Uri,
        header::{
            ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
            ETAG, IF_NONE_MATCH,
        },
    },
    response::Response,
};
use pact_mandate::UnixTime;
use tokio::{net::TcpListener, sync::watch};

use crate::{
    limits::WATCH_MILLISECONDS,
    publish::{Document, Documents, Kind, PublishError, Publisher},
    serve::{admin::Admin, health::Look},
};

const VERSION_HEADER: &str = "x-pact-revocations-version";
const NOT_FOUND: &str = r#"{"error":"not_found","message":"nothing is published at this path"}"#;
const METHOD_NOT_ALLOWED: &str = r#"{"error":"method_not_allowed","message":"only GET and HEAD are served"}"#;

/// The documents of this moment, and how often they were asked for.
#[derive(Clone, Debug)]
struct Site {
    latest: watch::Receiver<Arc<Documents>>,
    asked: Arc<Asked>,
}

/// Requests, by their answer.
#[derive(Debug, Default)]
struct Asked {
    found: AtomicU64,
    not_modified: AtomicU64,
    refused: AtomicU64,
}

/// Where to listen: for verifiers, and for those who look after this server.
#[derive(Debug)]
pub struct Ports {
    /// Keys and lists.
    pub public: TcpListener,
    /// `/livez`, `/readyz`, `/metrics`.
    pub admin: Option<TcpListener>,
}

impl From<TcpListener> for Ports {
    fn from(public: TcpListener) -> Ports {
        Ports { public, admin: None }
    }
}

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The first documents could not be made.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The socket.
    #[error("the server stopped: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves until `shutdown` is ready. Signs anew every ten seconds, and within a second of a change by another process.
pub async fn run(
    ports: impl Into<Ports>,
    mut publisher: Publisher,
    clock: fn() -> UnixTime,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let ports = ports.into();
    let first = publisher.documents(clock())?;
    let (looks, look) = watch::channel(Look::first(&publisher, clock()));
    let (sender, latest) = watch::channel(Arc::new(first));
    let site = Site { latest, asked: Arc::default() };
    let admin = ports.admin.map(|listener| {
        let admin = Admin { look, asked: Arc::clone(&site.asked), clock };
        tokio::spawn(axum::serve(listener, admin::router(admin)).into_future())
    });
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    // Signing waits for the disk, so it has a thread of its own.
    let worker = std::thread::spawn(move || {
        while !stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(WATCH_MILLISECONDS));
            publish_again(&mut publisher, &sender, &looks, clock());
        }
    });
    let served = axum::serve(ports.public, router(site)).with_graceful_shutdown(shutdown).await;
    stop.store(true, Ordering::Relaxed);
    if let Some(admin) = admin {
        admin.abort();
    }
    let _ = tokio::task::spawn_blocking(move || worker.join()).await;
    Ok(served?)
}

fn publish_again(
    publisher: &mut Publisher,
    documents: &watch::Sender<Arc<Documents>>,
    looks: &watch::Sender<Look>,
    now: UnixTime,
) {
    let result = publisher.documents(now);
    looks.send_modify(|look| look.again(publisher, result.as_ref().err(), now));
    match result {
        Ok(new) => drop(documents.send_replace(Arc::new(new))),
        // The lists age on: verifiers refuse before they would miss a revocation.
        Err(error) => tracing::error!(%error, "nothing new could be published; trying again"),
    }
}

/// One handler for every path: what is published there, or 404.
fn router(site: Site) -> Router {
    Router::new().fallback(answer).with_state(site)
}

async fn answer(State(site): State<Site>, method: Method, uri: Uri, headers: HeaderMap) -> Response {
    let response = published(&site.latest, &method, &uri, &headers);
    site.asked.count(response.status());
    response
}

fn published(
    latest: &watch::Receiver<Arc<Documents>>,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Response {
    if method != Method::GET && method != Method::HEAD {
        return plain(StatusCode::METHOD_NOT_ALLOWED, METHOD_NOT_ALLOWED);
    }
    let documents = Arc::clone(&latest.borrow());
    let path = uri.path();
    match documents.get(path.strip_prefix('/').unwrap_or(path)) {
        Some(document) => found(document, headers),
        None => plain(StatusCode::NOT_FOUND, NOT_FOUND),
    }
}

fn found(document: &Document, asked: &HeaderMap) -> Response {
    let mut response = Response::builder()
        .header(ACCESS_CONTROL_ALLOW_ORIGIN, "*")
        .header(CACHE_CONTROL, document.cache_control())
        .header(ETAG, document.etag.as_str());
    if let Kind::List { version, .. } = document.kind {
        response = response
            .header(ACCESS_CONTROL_EXPOSE_HEADERS, VERSION_HEADER)
            .header(VERSION_HEADER, version.get());
    }
    let response = if holds(asked, &document.etag) {
        response.status(StatusCode::NOT_MODIFIED).body(Body::empty())
    } else {
        let bytes = axum::body::Bytes::from_owner(Arc::clone(&document.bytes));
        response.header(CONTENT_TYPE, document.content_type()).body(Body::from(bytes))
    };
    response.unwrap_or_else(|_| plain(StatusCode::INTERNAL_SERVER_ERROR, NOT_FOUND))
}

impl Asked {
    fn count(&self, status: StatusCode) {
        let counter = match status {
            StatusCode::OK => &self.found,
            StatusCode::NOT_MODIFIED => &self.not_modified,
            _ => &self.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// RFC 9110 13.1.2: any of the validators that the caller holds, compared weakly.
fn holds(asked: &HeaderMap, etag: &str) -> bool {
    let held = asked.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    held.flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.trim_start_matches("W/") == etag)
}

fn plain(status: StatusCode, body: &'static str) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, axum::http::HeaderValue::from_static("application/json"));
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, axum::http::HeaderValue::from_static("*"));
    headers.insert(CACHE_CONTROL, axum::http::HeaderValue::from_static("no-store"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, axum::http::HeaderValue::from_static("GET, HEAD"));
    }
    response
}
