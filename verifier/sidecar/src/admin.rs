//! The admin port: `/livez`, `/readyz`, `/metrics`, the receipt key. It is not the traffic port, and nothing on it lets a call through.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};

use crate::{answer::AnswerBody, gate::Gate, health::Health, hosts::Hosts};

/// Answers a request of the admin port.
pub(crate) async fn answer<B>(
    gate: Arc<Gate>,
    hosts: Arc<Hosts>,
    request: Request<B>,
) -> Response<AnswerBody> {
    if let Err(fault) = hosts.check(request.headers()) {
        return text(StatusCode::MISDIRECTED_REQUEST, format!("{fault}\n"));
    }
    if request.method() != Method::GET {
        return text(StatusCode::METHOD_NOT_ALLOWED, "GET only\n");
    }
    match request.uri().path() {
        "/livez" => alive(&gate),
        "/readyz" => ready(&gate).await,
        "/metrics" => {
            // Looking is what brings the gauges of lists and keys up to date.
            Health::look(&gate).await;
            text(StatusCode::OK, gate.metrics.render())
        }
        "/.well-known/pact-receipt-keys.json" => receipt_keys(&gate),
        _ => text(StatusCode::NOT_FOUND, "/livez, /readyz and /metrics are here\n"),
    }
}

/// A part that has died comes back by a restart alone, and who asks here is who restarts.
fn alive(gate: &Gate) -> Response<AnswerBody> {
    match gate.died.check() {
        Ok(()) => text(StatusCode::OK, "alive\n"),
        Err(fault) => text(StatusCode::SERVICE_UNAVAILABLE, format!("{fault}\n")),
    }
}

/// The public half of the key that signs receipts (protocol K1), for whoever checks them.
fn receipt_keys(gate: &Gate) -> Response<AnswerBody> {
    let Some(document) = gate.receipts.published() else {
        return text(StatusCode::NOT_FOUND, "receipts are off\n");
    };
    let mut response = text(StatusCode::OK, document.to_owned());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

async fn ready(gate: &Arc<Gate>) -> Response<AnswerBody> {
    let health = Health::look(gate).await;
    let status = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    // Texts, numbers and maps of texts always serialise.
    let mut response = text(status, serde_json::to_string_pretty(&health).unwrap_or_default() + "\n");
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<AnswerBody> {
    let mut response = Response::new(Full::new(body.into()).map_err(|never| match never {}).boxed_unsync());
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
