//! What a body of a POST is: a message that asks or tells, or a client's answer to what the tool server asked.

use std::fmt;

use bytes::Bytes;
use pact_mandate::{Json, json::Member};
use pact_verifier::act::RequestId;

use super::{Message, RpcId};
use crate::fault::ShapeFault;

/// A body of the right shape; nothing in it is believed yet.
#[derive(Debug)]
pub enum Incoming {
    /// A request or a notification.
    Message(Message),
    /// A response.
    Response(ClientResponse),
}

/// A client's response. It owns the bytes that it was read from, which are what is forwarded.
pub struct ClientResponse {
    body: Bytes,
    id: RpcId,
}

impl Incoming {
    /// Takes a body apart, once.
    pub fn parse(body: Bytes) -> Result<Incoming, ShapeFault> {
        match Json::parse(&body)? {
            Json::Object(members) if is_response(&members) => {
                ClientResponse::from_members(body, members).map(Incoming::Response)
            }
            json => Message::from_json(body, json).map(Incoming::Message),
        }
    }
}

/// With a `method`, it is a message that has one member too many.
fn is_response(members: &[Member]) -> bool {
    let has = |name| members.iter().any(|member| member.name == name);
    (has("result") || has("error")) && !has("method")
}

impl ClientResponse {
    fn from_members(body: Bytes, members: Vec<Member>) -> Result<ClientResponse, ShapeFault> {
        let (mut version, mut id, mut outcomes) = (None, None, Vec::new());
        for Member { name, value, .. } in members {
            match name.as_str() {
                "jsonrpc" => version = Some(value),
                "id" => id = Some(value),
                "result" | "error" => outcomes.push(value),
                "params" => return Err(ShapeFault::ResponseNotExpected),
                _ => return Err(ShapeFault::UnknownMember { place: "the message" }),
            }
        }
        if version.as_ref().and_then(Json::as_str) != Some("2.0") {
            return Err(ShapeFault::JsonRpcVersion);
        }
        if !matches!(outcomes.as_slice(), [Json::Object(_)]) {
            return Err(ShapeFault::BadResponse);
        }
        let id = id.map_or(Err(ShapeFault::BadId), RpcId::from_json)?;
        Ok(ClientResponse { body, id })
    }

    /// The id of what it answers.
    pub fn id(&self) -> &RpcId {
        &self.id
    }

    /// The bytes that it was read from.
    pub fn body(&self) -> &Bytes {
        &self.body
    }
}

impl fmt::Debug for ClientResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientResponse({} bytes)", self.body.len())
    }
}

impl From<&RpcId> for RequestId {
    fn from(id: &RpcId) -> RequestId {
        match id {
            RpcId::Number(number) => RequestId::Number(number.clone()),
            RpcId::Text(text) => RequestId::Text(text.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Incoming, &'static str> {
        Incoming::parse(Bytes::copy_from_slice(text.as_bytes())).map_err(|fault| fault.code())
    }

    #[test]
    fn a_response_has_an_id_and_one_outcome_and_nothing_else() {
        for text in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#,
            r#"{"error":{"code":-1,"message":"no"},"id":"a","jsonrpc":"2.0"}"#,
        ] {
            let Ok(Incoming::Response(response)) = parse(text) else { panic!("{text}") };
            assert_eq!(&response.body()[..], text.as_bytes());
        }
        for (text, code) in [
            (r#"{"jsonrpc":"2.0","result":{}}"#, "bad_id"),
            (r#"{"jsonrpc":"2.0","id":null,"result":{}}"#, "bad_id"),
            (r#"{"id":7,"result":{}}"#, "jsonrpc_version"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#, "bad_response"),
            (r#"{"jsonrpc":"2.0","id":7,"result":1}"#, "bad_response"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"params":{}}"#, "response_not_expected"),
            (r#"{"jsonrpc":"2.0","id":7,"result":{},"Id":8}"#, "unknown_member"),
            (r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{}}"#, "response_not_expected"),
            (r#"[{"jsonrpc":"2.0","id":7,"result":{}}]"#, "batch"),
        ] {
            assert_eq!(parse(text).map(|_| ()), Err(code), "{text}");
        }
        assert!(matches!(parse(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#), Ok(Incoming::Message(_))));
    }
}
