//! `POST /reissue`: a signed request in, a credential out. One thread reads, judges and signs; past a bound nobody waits for it.

use std::{sync::mpsc, time::Duration};

use axum::{
    Router,
    body::{Body, to_bytes},
    extract::State,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use pact_mandate::UnixTime;
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    export::Credential,
    limits::{MAX_REISSUE_BYTES, MAX_REISSUES_WAITING, REISSUE_BODY_SECONDS, REISSUE_SKEW_SECONDS},
    reissue::{Desk, ReissueRefusal},
    store::{NotExported, Store},
};

/// Where holders ask.
const PATH: &str = "/reissue";

type Answer = Result<Credential, ReissueRefusal>;

struct Ask {
    bytes: Vec<u8>,
    answer: oneshot::Sender<Answer>,
}

/// Opens a desk over the data folder, in a thread that ends with the router.
pub(super) fn router(mut store: Store, mut desk: Desk, clock: fn() -> UnixTime) -> std::io::Result<Router> {
    let (asks, asked) = mpsc::sync_channel::<Ask>(MAX_REISSUES_WAITING);
    std::thread::Builder::new().name("reissue".to_owned()).spawn(move || {
        for Ask { bytes, answer } in asked {
            // Whoever went away needs no credential.
            if !answer.is_closed() {
                let _ = answer.send(desk.serve(&mut store, &bytes, clock()));
            }
        }
    })?;
    Ok(Router::new().route(PATH, post(ask)).with_state(asks))
}

async fn ask(State(asks): State<mpsc::SyncSender<Ask>>, body: Body) -> Response {
    let body =
        tokio::time::timeout(Duration::from_secs(REISSUE_BODY_SECONDS), to_bytes(body, MAX_REISSUE_BYTES));
    let bytes = match body.await {
        Err(_) => {
            return error(
                StatusCode::REQUEST_TIMEOUT,
                "body_too_slow",
                "the body did not arrive in time",
                None,
            );
        }
        Ok(Err(_)) => {
            let message = format!("the body broke off, or is longer than {MAX_REISSUE_BYTES} bytes");
            return error(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", &message, None);
        }
        Ok(Ok(bytes)) => bytes.to_vec(),
    };
    let (answer, answered) = oneshot::channel();
    if asks.try_send(Ask { bytes, answer }).is_err() {
        let message = "too many requests wait; ask again later";
        return error(StatusCode::SERVICE_UNAVAILABLE, "busy", message, Some(REISSUE_SKEW_SECONDS));
    }
    match answered.await {
        Ok(Ok(credential)) => granted(&credential),
        Ok(Err(refusal)) => refused(&refusal),
        // The thread is gone: nothing will be answered until the process is started again.
        Err(_) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, "internal", "the request could not be judged", None)
        }
    }
}

fn granted(credential: &Credential) -> Response {
    let record = credential.record();
    tracing::info!(mandate = %record.mandate, format = %record.format, "a credential was made anew");
    let body = json!({
        "format": record.format,
        "mandate": record.mandate,
        "expires_at": record.expires_at,
        "external_id": record.id(),
        "credential": credential.text(),
    });
    answer(StatusCode::OK, &body, None)
}

fn refused(refusal: &ReissueRefusal) -> Response {
    let (status, code, later) = on_the_wire(refusal);
    tracing::warn!(code, %refusal, "no credential was made anew");
    let ours = status.is_server_error().then_some("no credential could be made; the operator's log says why");
    match ours {
        Some(message) => error(status, code, message, later),
        None => error(status, code, &refusal.to_string(), later),
    }
}

/// The one mapping of a refusal to status, code and the seconds after which to ask again.
fn on_the_wire(refusal: &ReissueRefusal) -> (StatusCode, &'static str, Option<u64>) {
    match refusal {
        ReissueRefusal::Malformed(_) => (StatusCode::BAD_REQUEST, "malformed", None),
        ReissueRefusal::NotProven => (StatusCode::UNAUTHORIZED, "not_proven", None),
        ReissueRefusal::OtherIssuer(_) => (StatusCode::UNAUTHORIZED, "other_issuer", None),
        ReissueRefusal::TooOld { .. } => (StatusCode::UNAUTHORIZED, "too_old", None),
        ReissueRefusal::FromTheFuture { .. } => (StatusCode::UNAUTHORIZED, "from_the_future", None),
        ReissueRefusal::Replayed => (StatusCode::UNAUTHORIZED, "replayed", None),
        ReissueRefusal::NotRegistered => (StatusCode::FORBIDDEN, "not_registered", None),
        ReissueRefusal::CredentialRevoked { .. }
        | ReissueRefusal::NotExported(NotExported::Chain(_) | NotExported::HolderRevoked(_)) => {
            (StatusCode::FORBIDDEN, "not_live", None)
        }
        ReissueRefusal::TooMany { seconds } => (StatusCode::TOO_MANY_REQUESTS, "too_many", Some(*seconds)),
        ReissueRefusal::BeforeStart => {
            (StatusCode::SERVICE_UNAVAILABLE, "before_start", Some(REISSUE_SKEW_SECONDS))
        }
        ReissueRefusal::ClockSetBack { .. } => {
            (StatusCode::SERVICE_UNAVAILABLE, "clock_set_back", Some(REISSUE_SKEW_SECONDS))
        }
        ReissueRefusal::Full => (StatusCode::SERVICE_UNAVAILABLE, "full", Some(REISSUE_SKEW_SECONDS)),
        ReissueRefusal::NotExported(_) => (StatusCode::INTERNAL_SERVER_ERROR, "not_exported", None),
    }
}

fn error(status: StatusCode, code: &str, message: &str, later: Option<u64>) -> Response {
    answer(status, &json!({ "error": { "code": code, "message": message } }), later)
}

fn answer(status: StatusCode, body: &serde_json::Value, later: Option<u64>) -> Response {
    let mut response = (status, body.to_string()).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(seconds) = later {
        headers.insert(header::RETRY_AFTER, seconds.into());
    }
    response
}
