//! What can go wrong with a request outside the ladder of trust: before it (the caller's shape) and behind it (the tool
//! server). `respond.rs` alone turns these into HTTP and JSON-RPC.

use std::time::Duration;

use http::HeaderName;
use pact_mandate::json::JsonError;
use pact_verifier::Refusal;

use crate::session::SessionFault;

/// Why a request gets no answer of the tool server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is not a request that we would judge.
    #[error(transparent)]
    Shape(#[from] ShapeFault),
    /// The ladder of trust said no.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The session is not for this caller.
    #[error(transparent)]
    Session(#[from] SessionFault),
    /// The tool server gave no answer that we could pass on.
    #[error(transparent)]
    Upstream(#[from] UpstreamFault),
    /// More requests in work than the bound.
    #[error("there are {limit} requests in work already; try again (limits.requests)")]
    Overloaded {
        /// The bound.
        limit: usize,
    },
    /// A part of the sidecar has died, and with it what it kept true; `/readyz` names it.
    #[error("a part of the sidecar has died; nothing is let through until it is restarted")]
    ComponentDied,
    /// Nobody whom we know has the credential's root, and an issuer's key set is missing in which it may stand (protocol K4).
    #[error(
        "the credential's root is not known, and a key set that may hold it has not been fetched; try again"
    )]
    KeysMissing,
    /// A fault of ours while the call was on its way.
    #[error("the sidecar failed after it began to forward this call; the tool server may have run it")]
    InternalForwarded,
    /// What the tool server says of the tool has changed since a person read it.
    #[error(
        "the tool server describes this tool otherwise than the policy's definition of it; whoever runs the sidecar reads it and names the new one"
    )]
    ToolChanged,
    /// No line about the call could be written, and the operator wants one of each.
    #[error("no receipt of this call could be written; nothing was forwarded (receipts.on_full)")]
    NoReceipt,
    /// A fault of ours; the call was not forwarded.
    #[error("the sidecar failed while it judged this call; nothing was forwarded")]
    Internal,
}

impl Fault {
    /// Whether nobody whom we know has the credential's root.
    pub(crate) fn is_unknown_root(&self) -> bool {
        matches!(self, Fault::Refused(refusal) if refusal.is_unknown_root())
    }
}

