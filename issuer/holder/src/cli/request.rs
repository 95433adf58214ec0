//! The whole request, for whoever sends it as it is.

use pact_holder::call::TOOLS_CALL;
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

/// A `tools/call` with credential and proof in its `_meta`. The arguments keep their text.
#[derive(Serialize)]
pub(crate) struct Request {
    jsonrpc: &'static str,
    id: u32,
    method: &'static str,
    params: Params,
}

#[derive(Serialize)]
struct Params {
    name: String,
    arguments: Box<RawValue>,
    #[serde(rename = "_meta")]
    meta: Map<String, Value>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Request {
    /// Of a tool, its arguments, the caller's other `params`, and the members that carry credential and proof.
    pub(crate) fn new(
        tool: &str,
        arguments: &str,
        params: Option<&str>,
        proof: Map<String, Value>,
    ) -> Result<Request, serde_json::Error> {
        let mut others: Map<String, Value> = params.map_or_else(|| Ok(Map::new()), serde_json::from_str)?;
        others.retain(|name, _| name != "name" && name != "arguments");
        let mut meta = match others.remove("_meta") {
            Some(Value::Object(meta)) => meta,
            _ => Map::new(),
        };
        meta.extend(proof);
        let arguments = RawValue::from_string(arguments.to_owned())?;
        let params = Params { name: tool.to_owned(), arguments, meta, others };
        Ok(Request { jsonrpc: "2.0", id: 1, method: TOOLS_CALL, params })
    }
}
