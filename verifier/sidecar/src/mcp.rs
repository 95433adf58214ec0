//! One JSON-RPC message of MCP, taken apart strictly and once (protocol M1).

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
#[cfg(test)]
mod tests;

/// A message that has the right shape; nothing in it is believed yet.
#[derive(Debug)]
pub struct Message {
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
    Open(OpenMethod),
    /// It is a tool call: it is judged.
    Tool,
}

/// Shows that a method is open. Made by [`Message::asks`] alone.
#[derive(Debug)]
pub struct OpenMethod(());

/// What `tools/call` may carry: the current schema's, `task` left out (tasks are a door of their own).
const CALL_PARAMS: [&str; 5] = ["name", "arguments", "_meta", "inputResponses", "requestState"];

impl Message {
    /// Takes a body apart.
    pub fn parse(body: &[u8]) -> Result<Message, ShapeFault> {
        match Json::parse(body)? {
            Json::Object(members) => Message::from_members(members),
            Json::Array(_) => Err(ShapeFault::Batch),
            _ => Err(ShapeFault::NotAMessage),
        }
    }

    fn from_members(members: Vec<Member>) -> Result<Message, ShapeFault> {
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
        Ok(Message { id: id.map(RpcId::from_json).transpose()?, method, params })
    }

    /// The request's id; `None` for a notification.
    pub fn id(&self) -> Option<&RpcId> {
        self.id.as_ref()
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
    pub fn asks(&self, tools_list: ToolsList) -> Result<Asks, ShapeFault> {
        let open = || Ok(Asks::Open(OpenMethod(())));
        let is_request = self.id.is_some();
        match self.method.as_str() {
            "notifications/initialized"
            | "notifications/cancelled"
            | "notifications/progress"
            | "notifications/roots/list_changed" => {
                if is_request {
                    Err(ShapeFault::IdNotExpected)
                } else {
                    open()
                }
            }
            "initialize" | "ping" | "server/discover" | "tools/list" | "tools/call" if !is_request => {
                Err(ShapeFault::IdMissing)
            }
            "initialize" | "ping" | "server/discover" => open(),
            "tools/list" if tools_list == ToolsList::Pass => open(),
            "tools/call" => self.check_call().map(|()| Asks::Tool),
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

impl RpcId {
    fn from_json(value: Json) -> Result<RpcId, ShapeFault> {
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
