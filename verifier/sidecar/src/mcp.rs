//! One JSON-RPC message of MCP, taken apart strictly and once (protocol M1).

use std::fmt;

use bytes::Bytes;
use pact_mandate::{
    Json,
    json::{Member, Number},
};

use crate::{
    config::ToolsList,
    fault::ShapeFault,
    limits::{MAX_METHOD_CHARS, MAX_RPC_ID_CHARS},
};

pub mod agreement;
pub(crate) mod era;
mod incoming;
#[cfg(test)]
mod tests;

pub use incoming::{ClientResponse, Incoming};

/// A message that has the right shape; nothing in it is believed yet. It owns the bytes that it was read from: they are what
/// is forwarded, should it be let through.
pub struct Message {
    body: Bytes,
    id: Option<RpcId>,
    method: String,
    params: Option<Json>,
}

/// The id of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RpcId {
    /// An integer, as it was written.
    Number(Number),
    /// A string.
    Text(String),
}

/// What is to happen to a message.
#[derive(Debug)]
pub enum Asks {
    /// It goes through without a credential.
    Open(OpenMessage),
    /// It is judged.
    Tool(ToolCall),
}

/// A message whose method is open. Made by [`Message::asks`] alone:
///
/// ```
/// # use pact_sidecar::{config::ToolsList, mcp::{Asks, Message, OpenMessage}};
/// fn open(message: Message) -> Option<OpenMessage> {
///     let Ok(Asks::Open(open)) = message.asks(ToolsList::Refuse) else { return None };
///     Some(open)
/// }
/// ```
///
/// ```compile_fail,E0423
/// # use pact_sidecar::{config::ToolsList, mcp::{Asks, Message, OpenMessage}};
/// fn open(message: Message) -> Option<OpenMessage> {
///     Some(OpenMessage(message))
/// }
/// ```
#[derive(Debug)]
pub struct OpenMessage(Message);

/// A `tools/call`, which only the ladder of trust lets through. Made by [`Message::asks`] alone.
///
/// ```compile_fail,E0423
/// # use pact_sidecar::mcp::{Message, ToolCall};
/// fn call(message: Message) -> ToolCall {
///     ToolCall(message)
/// }
/// ```
#[derive(Debug)]
pub struct ToolCall(Message);

/// What `tools/call` may carry: the current schema's, `task` left out (tasks are a door of their own).
const CALL_PARAMS: [&str; 5] = ["name", "arguments", "_meta", "inputResponses", "requestState"];

impl Message {
    /// Takes a body apart.
    pub fn parse(body: Bytes) -> Result<Message, ShapeFault> {
        let json = Json::parse(&body)?;
        Message::from_json(body, json)
    }

    fn from_json(body: Bytes, json: Json) -> Result<Message, ShapeFault> {
        match json {
            Json::Object(members) => Message::from_members(body, members),
            Json::Array(_) => Err(ShapeFault::Batch),
            _ => Err(ShapeFault::NotAMessage),
        }
    }

