//! The admin port: `/livez`, `/readyz`, `/metrics`. It is not the port of keys and lists, and shows no secret.

use std::{
    fmt::Write,
    sync::{Arc, atomic::Ordering},
};

use axum::{
    Router,
    body::Body,
    extract::State,
    http::{
        HeaderValue, Method, StatusCode, Uri,
        header::{CACHE_CONTROL, CONTENT_TYPE},
    },
    response::Response,
};
use pact_mandate::UnixTime;
use tokio::sync::watch;

use super::{
    Asked,
    health::{Health, Look, PUBLISHER_ENDED},
};

/// What the admin port looks at.
#[derive(Clone, Debug)]
pub(super) struct Admin {
    pub(super) look: watch::Receiver<Look>,
    pub(super) asked: Arc<Asked>,
    pub(super) clock: fn() -> UnixTime,
}

impl Admin {
    /// Whether the publisher's thread goes on: it alone holds the other end, and lets go of it however it ends.
    fn publishes(&self) -> bool {
        self.look.has_changed().is_ok()
    }
}

pub(super) fn router(admin: Admin) -> Router {
    Router::new().fallback(answer).with_state(admin)
}

async fn answer(State(admin): State<Admin>, method: Method, uri: Uri) -> Response {
    const TEXT: &str = "text/plain; charset=utf-8";
    if method != Method::GET {
        return plain(StatusCode::METHOD_NOT_ALLOWED, TEXT, "GET only\n".to_owned());
    }
    let publishes = admin.publishes();
    let health = Health::judge(&admin.look.borrow(), publishes, (admin.clock)());
    match uri.path() {
        "/livez" if publishes => plain(StatusCode::OK, TEXT, "alive\n".to_owned()),
        "/livez" => plain(StatusCode::SERVICE_UNAVAILABLE, TEXT, format!("{PUBLISHER_ENDED}\n")),
        "/readyz" => {
            let status = if health.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
            // Texts, numbers and lists of them always serialise.
            let json = serde_json::to_string_pretty(&health).unwrap_or_default() + "\n";
            plain(status, "application/json", json)
        }
        "/metrics" => plain(StatusCode::OK, "text/plain; version=0.0.4", metrics(&health, &admin.asked)),
        _ => plain(StatusCode::NOT_FOUND, TEXT, "/livez, /readyz and /metrics are here\n".to_owned()),
    }
}

const HELP: [(&str, &str, &str); 8] = [
    ("pact_issuer_ready", "gauge", "1 when all parts of /readyz are in order"),
    ("pact_issuer_list_version", "gauge", "Number of our list"),
    ("pact_issuer_journal_lines", "gauge", "Lines of the journal"),
    ("pact_issuer_journal_bytes", "gauge", "Bytes of the journal"),
    ("pact_issuer_publish_failures_total", "counter", "Tries to publish that failed"),
    ("pact_issuer_list_age_seconds", "gauge", "Seconds since the lists were signed"),
    ("pact_issuer_keys", "gauge", "Published keys by role and state"),
    ("pact_issuer_requests_total", "counter", "Requests for keys and lists by outcome"),
];

/// The Prometheus text format: what a name means, then its values.
fn metrics(health: &Health, asked: &Asked) -> String {
    let counters =
        [("found", &asked.found), ("not_modified", &asked.not_modified), ("refused", &asked.refused)];
    let requests = counters.map(|(outcome, counter)| {
        let labels = format!("{{outcome=\"{outcome}\"}}");
        ("pact_issuer_requests_total", labels, counter.load(Ordering::Relaxed))
    });
    let samples: Vec<_> = health.samples().into_iter().chain(requests).collect();
    let mut text = String::new();
    for (name, kind, help) in HELP {
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (_, labels, value) in samples.iter().filter(|(of, ..)| *of == name) {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    }
    text
}

fn plain(status: StatusCode, kind: &'static str, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
