//! What a message of the tool server is, read along while it passes: the four members at its top that say so, and nothing of
//! what it carries. Time is linear, memory is bounded, and not a byte is held back.

use std::borrow::Cow;

use pact_mandate::Json;

use crate::{limits::MAX_RPC_ID_CHARS, mcp::RpcId};

/// Bytes of a member's name that are kept: the longest one that counts has six characters, each perhaps written as an escape.
const MAX_NAME: usize = 36;
/// Bytes of an id that are kept: its characters, each perhaps written as an escape.
const MAX_ID: usize = MAX_RPC_ID_CHARS * 12 + 2;

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The tool server asks its client.
    Request(RpcId),
    /// It answers. An error may lack the id of what it answers.
    Response(Option<RpcId>),
    /// A notification, or an object that is no message at all.
    Other,
}

/// A text that two readers could take for different messages: no JSON object, a member twice, an id that is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

/// Reads one text.
#[derive(Debug, Default)]
pub(crate) struct Skim {
    phase: Phase,
    /// Open brackets within the present value.
    depth: usize,
    in_text: bool,
    escaped: bool,
    name: Vec<u8>,
    id_text: Vec<u8>,
    is_id: bool,
    members: usize,
    id: Option<Json>,
    has: Has,
}

/// Which of the members that tell a message are there.
#[derive(Debug, Default)]
struct Has {
    method: bool,
    result: bool,
    error: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// Before the object.
    #[default]
    Start,
    /// Before or in a member's name.
    Name,
    Colon,
    Value,
    /// Behind the object.
    End,
    Broken,
}

