//! The tool server's list with the tools that are shown, each with the hint of this sidecar's own (protocol M3). Everything
//! else of the answer stays byte for byte, by the spans of its members.

use std::collections::BTreeSet;

use pact_mandate::{Json, canonical, json::Member};

use super::unreadable;
use crate::{fault::Fault, limits::MAX_LISTED_TOOLS, mcp::RpcId};

/// What begins a name in `_meta` that only a sidecar gives.
const OURS: &str = "pact/";
/// Where the hint stands.
const HINT: &str = "pact/call";

/// Whether only a sidecar gives a member of this name, which a reader could take for one of ours in whatever case.
pub(super) fn is_ours(name: &str) -> bool {
    name.get(..OURS.len()).is_some_and(|start| start.eq_ignore_ascii_case(OURS))
}

/// Whether a message is the answer to `id`; one that does not even read may be, and is refused later.
pub(super) fn answers(text: &[u8], id: Option<&RpcId>) -> bool {
    let Ok(message) = Json::parse(text) else { return true };
    message.get("method").is_none() && is_id(&message, id)
}

/// Rebuilds the list. `hint` says of a name and its entry what stands beside the tool, or that it is not shown.
pub(super) fn list(
    text: &[u8],
    id: Option<&RpcId>,
    hint: impl Fn(&str, &Json) -> Result<Option<Json>, Fault>,
) -> Result<Vec<u8>, Fault> {
    let message = Json::parse(text).map_err(|error| {
        tracing::warn!(%error, "the tool server's list of tools is no strict JSON");
        unreadable("it is not strict JSON")
    })?;
    let members = message.members().ok_or_else(|| unreadable("it is no JSON-RPC message"))?;
    let known = |member: &Member| matches!(member.name.as_str(), "jsonrpc" | "id" | "result" | "error");
    let is_version_two = message.get("jsonrpc").and_then(Json::as_str) == Some("2.0");
    if !members.iter().all(known) || !is_version_two || !is_id(&message, id) {
        return Err(unreadable("it is no JSON-RPC answer to this request"));
    }
    match (message.get("result"), message.get("error")) {
        (Some(Json::Object(result)), None) => {
            let result = self::result(text, result, &hint)?;
            object(members.iter().map(|member| match member.name.as_str() {
                "result" => Ok(named("result", &result)),
                _ => kept(text, member),
            }))
        }
        // The tool server's own refusal, which lists nothing.
        (None, Some(Json::Object(_))) => Ok(text.to_vec()),
        _ => Err(unreadable("it has not one result")),
    }
}

fn is_id(message: &Json, id: Option<&RpcId>) -> bool {
    let found = message.get("id").cloned().and_then(|id| RpcId::from_json(id).ok());
    found.is_some() && found.as_ref() == id
}

fn result(
    text: &[u8],
    members: &[Member],
    hint: &impl Fn(&str, &Json) -> Result<Option<Json>, Fault>,
) -> Result<Vec<u8>, Fault> {
    let tools = members.iter().find(|member| member.name == "tools").map(|member| &member.value);
    let Some(Json::Array(tools)) = tools else { return Err(unreadable("its result has no list of tools")) };
    check_meta_is_one(members)?;
    let shown = self::tools(text, tools, hint)?;
    let own =
        members.iter().filter(|member| !is_replaced(&member.name)).map(|member| match member.name.as_str() {
            "_meta" => Ok(named("_meta", &meta(text, member, None)?)),
            _ => kept(text, member),
        });
    let replaced = [Ok(named("tools", &shown)), Ok(named("cacheScope", b"\"private\""))];
    object(own.chain(replaced))
}

/// What a reader could take for the list, in whatever case, and what this sidecar says itself.
fn is_replaced(name: &str) -> bool {
    name.eq_ignore_ascii_case("tools") || name.eq_ignore_ascii_case("cacheScope") || is_ours(name)
}

