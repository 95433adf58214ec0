//! What the client is told when a call did not go through: for a tool call an answer of the tool, so that the agent reads
//! it and can act; for anything else a JSON-RPC error.

use serde_json::{Value, json};

use super::{
    answer::SidecarError,
    message::{Id, LineFault},
};

/// JSON-RPC 2.0, 5.1: the line is not JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC 2.0, 5.1: JSON, but no request.
const INVALID_REQUEST: i32 = -32600;
/// Where an answer of a tool says the refusal in members.
const REFUSAL: &str = "pact/refusal";
/// Ours: outside of what JSON-RPC and MCP keep for themselves.
const BRIDGE_ERROR: i32 = 502;

/// Why there is no answer of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The stable code.
    code: String,
    message: String,
    /// Under which a sidecar wrote it to its log.
    request_id: Option<String>,
    /// When to try again, in seconds.
    retry_after: Option<u64>,
    /// The status of the sidecar's answer; `None` where the bridge itself refused.
    status: Option<u16>,
    /// The sidecar's whole error, where it was one.
    error: Option<Box<SidecarError>>,
}

impl Refused {
    /// The bridge's own refusal.
    pub(crate) fn here(code: &str, message: impl Into<String>) -> Refused {
        let (code, message) = (code.to_owned(), message.into());
        Refused { code, message, request_id: None, retry_after: None, status: None, error: None }
    }

    /// A sidecar's; `status` is below 400 for what ended an answer that had begun.
    pub(crate) fn there(error: SidecarError, status: u16, retry_after: Option<u64>) -> Refused {
        Refused {
            code: error.reason.clone(),
            message: error.message.clone(),
            request_id: Some(error.request_id.clone()),
            retry_after,
            status: Some(status),
            error: Some(Box::new(error)),
        }
    }

    /// A server's, which did not say more than a status.
    pub(crate) fn not_taken(status: u16) -> Refused {
        let refused = Refused::here("not_taken", format!("the server answered {status}"));
        Refused { status: Some(status), ..refused }
    }

    /// An answer to what no server asked.
    pub(crate) fn not_asked() -> Refused {
        let refused = Refused::here("not_asked", "no server waits for an answer under that id");
        Refused { status: Some(400), ..refused }
    }

    /// The status of an HTTP answer that says so: the sidecar's own, where it was the sidecar.
    pub(crate) fn http_status(&self) -> u16 {
        let own = match self.code.as_str() {
            "no_credential" | "not_signed" | "not_bound" => 403,
            "credential_unavailable" | "too_many_calls" => 503,
            "sidecar_too_slow" | "answer_idle" => 504,
            "internal" => 500,
            _ => 502,
        };
        // A status that says success would hide it.
        self.status.filter(|status| *status >= 400).unwrap_or(own)
    }

    /// Whether a client must hear of it before its agent does: the session is not known, so that it must begin anew, or what it
    /// sent is no message of MCP (the numbers of JSON-RPC and MCP are negative).
    pub(crate) fn is_for_the_client(&self) -> bool {
        self.code == "session_unknown" || self.error.as_ref().is_some_and(|error| error.number < 0)
    }

    /// The stable code.
    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    /// Whether the proof was refused for its time alone: then the clocks differ, and nothing else is wrong yet. What ended an
    /// answer that had begun refused no proof.
    pub(crate) fn is_about_time(&self) -> bool {
        let refused = self.status.is_some_and(|status| status >= 400);
        refused
            && matches!(
                self.code.as_str(),
                "tenuo_proof_too_old"
                    | "tenuo_proof_from_the_future"
                    | "dpop_too_old"
                    | "dpop_from_the_future"
            )
    }

    /// Whether another credential from the same source may do better.
    pub(crate) fn is_about_life(&self) -> bool {
        matches!(self.code.as_str(), "credential_expired" | "tenuo_expired" | "biscuit_expired" | "revoked")
    }

    /// The answer to a tool call: `isError`, a text, and the same as members of `_meta`. No `structuredContent`: clients hold
    /// that against the tool's own schema, and would show a broken schema in place of the refusal. `stateless` is MCP
    /// 2026-07-28.
    pub(crate) fn tool_answer(&self, id: &Id, tool: &str, stateless: bool) -> Vec<u8> {
        let mut refusal = json!({"error": self.code, "message": self.message});
        if let Some(request_id) = &self.request_id {
            put(&mut refusal, "request_id", request_id.as_str());
        }
        if let Some(seconds) = self.retry_after {
            put(&mut refusal, "retry_after_seconds", seconds);
        }
        let content = json!([{"type": "text", "text": self.text(tool)}]);
        let mut result = json!({"content": content, "isError": true, "_meta": {REFUSAL: refusal}});
        if stateless {
            put(&mut result, "resultType", "complete");
        }
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes()
    }

    /// The answer to any other request.
    pub(crate) fn error_answer(&self, id: &Id) -> Vec<u8> {
        self.error_under(&id.to_string())
    }

    /// What is told of a message that has no id to answer under.
    pub(crate) fn error_without_id(&self) -> Vec<u8> {
        self.error_under("null")
    }