impl Skim {
    /// Reads on. Tells how many bytes went up to the end of the object, if it ends in these.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut end = None;
        let mut rest = bytes;
        loop {
            rest = rest.get(self.irrelevant(rest)..).unwrap_or_default();
            let Some((byte, after)) = rest.split_first() else { return end };
            let before = self.phase;
            self.byte(*byte);
            rest = after;
            if self.phase == Phase::End && before != Phase::End {
                end = Some(bytes.len().saturating_sub(rest.len()));
            }
        }
    }

    /// How many of the next bytes change nothing: what a value is made of that is not kept, which most of a text is.
    fn irrelevant(&self, bytes: &[u8]) -> usize {
        if self.phase != Phase::Value || self.is_id || self.escaped {
            return 0;
        }
        let next = if self.in_text {
            bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '))
        } else {
            bytes.iter().position(|byte| matches!(byte, b'"' | b',' | b'{' | b'}' | b'[' | b']'))
        };
        next.unwrap_or(bytes.len())
    }

    /// Begins another text, in the room of this one.
    pub(crate) fn reset(&mut self) {
        let (mut name, mut id_text) = (std::mem::take(&mut self.name), std::mem::take(&mut self.id_text));
        name.clear();
        id_text.clear();
        *self = Skim { name, id_text, ..Skim::default() };
    }

    /// What it was; `None` for a text of nothing but space.
    pub(crate) fn finish(&self) -> Result<Option<Kind>, Malformed> {
        match self.phase {
            Phase::Start => return Ok(None),
            Phase::End => {}
            _ => return Err(Malformed),
        }
        let id = match &self.id {
            None | Some(Json::Null) => None,
            Some(id) => Some(RpcId::from_json(id.clone()).map_err(|_| Malformed)?),
        };
        match (self.has.method, self.has.result, self.has.error, id) {
            (true, false, false, Some(id)) => Ok(Some(Kind::Request(id))),
            (true, false, false, None) | (false, false, false, _) => Ok(Some(Kind::Other)),
            (false, true, false, Some(id)) => Ok(Some(Kind::Response(Some(id)))),
            (false, false, true, id) => Ok(Some(Kind::Response(id))),
            _ => Err(Malformed),
        }
    }

    /// Whether nothing that follows can make a message of it.
    pub(crate) fn is_broken(&self) -> bool {
        self.phase == Phase::Broken
    }

    fn byte(&mut self, byte: u8) {
        if self.in_text {
            return self.text_byte(byte);
        }
        let is_space = matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        match self.phase {
            Phase::Value => self.value_byte(byte),
            Phase::Broken => {}
            _ if is_space => {}
            Phase::Start if byte == b'{' => self.phase = Phase::Name,
            Phase::Name if byte == b'"' => {
                self.name.clear();
                self.in_text = true;
            }
            Phase::Name if byte == b'}' && self.members == 0 => self.phase = Phase::End,
            Phase::Colon if byte == b':' => self.begin_value(),
            Phase::Start | Phase::Name | Phase::Colon | Phase::End => self.phase = Phase::Broken,
        }
    }

    fn text_byte(&mut self, byte: u8) {
        let ends = byte == b'"' && !self.escaped;
        self.escaped = byte == b'\\' && !self.escaped;
        self.in_text = !ends;
        match self.phase {
            _ if byte < b' ' => self.phase = Phase::Broken,
            Phase::Name if ends => self.phase = Phase::Colon,
            // A name that is longer is none that counts.
            Phase::Name if self.name.len() <= MAX_NAME => self.name.push(byte),
            _ => self.keep(byte),
        }
    }

    fn value_byte(&mut self, byte: u8) {
        match byte {
            b',' | b'}' if self.depth == 0 => return self.end_value(byte),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => match self.depth.checked_sub(1) {
                Some(depth) => self.depth = depth,
                None => self.phase = Phase::Broken,
            },
            b'"' => self.in_text = true,
            _ => {}
        }
        self.keep(byte);
    }

    /// Keeps the text of an id.
    fn keep(&mut self, byte: u8) {
        if self.is_id && self.phase == Phase::Value {
            if self.id_text.len() < MAX_ID {
                self.id_text.push(byte);
            } else {
                self.phase = Phase::Broken;
            }
        }
    }

    fn begin_value(&mut self) {
        self.phase = Phase::Value;
        self.members = self.members.saturating_add(1);
        self.is_id = false;
        if self.name.len() > MAX_NAME {
            return;
        }
        let Some(name) = decoded(&self.name) else {
            self.phase = Phase::Broken;
            return;
        };
        let known = match &*name {
            "method" => &mut self.has.method,
            "result" => &mut self.has.result,
            "error" => &mut self.has.error,
            "id" if self.id.is_none() => {
                self.is_id = true;
                return;
            }
            "id" => {
                self.phase = Phase::Broken;
                return;
            }
            _ => return,
        };
        if std::mem::replace(known, true) {
            self.phase = Phase::Broken;
        }
    }

    fn end_value(&mut self, byte: u8) {
        if self.is_id {
            let Ok(id) = Json::parse(&self.id_text) else {
                self.phase = Phase::Broken;
                return;
            };
            self.id = Some(id);
        }
        self.phase = if byte == b',' { Phase::Name } else { Phase::End };
    }
}