    fn from_members(body: Bytes, members: Vec<Member>) -> Result<Message, ShapeFault> {
        let (mut version, mut id, mut method, mut params) = (None, None, None, None);
        for Member { name, value, .. } in members {
            match name.as_str() {
                "jsonrpc" => version = Some(value),
                "id" => id = Some(value),
                "method" => method = Some(value),
                "params" => params = Some(value),
                "result" | "error" => return Err(ShapeFault::ResponseNotExpected),
                _ => return Err(ShapeFault::UnknownMember { place: "the message" }),
            }
        }
        if version.as_ref().and_then(Json::as_str) != Some("2.0") {
            return Err(ShapeFault::JsonRpcVersion);
        }
        let Some(Json::String(method)) = method else {
            return Err(ShapeFault::BadMethod);
        };
        if !(1..=MAX_METHOD_CHARS).contains(&method.len()) || !method.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(ShapeFault::BadMethod);
        }
        if params.as_ref().is_some_and(|params| params.members().is_none()) {
            return Err(ShapeFault::BadParams { wanted: "an object" });
        }
        Ok(Message { body, id: id.map(RpcId::from_json).transpose()?, method, params })
    }

    /// The bytes that it was read from.
    pub(crate) fn body(&self) -> &Bytes {
        &self.body
    }

    /// The request's id; `None` for a notification.
    pub fn id(&self) -> Option<&RpcId> {
        self.id.as_ref()
    }

    pub(crate) fn into_id(self) -> Option<RpcId> {
        self.id
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The parameters.
    pub fn params(&self) -> Option<&Json> {
        self.params.as_ref()
    }

    /// What is to happen: an exact table, and a refusal for all that is not in it.
    pub fn asks(self, tools_list: ToolsList) -> Result<Asks, ShapeFault> {
        let is_request = self.id.is_some();
        match self.method.as_str() {
            "notifications/initialized"
            | "notifications/cancelled"
            | "notifications/progress"
            | "notifications/roots/list_changed" => {
                if is_request {
                    Err(ShapeFault::IdNotExpected)
                } else {
                    Ok(Asks::Open(OpenMessage(self)))
                }
            }
            "initialize" | "ping" | "server/discover" | "tools/list" | "tools/call" if !is_request => {
                Err(ShapeFault::IdMissing)
            }
            "initialize" | "ping" | "server/discover" => Ok(Asks::Open(OpenMessage(self))),
            "tools/list" if tools_list == ToolsList::Pass => Ok(Asks::Open(OpenMessage(self))),
            "tools/call" => self.check_call().map(|()| Asks::Tool(ToolCall(self))),
            _ => Err(ShapeFault::MethodNotOpen),
        }
    }

    fn check_call(&self) -> Result<(), ShapeFault> {
        let members = self.params.as_ref().and_then(Json::members).unwrap_or_default();
        if members.iter().any(|member| !CALL_PARAMS.contains(&member.name.as_str())) {
            return Err(ShapeFault::UnknownMember { place: "`params`" });
        }
        if self.tool().is_none() {
            return Err(ShapeFault::BadParams { wanted: "`name`, a string" });
        }
        let is_object = |name| self.param(name).is_none_or(|value| value.members().is_some());
        if is_object("arguments") && is_object("_meta") {
            Ok(())
        } else {
            Err(ShapeFault::BadParams { wanted: "`arguments` and `_meta`, objects where present" })
        }
    }

    /// The tool of a `tools/call`.
    pub fn tool(&self) -> Option<&str> {
        self.param("name")?.as_str()
    }

    fn param(&self, name: &str) -> Option<&Json> {
        self.params.as_ref()?.get(name)
    }
}

impl fmt::Debug for Message {
    /// Not what it carries: that may be a token, a proof nobody has used yet, or an argument.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Message({} bytes, {})", self.body.len(), self.method)
    }
}

impl OpenMessage {
    pub(crate) fn into_message(self) -> Message {
        self.0
    }
}

impl ToolCall {
    /// The message that makes the call.
    pub fn message(&self) -> &Message {
        &self.0
    }

    pub(crate) fn into_message(self) -> Message {
        self.0
    }
}

impl RpcId {
    pub(crate) fn from_json(value: Json) -> Result<RpcId, ShapeFault> {
        match value {
            Json::String(text) if text.chars().count() <= MAX_RPC_ID_CHARS => Ok(RpcId::Text(text)),
            Json::Number(number)
                if number.text().len() <= MAX_RPC_ID_CHARS && !number.text().contains(['.', 'e', 'E']) =>
            {
                Ok(RpcId::Number(number))
            }
            _ => Err(ShapeFault::BadId),
        }
    }

    /// The id as JSON, for an answer.
    pub fn to_json(&self) -> String {
        match self {
            RpcId::Number(number) => number.text().to_owned(),
            // A string always serialises.
            RpcId::Text(text) => serde_json::to_string(text).unwrap_or_else(|_| "null".to_owned()),
        }
    }
}
