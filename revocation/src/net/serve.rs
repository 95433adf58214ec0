//! The server of lists and key sets: the same bytes that are published as files, with the headers that verifiers and
//! browsers expect (protocol R2, board rules 5.4, 5.5).

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::{
    Router,
    body::Body,
    extract::State,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};

use crate::files::{FileKind, PublishedFile, PublishedFiles};

/// Tells a list's number.
pub const VERSION_HEADER: HeaderName = HeaderName::from_static("x-pact-revocations-version");

const NOT_FOUND: &str = r#"{"error":"not_found","message":"nothing is published at this path"}"#;
const METHOD_NOT_ALLOWED: &str = r#"{"error":"method_not_allowed","message":"only GET and HEAD are served"}"#;

/// The files that are served at the moment: the same ones through every clone.
#[derive(Clone, Debug)]
pub struct Served(Arc<ArcSwap<PublishedFiles>>);

impl Served {
    /// Begins with these.
    pub fn new(files: PublishedFiles) -> Served {
        Served(Arc::new(ArcSwap::from_pointee(files)))
    }

    /// From now on these.
    pub fn publish(&self, files: PublishedFiles) {
        self.0.store(Arc::new(files));
    }

    /// Those of this moment.
    pub fn files(&self) -> Arc<PublishedFiles> {
        self.0.load_full()
    }
}

/// One handler for every path: what is published there, or 404. Nothing is signed on request.
pub fn router(served: Served) -> Router {
    Router::new().fallback(answer).with_state(served)
}

async fn answer(State(served): State<Served>, method: Method, uri: Uri, asked: HeaderMap) -> Response {
    if method != Method::GET && method != Method::HEAD {
        let allow = [(header::ALLOW, HeaderValue::from_static("GET, HEAD"))];
        return (allow, refused(StatusCode::METHOD_NOT_ALLOWED, METHOD_NOT_ALLOWED)).into_response();
    }
    let path = uri.path();
    match served.0.load().get(path.strip_prefix('/').unwrap_or(path)) {
        Some(file) => found(file, &asked),
        None => refused(StatusCode::NOT_FOUND, NOT_FOUND),
    }
}

fn found(file: &PublishedFile, asked: &HeaderMap) -> Response {
    let etag = file.etag();
    let headers = headers_of(file, &etag);
    if holds(asked, &etag) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let kind = [(header::CONTENT_TYPE, HeaderValue::from_static(file.content_type()))];
    (headers, kind, Body::from(Bytes::from_owner(Arc::clone(file.bytes())))).into_response()
}

fn headers_of(file: &PublishedFile, etag: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    // Both are plain ASCII, so neither is ever left out.
    for (name, value) in [(header::CACHE_CONTROL, &*file.cache_control()), (header::ETAG, etag)] {
        if let Ok(value) = HeaderValue::try_from(value) {
            headers.insert(name, value);
        }
    }
    if let FileKind::List { version, .. } = file.kind() {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from(VERSION_HEADER));
        headers.insert(VERSION_HEADER, HeaderValue::from(version.get()));
    }
    headers
}

/// RFC 9110 13.1.2: any of the tags that the caller holds, or `*`; weak ones compare the same here.
fn holds(asked: &HeaderMap, etag: &str) -> bool {
    let held = asked.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    held.flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn refused(status: StatusCode, body: &'static str) -> Response {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*")),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    (status, headers, body).into_response()
}
