//! One JSON-RPC message of MCP, taken apart strictly and once (protocol M1).

use std::fmt;

use bytes::Bytes;
use pact_mandate::{
    Json,
    json::{Member, Number},
};

use pact_verifier::policy::{Door, Policy};

use crate::{
    fault::ShapeFault,
    limits::{MAX_METHOD_CHARS, MAX_RPC_ID_CHARS},
};

pub mod agreement;
pub(crate) mod era;
mod incoming;
mod param_headers;
pub(crate) mod revisions;
#[cfg(test)]
mod tests;

pub use incoming::{ClientResponse, Incoming};
pub(crate) use param_headers::ParamHeaders;

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
    /// It asks what tools there are, which each caller is shown its own part of.
    List(ListMessage),
    /// It is judged.
    Tool(ToolCall),
}

/// A message whose method is open. Made by [`Message::asks`] alone:
///
/// ```
/// # use pact_sidecar::mcp::{Asks, Message, OpenMessage};
/// # use pact_verifier::Policy;
/// fn open(message: Message, policy: &Policy) -> Option<OpenMessage> {
///     let Ok(Asks::Open(open)) = message.asks(policy) else { return None };
///     Some(open)
/// }
/// ```
///
/// ```compile_fail,E0423
/// # use pact_sidecar::mcp::{Asks, Message, OpenMessage};
/// fn open(message: Message) -> Option<OpenMessage> {
///     Some(OpenMessage(message))
/// }
/// ```
#[derive(Debug)]
pub struct OpenMessage(Message);

/// A `tools/list`, whose answer is filtered. Made by [`Message::asks`] alone.
#[derive(Debug)]
pub struct ListMessage(Message);

/// A `tools/call`, or a message of a method that the policy maps: only the ladder of trust lets it through. Made by
/// [`Message::asks`] alone.
///
/// ```compile_fail,E0423
/// # use pact_sidecar::mcp::{Message, ToolCall};
/// fn call(message: Message) -> ToolCall {
///     ToolCall(message)
/// }
/// ```
#[derive(Debug)]
pub struct ToolCall(Message);

/// The method that calls a tool.
pub(crate) const TOOLS_CALL: &str = "tools/call";

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

    /// What is to happen: what the policy says of the method, and a refusal for all that it does not name.
    pub fn asks(self, policy: &Policy) -> Result<Asks, ShapeFault> {
        let door = if self.method == TOOLS_CALL { Door::Judged } else { policy.door(&self.method) };
        if door == Door::Closed {
            return Err(ShapeFault::MethodNotOpen);
        }
        match (self.id.is_some(), self.method.starts_with("notifications/")) {
            (true, true) => return Err(ShapeFault::IdNotExpected),
            (false, false) => return Err(ShapeFault::IdMissing),
            _ => {}
        }
        match self.method.as_str() {
            TOOLS_CALL => self.check_call()?,
            "tools/list" => return Ok(Asks::List(ListMessage(self))),
            _ if door == Door::Open => return Ok(Asks::Open(OpenMessage(self))),
            _ => {}
        }
        if self.param("_meta").is_none_or(|meta| meta.members().is_some()) {
            Ok(Asks::Tool(ToolCall(self)))
        } else {
            Err(ShapeFault::BadParams { wanted: "`_meta`, an object where present" })
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
        if self.param("arguments").is_none_or(|value| value.members().is_some()) {
            Ok(())
        } else {
            Err(ShapeFault::BadParams { wanted: "`arguments`, an object where present" })
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

impl ListMessage {
    /// The message that asks.
    pub fn message(&self) -> &Message {
        &self.0
    }

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
