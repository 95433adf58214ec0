//! One message of the client, taken apart strictly and once. Only what passes here ever gets a credential.

use std::{fmt, ops::Range};

use pact_mandate::{
    Json,
    json::{JsonError, Member},
};
use pact_verifier::{act::RequestId, carriage::META_MEMBERS, repeated};
use reqwest::header::HeaderMap;

use crate::limits::{MAX_ID_CHARS, MAX_LINE_BYTES, MAX_METHOD_CHARS};

/// Where a request of MCP 2026-07-28 says which revision it speaks.
const VERSION_META: &str = "io.modelcontextprotocol/protocolVersion";

/// A message that has the right shape.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    text: String,
    kind: Kind,
    params: Option<Json>,
    /// Where the value of `params` ends in the text.
    params_end: Option<usize>,
    /// What the client itself said in headers, where it speaks HTTP: the sidecar compares it with the body.
    said: Option<HeaderMap>,
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It wants an answer.
    Request {
        /// Under this id.
        id: Id,
        /// To this.
        method: String,
    },
    /// It wants none.
    Notification {
        /// What it tells.
        method: String,
    },
    /// The answer to a request of a server.
    Response {
        /// Under this id.
        id: Id,
    },
}

/// The id of a request, as JSON: an integer as it was written, or a string.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id(String);

/// Why a line is no message. It is answered, and goes nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LineFault {
    #[error("the line is longer than {MAX_LINE_BYTES} bytes")]
    TooLong,
    #[error("the line is not one JSON text: {0}")]
    NotJson(#[from] JsonError),
    #[error("batches are no part of MCP: one message a line")]
    Batch,
    #[error(
        "the line is no JSON-RPC 2.0 message: an object with jsonrpc, id, method and params, or jsonrpc, id and result or error, \
         and nothing else; an id is a string or an integer, params an object"
    )]
    NotAMessage,
}

impl Message {
    /// Takes a line apart.
    pub(crate) fn parse(line: Vec<u8>) -> Result<Message, LineFault> {
        let members = match Json::parse(&line)? {
            Json::Object(members) => members,
            Json::Array(_) => return Err(LineFault::Batch),
            _ => return Err(LineFault::NotAMessage),
        };
        // The parser has seen that it is UTF-8.
        let text = String::from_utf8(line).map_err(|_| LineFault::NotAMessage)?;
        Message::from_members(text, members).ok_or(LineFault::NotAMessage)
    }

    fn from_members(text: String, members: Vec<Member>) -> Option<Message> {
        let (mut version, mut id, mut method, mut params, mut answers) = (None, None, None, None, 0_u8);
        for Member { name, value, span } in members {
            match name.as_str() {
                "jsonrpc" => version = Some(value),
                "id" => id = Some(Id::from_json(&value)?),
                "method" => method = Some(method_of(value)?),
                "params" => params = Some((value, span.end)),
                "result" | "error" => answers += 1,
                _ => return None,
            }
        }
        if version.as_ref().and_then(Json::as_str) != Some("2.0")
            || params.as_ref().is_some_and(|(params, _)| params.members().is_none())
        {
            return None;
        }
        let kind = match (id, method, answers) {
            (Some(id), Some(method), 0) => Kind::Request { id, method },
            (None, Some(method), 0) => Kind::Notification { method },
            (Some(id), None, 1) if params.is_none() => Kind::Response { id },
            _ => return None,
        };
        let (params, params_end) = params.unzip();
        let message = Message { text, kind, params, params_end, said: None };
        // What cannot be put into its place later is refused now.
        message.meta_is_object().then_some(message)
    }

    /// The same, with the headers that came beside it and repeat it.
    pub(crate) fn with_heads(self, said: HeaderMap) -> Message {
        Message { said: Some(said), ..self }
    }

    /// The headers that came beside it.
    pub(crate) fn said(&self) -> Option<&HeaderMap> {
        self.said.as_ref()
    }

    /// Whether the client speaks HTTP.
    pub(crate) fn came_by_http(&self) -> bool {
        self.said.is_some()
    }

    fn meta_is_object(&self) -> bool {
        self.param("_meta").is_none_or(|meta| meta.members().is_some())
    }