/// Why a request is refused before anything in it is believed or looked up (protocol C1, M1).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeFault {
    /// Another path than the one served, or one in another spelling.
    #[error("nothing is served at this path")]
    NoSuchPath,
    /// A target with a query, or in absolute form.
    #[error("the request target must be the bare path")]
    TargetNotPlain,
    /// A page of another origin than the audience's, or one that hides its own.
    #[error("pages of other origins than the audience's call nothing here")]
    OriginNotAllowed,
    /// Another `Host` than those that this place answers to.
    #[error("the Host header names another place than this one (audience, allowed_hosts)")]
    HostNotAllowed,
    /// Neither POST, nor GET or DELETE in a session.
    #[error(
        "one JSON-RPC message per POST is served here; GET and DELETE only in a session of the 2025 protocol"
    )]
    MethodNotAllowed,
    /// A body where there is nothing to say.
    #[error("a GET or DELETE has no body")]
    BodyNotExpected,
    /// A header that must be single came twice.
    #[error("the header {name} must not be repeated")]
    HeaderRepeated {
        /// Which header.
        name: &'static str,
    },
    /// A header that we read is not visible ASCII.
    #[error("the header {name} must be visible ASCII")]
    HeaderNotText {
        /// Which header.
        name: &'static str,
    },
    /// Another content type than JSON in UTF-8.
    #[error("the content type must be application/json, in UTF-8")]
    ContentType,
    /// A compressed body.
    #[error("the body must not be encoded: no Content-Encoding")]
    ContentEncoding,
    /// A body beyond the bound.
    #[error("the body is longer than {limit} bytes (limits.body_bytes)")]
    BodyTooLarge {
        /// The bound.
        limit: usize,
    },
    /// A body that did not come in time.
    #[error("the body did not arrive within {limit:?} (limits.body_timeout)")]
    BodyTooSlow {
        /// The bound.
        limit: Duration,
    },
    /// The connection broke inside the body, or its framing did.
    #[error("the body ended early or its framing is broken")]
    BodyBroken,
    /// Not strict JSON.
    #[error("the body is not strict JSON: {0}")]
    Json(#[from] JsonError),
    /// A JSON-RPC batch.
    #[error("one message per request: batches are refused")]
    Batch,
    /// Neither an object nor an array.
    #[error("the body is not a JSON-RPC message")]
    NotAMessage,
    /// A member that JSON-RPC or MCP does not name there, or a known one in another case.
    #[error("{place} has a member that is not known there (names are compared byte by byte)")]
    UnknownMember {
        /// The message, or its `params`.
        place: &'static str,
    },
    /// Not version 2.0.
    #[error("`jsonrpc` must be \"2.0\"")]
    JsonRpcVersion,
    /// An id that is null, a fraction, a structure or too long.
    #[error("`id` must be a string or an integer, of at most {} characters", crate::limits::MAX_RPC_ID_CHARS)]
    BadId,
    /// No method, or none that could be one.
    #[error("`method` must be the name of a method")]
    BadMethod,
    /// `params` is not an object, or lacks what the method needs.
    #[error("`params` must be an object with what the method needs: {wanted}")]
    BadParams {
        /// What was expected.
        wanted: &'static str,
    },
    /// A response, where nobody asked.
    #[error("a JSON-RPC response is not expected here")]
    ResponseNotExpected,
    /// A response without exactly one `result` or `error`, an object.
    #[error("a JSON-RPC response has one `result` or one `error`, which is an object")]
    BadResponse,
    /// A call without an id: its result would be lost.
    #[error("this method must have an id")]
    IdMissing,
    /// A notification with an id.
    #[error("a notification must not have an id")]
    IdNotExpected,
    /// A method that is neither open nor judged.
    #[error("this method is not open here; only what the policy opens or maps and tools/call get through")]
    MethodNotOpen,
    /// A revision of MCP that is not served.
    #[error("this revision of MCP is not served here; those that are: {}", served.join(", "))]
    VersionUnknown {
        /// As the caller named it, its first characters.
        requested: String,
        /// Those that are served, the newest first.
        served: Vec<&'static str>,
    },
    /// A header that this revision demands.
    #[error("the header {name} must repeat what the body says in this revision of MCP")]
    HeaderMissing {
        /// Which header.
        name: &'static str,
    },
    /// A body without what this revision demands of it.
    #[error(
        "the header says {revision}, and the body has no {name} in its _meta, which this revision of MCP demands"
    )]
    MetaMissing {
        /// The revision.
        revision: &'static str,
        /// The member.
        name: &'static str,
    },
    /// A header that says something else than the argument that it repeats (protocol M1).
    #[error("the header {header} disagrees with the argument that the tool's schema marks with it")]
    ParamMismatch {
        /// Which header, as the tool server named it.
        header: HeaderName,
    },
    /// A header that says something else than the body (protocol M1).
    #[error("the header {name} disagrees with the body")]
    HeaderMismatch {
        /// Which header.
        name: &'static str,
    },
}

/// What the tool server did instead of answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamFault {
    /// No connection, or it broke before an answer.
    #[error("the tool server cannot be reached")]
    Unreachable,
    /// No answer in time.
    #[error("the tool server did not begin its answer within {limit:?} (upstream.answer_timeout)")]
    TooSlow {
        /// The bound.
        limit: Duration,
    },
    /// It wants us to go elsewhere.
    #[error("the tool server answered with a redirect, which is not followed")]
    Redirected,
    /// A list of tools that does not read as one, so that none of it can be shown.
    #[error("the tool server's list of tools cannot be read: {why}")]
    ListUnreadable {
        /// What is wrong with it.
        why: &'static str,
    },
    /// A list of tools beyond the bound.
    #[error("the tool server's list of tools is longer than {limit} bytes a page")]
    ListTooLarge {
        /// The bound.
        limit: usize,
    },
    /// An encoded answer, though none was asked for: its stream could not be ended properly.
    #[error("the tool server encoded its answer though nobody asked for it")]
    Encoded,
    /// Its answer is one to another request.
    #[error("the tool server answered another request than this one")]
    WrongId,
    /// What two readers could take for different messages.
    #[error("the tool server sent what is not one JSON-RPC message")]
    Malformed,
    /// More open questions in one session than the bound.
    #[error(
        "the tool server waits for more than {} answers in this session",
        crate::limits::MAX_REQUESTS_PER_SESSION
    )]
    AsksTooMuch,
    /// A message of it beyond the bound.
    #[error("the tool server's answer is longer than {limit} bytes (upstream.message_bytes)")]
    MessageTooLarge {
        /// The bound.
        limit: usize,
    },
    /// It speaks the protocol with sessions alone, and this message is in none.
    #[error("the tool server speaks MCP 2025-11-25 or older alone: begin a session by initialize")]
    NeedsSession,
    /// As many processes of it run as may.
    #[error("as many processes of the tool server run as may (upstream.max_children); try again")]
    Crowded,
    /// A session's id that cannot stand in a header.
    #[error("the tool server gave a session an id that is not visible ASCII, or too long")]
    SessionMalformed,
}

