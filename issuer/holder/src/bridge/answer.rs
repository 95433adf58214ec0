//! One message of a server. It is looked at no further than to know where it belongs, and written on as it came.

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::message::Id;

/// A message of a server, on one line.
#[derive(Clone, Debug)]
pub(crate) struct ServerMessage {
    line: Vec<u8>,
    kind: ServerKind,
}

/// What it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerKind {
    /// The answer to a request; a server that could not read the request names no id.
    Response {
        /// Whose.
        id: Option<Id>,
        /// The error, as JSON.
        error: Option<String>,
    },
    /// A request of its own, under its own id.
    Request(Id),
    /// A notification.
    Notification,
}

/// What an error of a sidecar says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SidecarError {
    /// The number: the HTTP status, or JSON-RPC's and MCP's own for a message that is none.
    pub(crate) number: i64,
    /// All of it, as it came.
    pub(crate) text: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) request_id: String,
}

/// A text that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAMessage;

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl ServerMessage {
    /// Takes a text apart.
    pub(crate) fn parse(mut text: Vec<u8>) -> Result<ServerMessage, NotAMessage> {
        // No string of JSON holds a raw line feed, so these stand between values.
        text.iter_mut().filter(|b| matches!(b, b'\n' | b'\r')).for_each(|b| *b = b' ');
        let envelope: Envelope<'_> = serde_json::from_slice(&text).map_err(|_| NotAMessage)?;
        let kind = envelope.kind().ok_or(NotAMessage)?;
        Ok(ServerMessage { line: text, kind })
    }

    pub(crate) fn kind(&self) -> &ServerKind {
        &self.kind
    }

    pub(crate) fn into_line(self) -> Vec<u8> {
        self.line
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.line
    }
}

impl Envelope<'_> {
    fn kind(&self) -> Option<ServerKind> {
        if self.jsonrpc != "2.0" {
            return None;
        }
        let id = match self.id.map(RawValue::get) {
            None | Some("null") => None,
            Some(text) => Some(Id::from_text(text)?),
        };
        match (self.method, self.result, self.error) {
            (Some(_), None, None) => Some(id.map_or(ServerKind::Notification, ServerKind::Request)),
            (None, Some(_), None) => Some(ServerKind::Response { id: Some(id?), error: None }),
            (None, None, Some(error)) => {
                Some(ServerKind::Response { id, error: Some(error.get().to_owned()) })
            }
            _ => None,
        }
    }
}

impl SidecarError {
    /// Reads the error of a refusal: one with a reason and a request id. `None` for any other error.
    pub(crate) fn read(text: &str) -> Option<SidecarError> {
        let error: Value = serde_json::from_str(text).ok()?;
        let member = |pointer: &str| error.pointer(pointer)?.as_str().map(ToOwned::to_owned);
        Some(SidecarError {
            number: error.get("code")?.as_i64()?,
            reason: member("/data/reason")?,
            message: member("/message")?,
            request_id: member("/data/request_id")?,
            text: text.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Result<ServerKind, NotAMessage> {
        ServerMessage::parse(text.as_bytes().to_vec()).map(|message| message.kind)
    }

    #[test]
    fn a_message_is_put_on_one_line_and_otherwise_left_alone() {
        let pretty = "{\r\n \"jsonrpc\":\"2.0\",\n \"id\":1, \"result\":{\"x\":1.0,\"t\":\"a\\nb\"}\n}";
        let message = ServerMessage::parse(pretty.as_bytes().to_vec()).unwrap();
        assert_eq!(message.kind, ServerKind::Response { id: Id::from_text("1"), error: None });
        let line = String::from_utf8(message.into_line()).unwrap();
        assert_eq!(line, "{   \"jsonrpc\":\"2.0\",  \"id\":1, \"result\":{\"x\":1.0,\"t\":\"a\\nb\"} }");
    }

    #[test]
    fn requests_notifications_and_errors_are_told_apart() {
        let id = |text| Id::from_text(text).unwrap();
        assert_eq!(kind(r#"{"jsonrpc":"2.0","id":"a","method":"x"}"#), Ok(ServerKind::Request(id("\"a\""))));
        assert_eq!(kind(r#"{"jsonrpc":"2.0","method":"x"}"#), Ok(ServerKind::Notification));
        let error = kind(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1}}"#);
        assert_eq!(error, Ok(ServerKind::Response { id: None, error: Some("{\"code\":1}".into()) }));
        for bad in [
            "",
            "[]",
            r#"{"jsonrpc":"2.0","id":1}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
            r#"{"id":1,"result":{}}"#,
        ] {
            assert_eq!(kind(bad), Err(NotAMessage), "{bad}");
        }
    }

    #[test]
    fn a_refusal_has_a_reason_and_a_request_id() {
        let refusal = r#"{"code":403,"message":"no","data":{"reason":"r","request_id":"q"}}"#;
        let read = SidecarError::read(refusal).unwrap();
        assert_eq!((read.reason.as_str(), read.request_id.as_str()), ("r", "q"));
        assert_eq!(SidecarError::read(r#"{"code":-32602,"message":"no","data":{"reason":"r"}}"#), None);
        assert_eq!(SidecarError::read(r#"{"code":-32602,"message":"no"}"#), None);
    }
}