fn tools(
    text: &[u8],
    tools: &[Json],
    hint: &impl Fn(&str, &Json) -> Result<Option<Json>, Fault>,
) -> Result<Vec<u8>, Fault> {
    if tools.len() > MAX_LISTED_TOOLS {
        return Err(unreadable("it has too many tools in one page"));
    }
    let mut names = BTreeSet::new();
    let mut shown = Vec::new();
    for tool in tools {
        let members = tool.members().ok_or_else(|| unreadable("a tool is no object"))?;
        let name = tool.get("name").and_then(Json::as_str).ok_or_else(|| unreadable("a tool has no name"))?;
        let is_second = |member: &Member| member.name != "name" && member.name.eq_ignore_ascii_case("name");
        if !names.insert(name) || members.iter().any(is_second) {
            return Err(unreadable("two tools, or two readings of one, have the same name"));
        }
        check_meta_is_one(members)?;
        if let Some(hint) = hint(name, tool)? {
            shown.push(self::tool(text, members, &hint)?);
        }
    }
    Ok(joined(b'[', &shown, b']'))
}

/// Refuses what one reader takes for the `_meta` that is filtered here, and another does not.
fn check_meta_is_one(members: &[Member]) -> Result<(), Fault> {
    let is_second = |member: &Member| member.name != "_meta" && member.name.eq_ignore_ascii_case("_meta");
    if members.iter().any(is_second) { Err(unreadable("a _meta is written in another case")) } else { Ok(()) }
}

fn tool(text: &[u8], members: &[Member], hint: &Json) -> Result<Vec<u8>, Fault> {
    let is_own = |member: &&Member| member.name != "_meta" && !is_ours(&member.name);
    let own = members.iter().filter(is_own).map(|member| kept(text, member));
    let said = members.iter().find(|member| member.name == "_meta");
    let meta = match said {
        Some(said) => meta(text, said, Some(hint))?,
        None => object([hinted(hint)].into_iter())?,
    };
    object(own.chain([Ok(named("_meta", &meta))]))
}

/// A `_meta` without what only a sidecar says, and with what this one does.
fn meta(text: &[u8], said: &Member, hint: Option<&Json>) -> Result<Vec<u8>, Fault> {
    let members = said.value.members().ok_or_else(|| unreadable("a _meta is no object"))?;
    let own = members.iter().filter(|member| !is_ours(&member.name)).map(|member| kept(text, member));
    object(own.chain(hint.map(hinted)))
}

fn hinted(hint: &Json) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::new();
    canonical::write(hint, &mut bytes).map_err(|_| Fault::Internal)?;
    Ok(named(HINT, &bytes))
}

/// The member as it stood in the text.
fn kept(text: &[u8], member: &Member) -> Result<Vec<u8>, Fault> {
    text.get(member.span.clone()).map(<[u8]>::to_vec).ok_or(Fault::Internal)
}

/// A member of a name that needs no escape.
fn named(name: &str, value: &[u8]) -> Vec<u8> {
    [b"\"", name.as_bytes(), b"\":", value].concat()
}

fn object(members: impl Iterator<Item = Result<Vec<u8>, Fault>>) -> Result<Vec<u8>, Fault> {
    Ok(joined(b'{', &members.collect::<Result<Vec<_>, _>>()?, b'}'))
}

