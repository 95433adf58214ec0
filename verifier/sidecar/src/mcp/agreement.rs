//! Headers that repeat what the body says: compared with it, never believed (protocol M1).

use http::{HeaderMap, HeaderName};
use pact_verifier::repeated;

use super::Message;
use crate::{fault::ShapeFault, header};

pub(super) const PROTOCOL_VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// Refuses a header that says something else than the body, whatever protocol version either claims.
pub fn check(headers: &HeaderMap, message: &Message) -> Result<(), ShapeFault> {
    agree(headers, &header::MCP_METHOD, "Mcp-Method", Some(message.method()))?;
    agree(headers, &header::MCP_NAME, "Mcp-Name", name(message))?;
    // Most bodies of the older protocol claim no version; there the header has nothing to agree with.
    versions(message).into_iter().flatten().try_for_each(|version| {
        agree(headers, &header::MCP_VERSION, "MCP-Protocol-Version", Some(version))
    })?;
    header::single(headers, &header::MCP_VERSION, "MCP-Protocol-Version").map(|_| ())
}

fn agree(
    headers: &HeaderMap,
    header: &HeaderName,
    name: &'static str,
    body: Option<&str>,
) -> Result<(), ShapeFault> {
    let Some(value) = header::single(headers, header, name)? else { return Ok(()) };
    let said = repeated::unwrap(value).ok_or(ShapeFault::HeaderMismatch { name })?;
    if body == Some(&*said) { Ok(()) } else { Err(ShapeFault::HeaderMismatch { name }) }
}

/// What `Mcp-Name` repeats, if anything.
pub(super) fn name(message: &Message) -> Option<&str> {
    repeated::name(message.method(), message.params())
}

/// Where a body may claim a version: in `_meta`, and in the parameters of `initialize`.
fn versions(message: &Message) -> [Option<&str>; 2] {
    let params = message.params();
    let initialize = match message.method() {
        "initialize" => params.and_then(|params| params.get("protocolVersion")?.as_str()),
        _ => None,
    };
    [claimed_version(message), initialize]
}

/// The version that the body's `_meta` claims.
pub(super) fn claimed_version(message: &Message) -> Option<&str> {
    message.params()?.get("_meta")?.get(PROTOCOL_VERSION_META)?.as_str()
}