    /// What it is.
    pub(crate) fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The method, but for a response.
    pub(crate) fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request { method, .. } | Kind::Notification { method } => Some(method),
            Kind::Response { .. } => None,
        }
    }

    /// The parameters.
    pub(crate) fn params(&self) -> Option<&Json> {
        self.params.as_ref()
    }

    /// One of the parameters.
    pub(crate) fn param(&self, name: &str) -> Option<&Json> {
        self.params.as_ref()?.get(name)
    }

    /// The revision of MCP that the message itself names.
    pub(crate) fn version(&self) -> Option<&str> {
        self.param("_meta")?.get(VERSION_META)?.as_str()
    }

    /// What the header `Mcp-Name` repeats. A sidecar refuses the header where it stands for nothing.
    pub(crate) fn name(&self) -> Option<&str> {
        repeated::name(self.method()?, self.params())
    }

    /// The text to send: the client's own, with these members in `params._meta` in place of whatever the client put there
    /// under names of ours. Every other byte stays as it came, but for the space around the members of `_meta`.
    pub(crate) fn with_meta(&self, ours: &Members) -> String {
        let Some(params_end) = self.params_end else {
            if ours.is_empty() || self.method().is_none() {
                return self.text.clone();
            }
            return self.insert_last(self.text.len(), &format!("\"params\":{{\"_meta\":{{{ours}}}}}"));
        };
        let meta = self.params.iter().flat_map(|params| params.members().unwrap_or_default());
        match meta.into_iter().find(|member| member.name == "_meta") {
            None if ours.is_empty() => self.text.clone(),
            None => self.insert_last(params_end, &format!("\"_meta\":{{{ours}}}")),
            Some(meta) => {
                self.replace(&meta.span, &format!("\"_meta\":{{{}}}", self.merged(&meta.value, ours)))
            }
        }
    }

    /// The members of the client's `_meta` that are not ours, as they were written, and then ours.
    fn merged(&self, meta: &Json, ours: &Members) -> String {
        let theirs = meta.members().unwrap_or_default().iter();
        let theirs = theirs.filter(|member| !META_MEMBERS.contains(&member.name.as_str()));
        let mut parts: Vec<&str> =
            theirs.filter_map(|member| self.text.get(member.span.clone())).map(str::trim).collect();
        if !ours.is_empty() {
            parts.push(&ours.0);
        }
        parts.join(",")
    }

    fn replace(&self, span: &Range<usize>, with: &str) -> String {
        let before = self.text.get(..span.start).unwrap_or_default();
        let after = self.text.get(span.end..).unwrap_or_default();
        format!("{before}{with}{after}")
    }

    /// Puts a member last into the object that ends at `end` or before.
    fn insert_last(&self, end: usize, member: &str) -> String {
        let before = self.text.get(..end).unwrap_or_default();
        let Some(brace) = before.rfind('}') else { return self.text.clone() };
        let inside = before.get(..brace).unwrap_or_default();
        let comma = if inside.trim_end().ends_with('{') { "" } else { "," };
        self.replace(&(brace..brace), &format!("{comma}{member}"))
    }
}

/// Members of an object as JSON text, with commas between and no braces around.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Members(String);

