//! What HTTP headers repeat of a request's body (MCP 2026-07-28, Streamable HTTP): `Mcp-Name`, and `Mcp-Param-*` for the arguments
//! that a tool's schema marks. Whoever sends writes them from the body, whoever judges compares them with it (protocol M1); the
//! rule of what stands where is the same for both, and here.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_mandate::{Json, json::Number};

mod marks;
#[cfg(test)]
mod tests;

pub use marks::{MarkFault, Marks};

/// What begins the name of each header that repeats an argument, in lower case.
pub const PARAM_PREFIX: &str = "mcp-param-";

const WRAP: (&str, &str) = ("=?base64?", "?=");

/// What `Mcp-Name` repeats: for each method that has a name, which member it is.
pub fn name<'a>(method: &str, params: Option<&'a Json>) -> Option<&'a str> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ => return None,
    };
    params?.get(member)?.as_str()
}

/// A text as the value of a header: as it is where HTTP carries it unchanged, else wrapped as `=?base64?…?=`.
pub fn wrap(text: &str) -> Cow<'_, str> {
    let is_plain = text.bytes().all(|byte| (0x20..0x7f).contains(&byte)) && text.trim() == text;
    if is_plain && !(text.starts_with(WRAP.0) && text.ends_with(WRAP.1)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(format!("{}{}{}", WRAP.0, STANDARD.encode(text), WRAP.1))
}

/// Undoes [`wrap`]; `None` for what is wrapped and is not base64 of UTF-8.
pub fn unwrap(value: &str) -> Option<Cow<'_, str>> {
    match value.strip_prefix(WRAP.0).and_then(|rest| rest.strip_suffix(WRAP.1)) {
        None => Some(Cow::Borrowed(value)),
        Some(wrapped) => String::from_utf8(STANDARD.decode(wrapped).ok()?).ok().map(Cow::Owned),
    }
}

/// The value of a header that repeats an argument; `None` for what no header can.
pub fn of_argument(argument: &Json) -> Option<Cow<'_, str>> {
    match argument {
        Json::String(text) => Some(wrap(text)),
        Json::Number(number) => Some(Cow::Borrowed(number.text())),
        Json::Bool(flag) => Some(Cow::Borrowed(if *flag { "true" } else { "false" })),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
}

/// Whether the value of a header repeats an argument. Numbers are the same however they are written.
pub fn repeats(value: &str, argument: &Json) -> bool {
    let Some(said) = unwrap(value) else { return false };
    match argument {
        Json::Number(number) => is_number(&said, number),
        Json::String(text) => said == text.as_str(),
        Json::Bool(_) => of_argument(argument).is_some_and(|flag| flag == said),
        Json::Null | Json::Array(_) | Json::Object(_) => false,
    }
}

fn is_number(said: &str, number: &Number) -> bool {
    if said == number.text() {
        return true;
    }
    let said = Number::from_text(said).and_then(|said| said.as_exact_f64());
    // Two that no double tells apart were written with more digits than it keeps, and are no exact doubles.
    said.is_some() && said == number.as_exact_f64()
}