fn joined(open: u8, parts: &[Vec<u8>], close: u8) -> Vec<u8> {
    let mut whole = vec![open];
    whole.extend(parts.join(&b','));
    whole.push(close);
    whole
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn id() -> RpcId {
        RpcId::Text("a".into())
    }

    /// Shows the tools whose name begins with `s`.
    fn shown(text: &str) -> Result<String, &'static str> {
        let hint = |tool: &str, _: &Json| {
            Ok(tool
                .starts_with('s')
                .then(|| Json::Object(vec![Member::new("tool", Json::String(tool.to_owned()))])))
        };
        match list(text.as_bytes(), Some(&id()), hint) {
            Ok(bytes) => Ok(String::from_utf8(bytes).unwrap()),
            Err(Fault::Upstream(fault)) => Err(fault.code()),
            Err(fault) => panic!("{fault}"),
        }
    }

    fn answer(result: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":"a","result":{result}}}"#)
    }

    #[test]
    fn m3_only_the_list_and_our_own_members_change() {
        let text = answer(
            r#"{ "nextCursor" : "x\u0061", "_meta":{"pact/call":1,"n":1.0,"pAct/call":1}, "cacheScope":"public","TOOLS":[{"name":"hidden"}], "pact/x":1,
            "tools":[ {"name":"s1", "inputSchema":{"maximum":1.50}, "_meta":{"pact/call":{"action":"evil"},"Pact/Call":{"action":"evil"},"k":[ 1 ]}, "pact/y":1, "PACT/z":1}, {"name":"hidden"}, {"name":"s2"} ] }"#,
        );
        assert_eq!(
            shown(&text).unwrap(),
            answer(
                r#"{"nextCursor" : "x\u0061","_meta":{"n":1.0},"tools":[{"name":"s1","inputSchema":{"maximum":1.50},"_meta":{"k":[ 1 ],"pact/call":{"tool":"s1"}}},{"name":"s2","_meta":{"pact/call":{"tool":"s2"}}}],"cacheScope":"private"}"#
            )
        );
        let error = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"bad cursor"}}"#;
        assert_eq!(shown(error).unwrap(), error);
    }

    #[test]
    fn m3_what_does_not_read_as_one_list_is_shown_to_nobody() {
        for text in [
            "",
            "[]",
            "{\"tools\":[]}",
            &answer("[]"),
            &answer("{}"),
            &answer(r#"{"tools":{}}"#),
            &answer(r#"{"tools":[1]}"#),
            &answer(r#"{"tools":[{}]}"#),
            &answer(r#"{"tools":[{"name":7}]}"#),
            &answer(r#"{"tools":[{"name":"s"},{"name":"s"}]}"#),
            &answer(r#"{"tools":[{"name":"s","Name":"t"}]}"#),
            &answer(r#"{"tools":[{"name":"s","name":"t"}]}"#),
            &answer(r#"{"tools":[{"name":"s","_meta":1}]}"#),
            &answer(r#"{"tools":[],"tools":[]}"#),
            &answer(r#"{"tools":[],"_meta":[]}"#),
            &answer(r#"{"tools":[],"_META":{"pact/call":1}}"#),
            &answer(r#"{"tools":[{"name":"s","_Meta":{"pact/call":{"action":"evil"}}}]}"#),
            &answer(r#"{"tools":[]}"#).replace("\"a\"", "\"b\""),
            &answer(r#"{"tools":[]}"#).replace("2.0", "1.0"),
            &answer(r#"{"tools":[]}"#).replace("\"id\"", "\"more\":1,\"id\""),
            &answer(r#"{"tools":[]}"#).replace("\"id\"", "\"error\":{},\"id\""),
            &answer(&format!(r#"{{"tools":[{}]}}"#, vec![r#"{"name":"s"}"#; MAX_LISTED_TOOLS + 1].join(","))),
            &format!("{}{{}}", answer(r#"{"tools":[]}"#)),
        ] {
            assert_eq!(shown(text), Err("upstream_list_unreadable"), "{}", &text[..text.len().min(100)]);
        }
    }

    proptest! {
        #[test]
        fn m3_exactly_the_tools_that_are_shown_stand_in_the_list(
            names in proptest::collection::btree_set("[sx][a-z\u{e9}\"\\\\]{0,4}", 0..8),
            space in "[ \n]{0,2}",
        ) {
            let quoted = |name: &String| serde_json::to_string(name).unwrap();
            let tools = names.iter().map(|name| format!("{{{space}\"name\":{space}{}{space}}}", quoted(name)));
            let text = answer(&format!("{{\"tools\":[{}]}}", tools.collect::<Vec<_>>().join(",")));
            let read: serde_json::Value = serde_json::from_str(&shown(&text).unwrap()).unwrap();
            let left = read["result"]["tools"].as_array().unwrap();
            let left: Vec<&str> = left.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
            let wanted: Vec<&String> = names.iter().filter(|name| name.starts_with('s')).collect();
            prop_assert_eq!(left, wanted);
        }
    }
}
