//! The server of lists: the same bytes that are published as files, with the headers that verifiers and browsers expect.

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::{
    Json, Router,
    extract::{Path, State},
    response::{IntoResponse, Response},
    routing::get,
};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde_json::json;

use crate::files::{FileKind, PUBLISHED_AT, PublishedFile, PublishedFiles};

/// Tells a list's number.
pub const VERSION_HEADER: HeaderName = HeaderName::from_static("x-pact-revocations-version");

/// The files that are served at the moment; storing a new value publishes it.
pub type Served = Arc<ArcSwap<PublishedFiles>>;

/// Serves `/.well-known/pact-revocations/{tenuo,biscuit,pact}` and the bodies below `pact/`. Nothing is signed on request.
pub fn router(files: Served) -> Router {
    Router::new().route(&format!("{PUBLISHED_AT}{{*path}}"), get(answer)).with_state(files)
}

async fn answer(State(files): State<Served>, Path(path): Path<String>, request: HeaderMap) -> Response {
    let files = files.load();
    // A web server that serves the folder answers to both spellings.
    let path = path.strip_suffix('/').unwrap_or(&path);
    let Some(file) = files.get(path) else { return not_found() };
    let headers = headers_of(file);
    if matches(&request, &file.etag()) {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let content_type = HeaderValue::from_static(file.content_type());
    (headers, [(header::CONTENT_TYPE, content_type)], Bytes::from_owner(Arc::clone(file.bytes())))
        .into_response()
}

fn headers_of(file: &PublishedFile) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(file.cache_control()));
    if let Ok(etag) = HeaderValue::try_from(file.etag()) {
        headers.insert(header::ETAG, etag);
    }
    if let FileKind::List { version, .. } = file.kind() {
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from(VERSION_HEADER));
        headers.insert(VERSION_HEADER, HeaderValue::from(version.get()));
    }
    headers
}

/// RFC 9110 13.1.2: any of the listed tags, or `*`; weak ones compare the same here.
fn matches(request: &HeaderMap, etag: &str) -> bool {
    let listed = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    listed
        .flat_map(|value| value.split(','))
        .map(str::trim)
        .any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn not_found() -> Response {
    let allow = [(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))];
    let body = json!({ "error": "not_found", "message": "no list or body of this name is published here" });
    (StatusCode::NOT_FOUND, allow, Json(body)).into_response()
}