impl ShapeFault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            ShapeFault::NoSuchPath => "no_such_path",
            ShapeFault::TargetNotPlain => "target_not_plain",
            ShapeFault::OriginNotAllowed => "origin_not_allowed",
            ShapeFault::HostNotAllowed => "host_not_allowed",
            ShapeFault::MethodNotAllowed => "method_not_allowed",
            ShapeFault::BodyNotExpected => "body_not_expected",
            ShapeFault::HeaderRepeated { .. } => "header_repeated",
            ShapeFault::HeaderNotText { .. } => "header_not_text",
            ShapeFault::ContentType => "content_type",
            ShapeFault::ContentEncoding => "content_encoding",
            ShapeFault::BodyTooLarge { .. } => "body_too_large",
            ShapeFault::BodyTooSlow { .. } => "body_too_slow",
            ShapeFault::BodyBroken => "body_broken",
            ShapeFault::Json(error) => json_code(*error),
            ShapeFault::Batch => "batch",
            ShapeFault::NotAMessage => "not_a_message",
            ShapeFault::UnknownMember { .. } => "unknown_member",
            ShapeFault::JsonRpcVersion => "jsonrpc_version",
            ShapeFault::BadId => "bad_id",
            ShapeFault::BadMethod => "bad_method",
            ShapeFault::BadParams { .. } => "bad_params",
            ShapeFault::ResponseNotExpected => "response_not_expected",
            ShapeFault::BadResponse => "bad_response",
            ShapeFault::IdMissing => "id_missing",
            ShapeFault::IdNotExpected => "id_not_expected",
            ShapeFault::MethodNotOpen => "method_not_open",
            ShapeFault::VersionUnknown { .. } => "version_unknown",
            ShapeFault::HeaderMissing { .. } => "header_missing",
            ShapeFault::MetaMissing { .. } => "meta_missing",
            ShapeFault::HeaderMismatch { .. } | ShapeFault::ParamMismatch { .. } => "header_mismatch",
        }
    }
}

fn json_code(error: JsonError) -> &'static str {
    use pact_mandate::json::JsonFault;
    match error.fault {
        JsonFault::NotUtf8 => "json_not_utf8",
        JsonFault::ByteOrderMark => "json_byte_order_mark",
        JsonFault::Syntax => "json_syntax",
        JsonFault::Truncated => "json_truncated",
        JsonFault::Trailing => "json_trailing",
        JsonFault::DuplicateMember => "json_duplicate_member",
        JsonFault::LoneSurrogate => "json_lone_surrogate",
        JsonFault::TooDeep => "json_too_deep",
        JsonFault::TooMany => "json_too_many",
    }
}

impl UpstreamFault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            UpstreamFault::Unreachable => "upstream_unreachable",
            UpstreamFault::TooSlow { .. } => "upstream_too_slow",
            UpstreamFault::Redirected => "upstream_redirected",
            UpstreamFault::ListUnreadable { .. } => "upstream_list_unreadable",
            UpstreamFault::ListTooLarge { .. } => "upstream_list_too_large",
            UpstreamFault::Encoded => "upstream_encoded",
            UpstreamFault::WrongId => "upstream_wrong_id",
            UpstreamFault::Malformed => "upstream_malformed",
            UpstreamFault::AsksTooMuch => "upstream_asks_too_much",
            UpstreamFault::SessionMalformed => "upstream_session_malformed",
            UpstreamFault::MessageTooLarge { .. } => "upstream_message_too_large",
            UpstreamFault::NeedsSession => "upstream_needs_session",
            UpstreamFault::Crowded => "upstream_crowded",
        }
    }
}
