//! Requests that go nowhere, and the one place that says how they are answered.

use http::StatusCode;
use serde_json::json;

use super::super::message::LineFault;
use crate::limits::{BODY_TIMEOUT, MAX_IN_FLIGHT, MAX_LINE_BYTES};

/// Why a request goes nowhere.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Fault {
    #[error("Host must be this bridge's own address with its port; this one names another place")]
    HostNotAllowed,
    #[error("the web page of that Origin may not call; `allowed_origins` of [listen] names those that may")]
    OriginNotAllowed,
    #[error(
        "the local secret is missing or wrong: it stands in the address, /SECRET/mcp, or in Authorization: Bearer"
    )]
    SecretWrong,
    #[error("there is nothing here but the path of MCP")]
    NoSuchPath,
    #[error("POST takes a message; GET and DELETE are for a session, named by Mcp-Session-Id")]
    MethodNotAllowed,
    #[error("the header {0} came twice or is not text")]
    HeaderBroken(&'static str),
    #[error("the body is application/json in UTF-8, and not encoded further")]
    ContentType,
    #[error("Accept must name application/json and text/event-stream; for GET the latter")]
    NotAcceptable,
    #[error("the body is longer than {MAX_LINE_BYTES} bytes")]
    BodyTooLarge,
    #[error("the body took longer than {BODY_TIMEOUT:?}")]
    BodyTooSlow,
    #[error("the body broke off")]
    BodyBroken,
    #[error("no such session: initialize again")]
    SessionUnknown,
    #[error("{MAX_IN_FLIGHT} requests wait for their answers")]
    TooManyCalls,
    #[error(transparent)]
    Message(#[from] LineFault),
}

impl Fault {
    /// The stable code.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Fault::HostNotAllowed => "host_not_allowed",
            Fault::OriginNotAllowed => "origin_not_allowed",
            Fault::SecretWrong => "secret_wrong",
            Fault::NoSuchPath => "no_such_path",
            Fault::MethodNotAllowed => "method_not_allowed",
            Fault::HeaderBroken(_) => "header_broken",
            Fault::ContentType => "content_type",
            Fault::NotAcceptable => "not_acceptable",
            Fault::BodyTooLarge => "body_too_large",
            Fault::BodyTooSlow => "body_too_slow",
            Fault::BodyBroken => "body_broken",
            Fault::SessionUnknown => "session_unknown",
            Fault::TooManyCalls => "too_many_calls",
            Fault::Message(fault) => fault.code(),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Fault::HostNotAllowed => StatusCode::MISDIRECTED_REQUEST,
            Fault::OriginNotAllowed => StatusCode::FORBIDDEN,
            Fault::SecretWrong => StatusCode::UNAUTHORIZED,
            Fault::NoSuchPath | Fault::SessionUnknown => StatusCode::NOT_FOUND,
            Fault::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Fault::ContentType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Fault::NotAcceptable => StatusCode::NOT_ACCEPTABLE,
            Fault::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Fault::BodyTooSlow => StatusCode::REQUEST_TIMEOUT,
            Fault::TooManyCalls => StatusCode::SERVICE_UNAVAILABLE,
            Fault::HeaderBroken(_) | Fault::BodyBroken | Fault::Message(_) => StatusCode::BAD_REQUEST,
        }
    }

    /// A JSON-RPC error without an id: what it would answer was not read.
    pub(super) fn body(&self) -> Vec<u8> {
        if let Fault::Message(fault) = self {
            return fault.answer();
        }
        let code = self.status().as_u16();
        let error = json!({"code": code, "message": self.to_string(), "data": {"reason": self.code()}});
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#).into_bytes()
    }
}
