//! The one place where a refusal becomes HTTP and JSON-RPC. Codes of trust lie outside −32768…−32000, which JSON-RPC and
//! MCP keep for themselves; what is wrong with the message itself has the code that those two give it.

use http::{HeaderValue, Response, StatusCode, header};
use http_body_util::{BodyExt, Full};
use pact_verifier::{Refusal, policy::PolicyFault, refusal::Class};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    answer::AnswerBody,
    fault::{Fault, ShapeFault, UpstreamFault},
    header::REFUSAL,
    limits::RETRY_AFTER_SECONDS,
    mcp::{RpcId, revisions},
    request_id::RequestId,
    session::SessionFault,
};

/// JSON-RPC 2.0, 5.1: the text is not JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC 2.0, 5.1: JSON, but no request.
const INVALID_REQUEST: i32 = -32600;
/// JSON-RPC 2.0, 5.1: `params` lack what the method, or the revision, demands.
const INVALID_PARAMS: i32 = -32602;
/// MCP 2026-07-28: a header disagrees with the body.
const HEADER_MISMATCH: i32 = -32020;

/// MCP 2026-07-28: a revision that is not served.
const VERSION_UNKNOWN: i32 = -32022;

/// What a challenge says (RFC 9449 7.1, RFC 6750 3): how to present a credential, and why the last one did not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Challenge {
    Bare,
    InvalidToken,
    InvalidProof,
    InsufficientScope,
}

#[derive(Serialize)]
struct ErrorAnswer<'a> {
    jsonrpc: &'static str,
    id: Option<Box<RawValue>>,
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: i32,
    message: String,
    data: ErrorData<'a>,
}

#[derive(Serialize)]
struct ErrorData<'a> {
    reason: &'a str,
    request_id: String,
    #[serde(flatten)]
    versions: Option<Versions<'a>>,
}

/// What MCP 2026-07-28 has an error say of a revision that is not served, so that the client may choose another.
#[derive(Serialize)]
struct Versions<'a> {
    supported: &'a [&'static str],
    requested: &'a str,
}

/// The answer that says why there is no other.
/// `metadata` is where a caller reads how to present a credential (RFC 9728, 5.1).
pub(crate) fn refusal(
    fault: &Fault,
    id: Option<&RpcId>,
    request_id: RequestId,
    metadata: &str,
) -> Response<AnswerBody> {
    let body =
        Full::from(error_message(fault, id, request_id)).map_err(|never| match never {}).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status(fault);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(REFUSAL, HeaderValue::from_static(code(fault)));
    if let Some(challenge) = challenge(fault) {
        let text = format!("DPoP {}algs=\"EdDSA\", resource_metadata=\"{metadata}\"", challenge.error());
        headers.extend(HeaderValue::try_from(text).map(|value| (header::WWW_AUTHENTICATE, value)));
    }
    match status(fault) {
        StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(RETRY_AFTER_SECONDS));
        }
        StatusCode::METHOD_NOT_ALLOWED => {
            headers.insert(header::ALLOW, HeaderValue::from_static("POST"));
        }
        _ => {}
    }
    if leaves_body_unread(fault) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// The JSON-RPC error alone: the last event of an open answer that must end (protocol R9).
pub(crate) fn error_message(fault: &Fault, id: Option<&RpcId>, request_id: RequestId) -> String {
    let answer = ErrorAnswer {
        jsonrpc: "2.0",
        id: id.and_then(|id| RawValue::from_string(id.to_json()).ok()),
        error: ErrorObject {
            code: rpc_code(fault),
            message: fault.to_string(),
            data: ErrorData {
                reason: code(fault),
                request_id: request_id.to_string(),
                versions: versions(fault),
            },
        },
    };
    // Strings and integers always serialise.
    serde_json::to_string(&answer).unwrap_or_default()
}

fn versions(fault: &Fault) -> Option<Versions<'_>> {
    match fault {
        Fault::Shape(ShapeFault::VersionUnknown { requested, served }) => {
            Some(Versions { supported: served, requested })
        }
        Fault::Upstream(UpstreamFault::NeedsSession) => {
            Some(Versions { supported: &revisions::LEGACY, requested: revisions::MODERN })
        }
        _ => None,
    }
}

