//! The call that a proof is made for, as the tool server will see it.

use pact_mandate::{Asked, Json, json::Member};
use pact_verifier::proof::params_digest;

use crate::error::SignError;

/// The JSON-RPC method that calls a tool.
pub const TOOLS_CALL: &str = "tools/call";

/// A call of `tool` over MCP whose `params` hold its name and arguments and, `_meta` apart, nothing else.
pub fn tool_call(tool: &str, arguments: Json) -> Result<Asked, SignError> {
    let params = Json::Object(vec![Member::new("name", Json::String(tool.to_owned()))]);
    tool_call_with(tool, arguments, TOOLS_CALL, &params)
}

/// A call with other members in `params`, or of another method: a proof covers them all, `_meta` apart (protocol P1).
/// `arguments` count as they are given here, whatever `params` says of them.
pub fn tool_call_with(tool: &str, arguments: Json, method: &str, params: &Json) -> Result<Asked, SignError> {
    check_arguments(&arguments)?;
    Ok(Asked { tool: tool.to_owned(), arguments, params: params_digest(method, params)? })
}

/// Protocol P2.
fn check_arguments(arguments: &Json) -> Result<(), SignError> {
    let members = arguments.members().ok_or(SignError::NotAnObject)?;
    match members.iter().find(|member| member.name.starts_with('@')) {
        Some(member) => Err(SignError::ReservedArgument(member.name.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn p1_a_plain_call_covers_its_name_and_method() {
        let whole = json(r#"{"name":"read","arguments":{"a":1},"_meta":{"x":1}}"#);
        let plain = tool_call("read", json(r#"{"a":1}"#)).unwrap();
        assert_eq!(plain, tool_call_with("read", json(r#"{"a":1}"#), TOOLS_CALL, &whole).unwrap());
        assert_ne!(plain.params, tool_call("write", json("{}")).unwrap().params);
    }

    #[test]
    fn p2_an_argument_that_begins_with_an_at_sign_is_refused() {
        let refused = tool_call("read", json(r#"{"@aud":"x"}"#));
        assert_eq!(refused, Err(SignError::ReservedArgument("@aud".into())));
        assert_eq!(tool_call("read", json("[]")), Err(SignError::NotAnObject));
    }
}