impl Members {
    /// Of anything that serialises as an object.
    pub(crate) fn of(object: &impl serde::Serialize) -> Result<Members, serde_json::Error> {
        let text = serde_json::to_string(object)?;
        let inside = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
        Ok(Members(inside.unwrap_or_default().to_owned()))
    }

    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Members {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Id {
    /// Of a JSON value; `None` when it can be no id.
    pub(crate) fn from_json(value: &Json) -> Option<Id> {
        match value {
            Json::String(text) if text.chars().count() <= MAX_ID_CHARS => {
                serde_json::to_string(text).ok().map(Id)
            }
            Json::Number(number)
                if number.text().len() <= MAX_ID_CHARS && !number.text().contains(['.', 'e', 'E']) =>
            {
                Some(Id(number.text().to_owned()))
            }
            _ => None,
        }
    }

    /// The same, as the words of an act have it.
    pub(crate) fn request_id(&self) -> Option<RequestId> {
        RequestId::from_json(Json::parse(self.0.as_bytes()).ok()?)
    }

    /// Of a JSON text.
    pub(crate) fn from_text(text: &str) -> Option<Id> {
        Id::from_json(&Json::parse(text.as_bytes()).ok()?)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Id({self})")
    }
}

impl LineFault {
    /// The stable code.
    pub(crate) fn code(self) -> &'static str {
        match self {
            LineFault::TooLong => "line_too_long",
            LineFault::NotJson(_) => "not_json",
            LineFault::Batch => "batch",
            LineFault::NotAMessage => "not_a_message",
        }
    }
}

fn method_of(value: Json) -> Option<String> {
    let Json::String(method) = value else { return None };
    let plain =
        (1..=MAX_METHOD_CHARS).contains(&method.len()) && method.bytes().all(|b| b.is_ascii_graphic());
    plain.then_some(method)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<Message, LineFault> {
        Message::parse(text.as_bytes().to_vec())
    }

    fn ours() -> Members {
        Members::of(&json!({"tenuo": {"warrant": "w"}, "pact/proof": 1})).unwrap()
    }

    #[test]
    fn a_message_is_a_request_a_notification_or_a_response() {
        let request = parse(r#"{"jsonrpc":"2.0","id":"a\u0062","method":"ping"}"#).unwrap();
        assert_eq!(*request.kind(), Kind::Request { id: Id("\"ab\"".into()), method: "ping".into() });
        let told = parse(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).unwrap();
        assert!(matches!(told.kind(), Kind::Notification { .. }));
        let answer = parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).unwrap();
        assert_eq!(*answer.kind(), Kind::Response { id: Id("1".into()) });
    }

    #[test]
    fn a_name_is_repeated_of_the_methods_that_have_one() {
        let named = |method: &str| {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"name":"n","uri":"u","taskId":"t"}}}}"#
            );
            parse(&text).unwrap().name().map(ToOwned::to_owned)
        };
        for (method, name) in [("tools/call", "n"), ("resources/read", "u"), ("tasks/get", "t")] {
            assert_eq!(named(method).as_deref(), Some(name), "{method}");
        }
        // A method of MCP 2025-11-25 alone: its sidecar would find a name that repeats nothing.
        assert_eq!(named("tasks/result"), None);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for bad in [
            "",
            "1",
            "null",
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":""}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"a b"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":1}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","x":1}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"pong"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#,
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert_eq!(parse("[]").unwrap_err(), LineFault::Batch);
        assert!(Message::parse(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}".to_vec()).is_err());
    }

    #[test]
    fn ours_go_into_meta_and_nothing_else_changes() {
        for (sent, wanted) in [
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{OURS}}}"#,
            ),
            (
                r#"{ "params" : { } , "jsonrpc":"2.0","id":1,"method":"m"} "#,
                r#"{ "params" : { "_meta":{OURS}} , "jsonrpc":"2.0","id":1,"method":"m"} "#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0 }}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0 ,"_meta":{OURS}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{ "x" : "}" }, "a":{}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x" : "}",OURS}, "a":{}}}"#,
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"ten\u0075o":1,"pact/credential":2}}}"#,
                r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{OURS}}}"#,
            ),
        ] {
            let got = parse(sent).unwrap().with_meta(&ours());
            assert_eq!(got, wanted.replace("OURS", &ours().0));
            assert!(Json::parse(got.as_bytes()).is_ok(), "{got}");
        }
    }

    #[test]
    fn without_anything_of_ours_the_text_is_the_clients() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"tenuo":1}}}"#,
        ] {
            assert_eq!(parse(text).unwrap().with_meta(&Members::default()), text);
        }
        let smuggled = r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"tenuo":1,"x":2}}}"#;
        let left = parse(smuggled).unwrap().with_meta(&Members::default());
        assert_eq!(left, r#"{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{"x":2}}}"#);
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let _ = Message::parse(bytes);
        }

        #[test]
        fn what_is_sent_is_the_message_with_ours_alone_under_our_names(
            names in proptest::collection::btree_set("(tenuo|pact/proof|pact/credential|[a-c])", 0..5),
            space in "[ \t]{0,2}",
        ) {
            let theirs = names.iter().map(|name| format!("{space}\"{name}\"{space}:{space}[\"}}\"]{space}"));
            let theirs = theirs.collect::<Vec<_>>().join(",");
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{{theirs}}},"k":1}}}}"#);
            let sent = parse(&text).unwrap().with_meta(&ours());
            let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
            let mut wanted: serde_json::Value = serde_json::from_str(&text).unwrap();
            let meta = wanted["params"]["_meta"].as_object_mut().unwrap();
            meta.remove("pact/credential");
            meta.insert("tenuo".into(), json!({"warrant": "w"}));
            meta.insert("pact/proof".into(), json!(1));
            prop_assert_eq!(sent, wanted);
        }
    }
}