/// The stable code.
pub(crate) fn code(fault: &Fault) -> &'static str {
    match fault {
        Fault::Shape(fault) => fault.code(),
        Fault::Refused(refusal) => refusal.code(),
        Fault::Session(fault) => fault.code(),
        Fault::Upstream(fault) => fault.code(),
        Fault::Overloaded { .. } => "overloaded",
        Fault::ComponentDied => "component_died",
        Fault::KeysMissing => "keys_missing",
        Fault::InternalForwarded => "internal_forwarded",
        Fault::ToolChanged => "tool_changed",
        Fault::NoReceipt => "receipt_unwritten",
        Fault::Internal => "internal",
    }
}

/// Whose fault it is, as metrics name it.
pub(crate) fn class(fault: &Fault) -> &'static str {
    match status(fault).as_u16() {
        401 => "unauthenticated",
        403 => "forbidden",
        429 => "too_many",
        500 => "internal",
        502 | 504 => "upstream",
        503 => "unavailable",
        _ => "malformed",
    }
}

/// Whether it was refused before anything in it was believed (protocol M6): counted and sampled, not written one by one.
pub(crate) fn is_before_rung_one(fault: &Fault) -> bool {
    match fault {
        // The policy is asked before the credential is opened, so nobody is known yet whom it turns away.
        Fault::Shape(_)
        | Fault::Overloaded { .. }
        | Fault::ComponentDied
        | Fault::KeysMissing
        | Fault::ToolChanged
        | Fault::NoReceipt => true,
        // Except for what the credential limits.
        Fault::Refused(Refusal::Policy(fault)) => !matches!(fault, PolicyFault::LimitUnmapped { .. }),
        // Whose session it is, is asked of a key that proved itself; the rest of anybody.
        Fault::Session(fault) => !matches!(fault, SessionFault::NotYours | SessionFault::NeedsHolder),
        Fault::Refused(refusal) => refusal.rung() <= 1 || refusal.class() == Class::Malformed,
        Fault::Upstream(_) | Fault::Internal | Fault::InternalForwarded => false,
    }
}