    fn error_under(&self, id: &str) -> Vec<u8> {
        if let Some(error) = &self.error {
            // With whatever else a client may want of it, such as the revisions that are known.
            return format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, error.text).into_bytes();
        }
        let code = self.status.map_or(BRIDGE_ERROR, i32::from);
        let error = json!({"code": code, "message": self.message, "data": {"reason": self.code}});
        format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#).into_bytes()
    }

    fn text(&self, tool: &str) -> String {
        let by = match &self.request_id {
            Some(request_id) => format!("code {}, request {request_id}", self.code),
            None => format!("code {}", self.code),
        };
        format!("The call of {tool} did not go through: {} ({by}). {}", self.message, self.advice())
    }

    /// What to do now.
    fn advice(&self) -> String {
        let advice = match (self.code.as_str(), self.status) {
            ("revoked", _) => {
                "The mandate behind this was withdrawn. Stop this work and ask the person who granted it."
            }
            ("replayed", _) => "Make the call again: each one gets a proof of its own.",
            (_, _) if self.is_about_life() => {
                "The credential is over. Ask the person who granted it for a new one; trying again does not help before."
            }
            (_, _) if self.is_about_time() => {
                "The clocks of this machine and of the sidecar differ by more than can be followed. Ask the operator to set them."
            }
            ("no_credential" | "credential_missing", _) => {
                "Ask the person whom you work for to grant this, or use a tool that your mandate covers."
            }
            (_, Some(400)) => "Nothing was done. Correct the call before you make it again.",
            (_, Some(401)) => "Nothing was done. Ask the operator for a credential that holds.",
            (_, Some(403)) => {
                "Nothing was done: your mandate does not cover this call as it stands. Do not repeat it unchanged; keep within the \
                 mandate, or ask the person who granted it for more."
            }
            (_, Some(429 | 503)) => {
                let seconds = self.retry_after.unwrap_or(10);
                return format!("Nothing was done. Try again in {seconds} s.");
            }
            (
                "sidecar_unreachable"
                | "not_signed"
                | "credential_unavailable"
                | "not_bound"
                | "too_many_calls",
                None,
            ) => "Nothing was done. Try again later, or tell the operator.",
            (_, _) => "It is not known whether the tool did anything. Look before you make the call again.",
        };
        advice.to_owned()
    }
}

impl LineFault {
    /// The answer to a line that is no message: JSON-RPC wants one without an id.
    pub(crate) fn answer(self) -> Vec<u8> {
        let code = if matches!(self, LineFault::NotJson(_)) { PARSE_ERROR } else { INVALID_REQUEST };
        let error = json!({"code": code, "message": self.to_string(), "data": {"reason": self.code()}});
        format!(r#"{{"jsonrpc":"2.0","id":null,"error":{error}}}"#).into_bytes()
    }
}

/// Sets a member of an object.
pub(super) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(members) = object.as_object_mut() {
        members.insert(name.to_owned(), value.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn refused(status: u16) -> Refused {
        let error = SidecarError {
            number: i64::from(status),
            text: format!(
                r#"{{"code":{status},"message":"old","data":{{"reason":"list_stale","request_id":"q1"}}}}"#
            ),
            reason: "list_stale".into(),
            message: "the list is\nold".into(),
            request_id: "q1".into(),
        };
        Refused::there(error, status, Some(7))
    }

    #[test]
    fn a_refused_tool_call_is_an_answer_that_an_agent_can_act_on() {
        let id = Id::from_text("\"a\"").unwrap();
        let line = refused(503).tool_answer(&id, "refund", true);
        assert!(!line.contains(&b'\n'));
        let answer: Value = serde_json::from_slice(&line).unwrap();
        assert_eq!(answer["id"], "a");
        assert_eq!(answer["result"]["isError"], true);
        assert_eq!(answer["result"]["resultType"], "complete");
        let structured = &answer["result"]["_meta"]["pact/refusal"];
        assert_eq!(structured["error"], "list_stale");
        assert_eq!(
            (structured["request_id"].as_str(), structured["retry_after_seconds"].as_u64()),
            (Some("q1"), Some(7))
        );
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        for part in ["refund", "list_stale", "q1", "in 7 s"] {
            assert!(text.contains(part), "{text}");
        }
        let older: Value = serde_json::from_slice(&refused(503).tool_answer(&id, "refund", false)).unwrap();
        assert_eq!(older["result"].get("resultType"), None);
    }

    #[test]
    fn any_other_refusal_stays_a_json_rpc_error() {
        let answer: Value =
            serde_json::from_slice(&refused(403).error_answer(&Id::from_text("3").unwrap())).unwrap();
        assert_eq!((answer["id"].as_u64(), answer["error"]["code"].as_i64()), (Some(3), Some(403)));
        assert_eq!(answer["error"]["data"]["reason"], "list_stale");
        let here = Refused::here("sidecar_unreachable", "gone").error_answer(&Id::from_text("3").unwrap());
        let here: Value = serde_json::from_slice(&here).unwrap();
        assert_eq!(here["error"]["code"], 502);
    }

    #[test]
    fn what_may_have_happened_is_not_called_undone() {
        for (refused, undone) in [
            (refused(403), true),
            (refused(503), true),
            (refused(504), false),
            (refused(200), false),
            (Refused::here("sidecar_unreachable", ""), true),
            (Refused::here("answer_broken", ""), false),
        ] {
            assert_eq!(refused.advice().contains("Nothing was done"), undone, "{refused:?}");
        }
    }
}