/// The name that a text of JSON without its quotes is. Control characters have broken it already.
fn decoded(raw: &[u8]) -> Option<Cow<'_, str>> {
    if raw.is_ascii() && !raw.contains(&b'\\') {
        return str::from_utf8(raw).ok().map(Cow::Borrowed);
    }
    match Json::parse(&[b"\"", raw, b"\""].concat()) {
        Ok(Json::String(name)) => Some(Cow::Owned(name)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use pact_mandate::json::Number;
    use proptest::prelude::*;

    use super::*;

    fn skim(text: &str) -> Result<Option<Kind>, Malformed> {
        let mut skim = Skim::default();
        skim.take(text.as_bytes());
        skim.finish()
    }

    fn number(number: u64) -> RpcId {
        RpcId::Number(Number::from_u64(number))
    }

    #[test]
    fn a_message_is_told_by_the_members_at_its_top() {
        for (text, kind) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#, Kind::Request(number(7))),
            (
                r#" { "method" : "x" , "params":{"id":1,"result":[{}]}, "\u0069d" : "a\"b" } "#,
                Kind::Request(RpcId::Text("a\"b".into())),
            ),
            (r#"{"id":7,"result":{"id":8,"method":"x"}}"#, Kind::Response(Some(number(7)))),
            (r#"{"result":{},"id":7}"#, Kind::Response(Some(number(7)))),
            (r#"{"id":null,"error":{"code":1}}"#, Kind::Response(None)),
            (r#"{"error":"not found"}"#, Kind::Response(None)),
            (r#"{"method":"notifications/progress","params":{}}"#, Kind::Other),
            (r#"{"first":1}"#, Kind::Other),
            ("{}", Kind::Other),
        ] {
            assert_eq!(skim(text), Ok(Some(kind)), "{text}");
        }
        assert_eq!((skim(""), skim(" \n")), (Ok(None), Ok(None)));
    }

    #[test]
    fn attack_64_what_two_readers_could_take_for_different_messages_is_none() {
        let long = format!(r#"{{"id":"{}","result":{{}}}}"#, "x".repeat(MAX_ID));
        for text in [
            "[]",
            r#"[{"id":1,"result":{}}]"#,
            "7",
            "\u{feff}{}",
            r#"{"id":1,"id":2,"result":{}}"#,
            r#"{"id":1,"\u0069d":2,"result":{}}"#,
            r#"{"id":1,"result":{},"result":{}}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1,"method":"x","result":{}}"#,
            r#"{"id":1.5,"result":{}}"#,
            r#"{"id":[1],"result":{}}"#,
            r#"{"id":1 2,"result":{}}"#,
            r#"{"id":,"result":{}}"#,
            r#"{"result":{}}"#,
            r#"{"id":null,"result":{}}"#,
            r#"{"id":1,"result":{}} {}"#,
            r#"{"id":1,"result":{}"#,
            r#"{"id":1,"result":{}]}"#,
            r#"{"id":1,}"#,
            r"{id:1}",
            "{\"id\":\"a\nb\",\"result\":1}",
            &long,
        ] {
            assert_eq!(skim(text), Err(Malformed), "{text}");
        }
    }

    proptest! {
        /// However the bytes come, and whatever stands around them, the verdict is that of a whole parse.
        #[test]
        fn a_skim_agrees_with_a_parse(
            id in proptest::option::of(prop_oneof!["[0-9]{1,4}".prop_map(|n| format!("1{n}")), "[a-z\\\\u{e9}]{0,5}".prop_map(|s| serde_json::to_string(&s).unwrap_or_default())]),
            names in proptest::collection::btree_set(prop_oneof![Just("method"), Just("result"), Just("error"), Just("params"), Just("x")], 0..4),
            value in prop_oneof![Just("\"}{,\\\"\""), Just("{\"id\":[1,{\"method\":2}]}"), Just("[[],\"]\"]"), Just("-1.5e3"), Just("null")],
            cuts in proptest::collection::vec(0usize..80, 0..4),
        ) {
            let members: Vec<String> = names.iter().map(|name| format!("\"{name}\": {value}"))
                .chain(id.iter().map(|id| format!("\"id\" :{id}"))).collect();
            let text = format!("{{{}}}", members.join(" ,"));
            let parsed = Json::parse(text.as_bytes()).unwrap();
            let mut skim = Skim::default();
            let (mut rest, mut cuts) = (text.as_bytes(), cuts.into_iter());
            let mut ends = 0;
            while !rest.is_empty() {
                let (now, later) = rest.split_at(cuts.next().unwrap_or(rest.len()).min(rest.len()));
                ends += usize::from(skim.take(now).is_some());
                rest = later;
            }
            prop_assert_eq!(ends, 1);
            let has = |name| parsed.get(name).is_some();
            let expected = match (has("method"), has("result"), has("error"), has("id")) {
                (true, false, false, true) => Ok("request"),
                (true, false, false, false) | (false, false, false, _) => Ok("other"),
                (false, true, false, true) | (false, false, true, _) => Ok("response"),
                _ => Err(Malformed),
            };
            let found = skim.finish().map(|kind| match kind {
                Some(Kind::Request(_)) => "request",
                Some(Kind::Response(_)) => "response",
                Some(Kind::Other) => "other",
                None => "nothing",
            });
            prop_assert_eq!(found, expected, "{}", text);
        }
    }
}