fn status(fault: &Fault) -> StatusCode {
    match fault {
        Fault::Shape(shape) => shape_status(shape),
        Fault::Refused(refusal) => match refusal.class() {
            Class::Malformed => StatusCode::BAD_REQUEST,
            Class::Unauthenticated => StatusCode::UNAUTHORIZED,
            Class::Forbidden => StatusCode::FORBIDDEN,
            Class::TooMany => StatusCode::TOO_MANY_REQUESTS,
            Class::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        },
        Fault::ToolChanged => StatusCode::FORBIDDEN,
        Fault::Session(fault) => session_status(*fault),
        Fault::Upstream(UpstreamFault::TooSlow { .. }) => StatusCode::GATEWAY_TIMEOUT,
        Fault::Upstream(UpstreamFault::NeedsSession) => StatusCode::BAD_REQUEST,
        Fault::Upstream(UpstreamFault::Crowded) => StatusCode::SERVICE_UNAVAILABLE,
        Fault::Upstream(_) => StatusCode::BAD_GATEWAY,
        Fault::Overloaded { .. } | Fault::ComponentDied | Fault::KeysMissing | Fault::NoReceipt => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        Fault::Internal | Fault::InternalForwarded => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

fn session_status(fault: SessionFault) -> StatusCode {
    match fault {
        SessionFault::Unknown => StatusCode::NOT_FOUND,
        SessionFault::NotExpected | SessionFault::ResponseNotExpected => StatusCode::BAD_REQUEST,
        SessionFault::NotOwned | SessionFault::NotYours | SessionFault::NeedsHolder => StatusCode::FORBIDDEN,
        SessionFault::Full => StatusCode::SERVICE_UNAVAILABLE,
    }
}

fn shape_status(shape: &ShapeFault) -> StatusCode {
    match shape {
        ShapeFault::NoSuchPath => StatusCode::NOT_FOUND,
        ShapeFault::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
        ShapeFault::ContentType | ShapeFault::ContentEncoding => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        ShapeFault::BodyTooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
        ShapeFault::BodyTooSlow { .. } => StatusCode::REQUEST_TIMEOUT,
        ShapeFault::HostNotAllowed => StatusCode::MISDIRECTED_REQUEST,
        ShapeFault::MethodNotOpen | ShapeFault::OriginNotAllowed => StatusCode::FORBIDDEN,
        _ => StatusCode::BAD_REQUEST,
    }
}

fn rpc_code(fault: &Fault) -> i32 {
    match fault {
        Fault::Shape(ShapeFault::Json(_)) => PARSE_ERROR,
        Fault::Shape(
            ShapeFault::HeaderMismatch { .. }
            | ShapeFault::ParamMismatch { .. }
            | ShapeFault::HeaderMissing { .. },
        ) => HEADER_MISMATCH,
        Fault::Shape(ShapeFault::MetaMissing { .. }) => INVALID_PARAMS,
        // A client that speaks both protocols takes it for what it is, and begins a session.
        Fault::Shape(ShapeFault::VersionUnknown { .. }) | Fault::Upstream(UpstreamFault::NeedsSession) => {
            VERSION_UNKNOWN
        }
        Fault::Shape(shape) if shape_status(shape) == StatusCode::BAD_REQUEST => INVALID_REQUEST,
        // The status again: a denial is the same number in both.
        other => i32::from(status(other).as_u16()),
    }
}

fn challenge(fault: &Fault) -> Option<Challenge> {
    let Fault::Refused(refusal) = fault else { return None };
    match refusal.class() {
        Class::Unauthenticated if refusal.code() == "credential_missing" => Some(Challenge::Bare),
        Class::Unauthenticated if matches!(refusal, Refusal::Proof(_)) => Some(Challenge::InvalidProof),
        Class::Unauthenticated => Some(Challenge::InvalidToken),
        Class::Forbidden => Some(Challenge::InsufficientScope),
        Class::Malformed | Class::TooMany | Class::Unavailable => None,
    }
}

/// Whether the refusal came before the body was read: the rest of it must not be taken for the next request.
fn leaves_body_unread(fault: &Fault) -> bool {
    let Fault::Shape(shape) = fault else {
        return matches!(fault, Fault::Overloaded { .. } | Fault::ComponentDied);
    };
    matches!(
        shape,
        ShapeFault::NoSuchPath
            | ShapeFault::TargetNotPlain
            | ShapeFault::OriginNotAllowed
            | ShapeFault::HostNotAllowed
            | ShapeFault::MethodNotAllowed
            | ShapeFault::BodyNotExpected
            | ShapeFault::HeaderRepeated { .. }
            | ShapeFault::HeaderNotText { .. }
            | ShapeFault::ContentType
            | ShapeFault::ContentEncoding
            | ShapeFault::BodyTooLarge { .. }
            | ShapeFault::BodyTooSlow { .. }
            | ShapeFault::BodyBroken
    )
}

impl Challenge {
    fn error(self) -> &'static str {
        match self {
            Challenge::Bare => "",
            Challenge::InvalidToken => "error=\"invalid_token\", ",
            Challenge::InvalidProof => "error=\"invalid_dpop_proof\", ",
            Challenge::InsufficientScope => "error=\"insufficient_scope\", ",
        }
    }
}

#[cfg(test)]
mod tests {
    use pact_verifier::{
        carriage::CarriageFault,
        format::{
            biscuit::BiscuitFault,
            tenuo::{LinkFault, TenuoFault},
        },
        held::PossessionFault,
        policy::PolicyFault,
    };

    use super::*;

    #[test]
    fn m6_whoever_shows_nothing_that_verifies_fills_no_log() {
        let sampled = |refusal: Refusal| is_before_rung_one(&refusal.into());
        assert!(sampled(CarriageFault::NoCredential.into()));
        assert!(sampled(PolicyFault::ToolNotMapped("x".to_owned()).into()));
        for fault in [LinkFault::UntrustedRoot, LinkFault::BadSignature] {
            assert!(sampled(TenuoFault::Link { link: 0, fault }.into()));
        }
        assert!(sampled(BiscuitFault::BadSignature { candidates: 1 }.into()));
        assert!(!sampled(PossessionFault::ProofMissing.into()));
    }
}
