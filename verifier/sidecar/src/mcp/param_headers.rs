//! `Mcp-Param-*`: headers that repeat arguments of a call (MCP 2026-07-28). What goes on of them says nothing that the body does not
//! say and nobody has judged (protocol M1, M2).

use http::{HeaderMap, HeaderName};
use pact_mandate::Json;
use pact_verifier::repeated::{Marks, PARAM_PREFIX, repeats};

use super::{Message, TOOLS_CALL};
use crate::{fault::ShapeFault, header};

/// What names them all in an error.
const ALL: &str = "Mcp-Param-*";

/// The headers that were found to repeat arguments of the call that they came with. Made by [`ParamHeaders::agree`] alone.
#[derive(Debug, Default)]
pub(crate) struct ParamHeaders(HeaderMap);

impl ParamHeaders {
    /// Compares a request's headers with its arguments, whatever protocol version it claims. `marks` is what the tool's last
    /// listed schema marks.
    ///
    /// A marked argument and its header say the same, or the request is refused. A header that is not known to be marked
    /// goes on if it repeats any argument at all: the tool server, which knows where it belongs, compares it there; what
    /// it does not know it ignores. Every other one ends here.
    pub(crate) fn agree(
        headers: &HeaderMap,
        message: &Message,
        marks: impl FnOnce() -> Option<Marks>,
    ) -> Result<ParamHeaders, ShapeFault> {
        let is_param = |name: &&HeaderName| name.as_str().starts_with(PARAM_PREFIX);
        let mut names = headers.keys().filter(is_param).peekable();
        if names.peek().is_none() || message.method() != TOOLS_CALL {
            return Ok(ParamHeaders::default());
        }
        let none = Json::Object(Vec::new());
        let arguments = message.params().and_then(|params| params.get("arguments")).unwrap_or(&none);
        let marks = marks().unwrap_or_default();
        let mut agreed = HeaderMap::new();
        for name in names {
            let Some(value) = header::single(headers, name, ALL)? else { continue };
            let goes_on = match marks.argument(name.as_str(), arguments) {
                Some(Some(argument)) if repeats(value, argument) => true,
                Some(_) => return Err(ShapeFault::ParamMismatch { header: name.clone() }),
                None => is_anywhere(value, arguments),
            };
            if goes_on {
                agreed.extend(headers.get(name).map(|value| (name.clone(), value.clone())));
            }
        }
        Ok(ParamHeaders(agreed))
    }

    pub(crate) fn into_headers(self) -> HeaderMap {
        self.0
    }
}

/// Whether an argument, or a member of one, is what the header says.
fn is_anywhere(value: &str, arguments: &Json) -> bool {
    match arguments {
        Json::Object(members) => members.iter().any(|member| is_anywhere(value, &member.value)),
        argument => repeats(value, argument),
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    const TOOL: &str = r#"{"name":"echo","inputSchema":{"properties":{
        "region":{"type":"string","x-mcp-header":"Region"},
        "limit":{"type":"integer","x-mcp-header":"Limit"}}}}"#;
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"region":"eu","limit":42,"deep":{"note":"us"},"many":["x"]}}}"#;

    fn agreed(pairs: &[(&'static str, &str)], body: &str, tool: Option<&str>) -> Result<Vec<String>, String> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, value.parse().unwrap());
        }
        let message = Message::parse(Bytes::copy_from_slice(body.as_bytes())).unwrap();
        let marks = || tool.map(|tool| Marks::of(&Json::parse(tool.as_bytes()).unwrap()).unwrap());
        let agreed =
            ParamHeaders::agree(&headers, &message, marks).map_err(|fault| fault.code().to_owned())?;
        Ok(agreed.into_headers().keys().map(|name| name.as_str().to_owned()).collect())
    }

    #[test]
    fn m1_a_marked_argument_and_its_header_say_the_same() {
        let same = [("mcp-param-region", "=?base64?ZXU=?="), ("mcp-param-limit", "42.0")];
        assert_eq!(agreed(&same, CALL, Some(TOOL)).unwrap(), ["mcp-param-region", "mcp-param-limit"]);
        let without = CALL.replace("\"region\":\"eu\",", "\"region\":null,");
        for (name, value, body) in [
            ("mcp-param-region", "us", CALL),
            ("mcp-param-region", "EU", CALL),
            ("mcp-param-region", "", CALL),
            ("mcp-param-region", "=?base64?!!?=", CALL),
            ("mcp-param-limit", "43", CALL),
            ("mcp-param-limit", "0x2a", CALL),
            // The header of an argument that is not there, even where another one has its value.
            ("mcp-param-region", "us", &without),
        ] {
            assert_eq!(
                agreed(&[(name, value)], body, Some(TOOL)).unwrap_err(),
                "header_mismatch",
                "{name}: {value}"
            );
        }
        let twice = [("mcp-param-limit", "42"), ("mcp-param-limit", "42")];
        assert_eq!(agreed(&twice, CALL, Some(TOOL)).unwrap_err(), "header_repeated");
    }

    #[test]
    fn m2_a_header_that_nobody_knows_goes_on_only_where_it_says_what_the_body_says() {
        for tool in [None, Some(TOOL), Some(r#"{"name":"echo"}"#)] {
            let headers =
                [("mcp-param-a", "us"), ("mcp-param-b", "drop"), ("mcp-param-c", "x"), ("mcp-param-d", "42")];
            assert_eq!(agreed(&headers, CALL, tool).unwrap(), ["mcp-param-a", "mcp-param-d"], "{tool:?}");
        }
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"arguments":{"region":"eu"}}}"#;
        assert_eq!(agreed(&[("mcp-param-region", "eu")], list, Some(TOOL)).unwrap(), Vec::<String>::new());
    }
}
