//! Headers by name: those that must be single, and those that may pass on to the tool server (protocol M2).

use http::{HeaderMap, HeaderName, header};

use crate::{fault::ShapeFault, trace_context};

pub(crate) const MCP_METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(crate) const MCP_NAME: HeaderName = HeaderName::from_static("mcp-name");
pub(crate) const MCP_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const DPOP: HeaderName = HeaderName::from_static("dpop");
pub(crate) const TENUO_WARRANT: HeaderName = HeaderName::from_static("x-tenuo-warrant");
pub(crate) const TENUO_POP: HeaderName = HeaderName::from_static("x-tenuo-pop");
pub(crate) const PACT_PROOF: HeaderName = HeaderName::from_static("x-pact-proof");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
/// On the sidecar's own refusals alone, with their code: no tool server's header of that name passes.
pub(crate) const REFUSAL: HeaderName = HeaderName::from_static("pact-refusal");
pub(crate) const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// Headers of which two could be read in two ways (protocol C1).
const SINGLE: [(HeaderName, &str); 16] = [
    (header::AUTHORIZATION, "Authorization"),
    (DPOP, "DPoP"),
    (MCP_METHOD, "Mcp-Method"),
    (MCP_NAME, "Mcp-Name"),
    (MCP_VERSION, "MCP-Protocol-Version"),
    (header::CONTENT_TYPE, "Content-Type"),
    (header::CONTENT_LENGTH, "Content-Length"),
    (header::CONTENT_ENCODING, "Content-Encoding"),
    (header::TRANSFER_ENCODING, "Transfer-Encoding"),
    (header::HOST, "Host"),
    (header::ORIGIN, "Origin"),
    (TENUO_WARRANT, "X-Tenuo-Warrant"),
    (TENUO_POP, "X-Tenuo-PoP"),
    (PACT_PROOF, "X-Pact-Proof"),
    (SESSION, "Mcp-Session-Id"),
    (LAST_EVENT_ID, "Last-Event-ID"),
];

/// All that the tool server gets of a caller's headers. Each of them was compared with the body, or says nothing about
/// who calls or what is called.
const TO_UPSTREAM: [HeaderName; 4] = [header::ACCEPT, MCP_METHOD, MCP_NAME, MCP_VERSION];

/// All that a caller gets of the tool server's headers.
const TO_CALLER: [HeaderName; 3] = [header::CONTENT_TYPE, header::CACHE_CONTROL, header::RETRY_AFTER];

/// The value of a header that must not be repeated.
pub(crate) fn single<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    name: &'static str,
) -> Result<Option<&'a str>, ShapeFault> {
    let mut values = headers.get_all(header).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(ShapeFault::HeaderRepeated { name });
    }
    first.to_str().map(Some).map_err(|_| ShapeFault::HeaderNotText { name })
}

/// Refuses the first of the single headers that came twice or is not text.
pub(crate) fn check_single(headers: &HeaderMap) -> Result<(), ShapeFault> {
    SINGLE.iter().try_for_each(|(header, name)| single(headers, header, name).map(|_| ()))
}

/// What the tool server gets of a caller's headers.
pub(crate) fn to_upstream(headers: &HeaderMap) -> HeaderMap {
    let mut picked = pick(headers, &TO_UPSTREAM);
    trace_context::carry(headers, &mut picked);
    picked
}

/// What a caller gets of the tool server's headers.
pub(crate) fn to_caller(headers: &HeaderMap) -> HeaderMap {
    pick(headers, &TO_CALLER)
}

fn pick(headers: &HeaderMap, allowed: &[HeaderName]) -> HeaderMap {
    let picked = allowed
        .iter()
        .flat_map(|name| headers.get_all(name).iter().map(move |value| (name.clone(), value.clone())));
    let mut out = HeaderMap::with_capacity(allowed.len() + 2);
    picked.for_each(|(name, value)| {
        out.append(name, value);
    });
    out
}
