//! Canonical JSON (RFC 8785): the only bytes that are hashed or signed. Nothing else calls `serde_jcs`.

use serde::{Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use crate::{
    json::{Json, Member, Number, plain::plain_length},
    limits::MAX_SAFE_INTEGER,
};

/// Why there are no canonical bytes, or why bytes are not canonical.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The value does not serialise; a fault of ours.
    #[error("the value has no JSON form: {0}")]
    Unserialisable(String),
    /// Not the JSON of the wanted structure. The reason names members and positions, never values.
    #[error("not the JSON of the wanted structure, at line {line} column {column}")]
    Malformed {
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// The right content in other bytes: another order, spacing or spelling, or a member named twice.
    #[error("the JSON is not in its canonical form (RFC 8785)")]
    NotCanonical,
    /// A number in a signed statement that is no integer, or one past 2^53 − 1, which readers do not all keep.
    #[error("the signed number {0} is not an integer of at most 2^53 - 1")]
    UnsafeNumber(String),
    /// A number that is not the shortest decimal of any double, so that canonical bytes would change its value.
    #[error("the number {0} has more digits than JSON numbers keep")]
    InexactNumber(String),
}

/// The canonical bytes of a structure.
pub fn to_bytes<T: Serialize>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    serde_jcs::to_vec(value).map_err(|error| CanonicalError::Unserialisable(error.to_string()))
}

/// Reads a structure from bytes that are its canonical form, and from no others.
pub fn from_bytes<T: Serialize + DeserializeOwned>(bytes: &[u8]) -> Result<T, CanonicalError> {
    let value: T = serde_json::from_slice(bytes)
        .map_err(|error| CanonicalError::Malformed { line: error.line(), column: error.column() })?;
    if to_bytes(&value)? == bytes { Ok(value) } else { Err(CanonicalError::NotCanonical) }
}

/// Refuses a statement's text in which a number is no integer or lies beyond ±(2^53 − 1): there `serde_jcs` writes one
/// text for several values, so that one signature would serve them all. The text is known to be JSON, so it is enough to
/// look at what stands outside its strings: one pass, whatever the number of its values.
pub(crate) fn check_numbers(text: &str) -> Result<(), CanonicalError> {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        let (_, token) = rest.split_at(start);
        rest = match token.strip_prefix('"') {
            Some(string) => after_string(string),
            None => after_number(token)?,
        };
    }
    Ok(())
}

/// What follows the closing quote.
fn after_string(mut text: &str) -> &str {
    while let Some((before, after)) = text.split_once(['"', '\\']) {
        if text.as_bytes().get(before.len()) == Some(&b'"') {
            return after;
        }
        // The character after a backslash belongs to it, a quote too.
        text = after.get(1..).unwrap_or_default();
    }
    ""
}

fn after_number(text: &str) -> Result<&str, CanonicalError> {
    let end = text.find([',', ']', '}']).unwrap_or(text.len());
    let (number, rest) = text.split_at(end);
    let integer: Option<i64> = number.parse().ok();
    let safe = integer.is_some_and(|integer| integer.unsigned_abs() <= MAX_SAFE_INTEGER);
    if safe { Ok(rest) } else { Err(CanonicalError::UnsafeNumber(shortened(number))) }
}

/// SHA-256 of the canonical bytes of a parsed value.
pub fn digest(value: &Json) -> Result<[u8; 32], CanonicalError> {
    let mut bytes = Vec::new();
    write(value, &mut bytes)?;
    Ok(Sha256::digest(bytes).into())
}

/// Appends the canonical bytes of a parsed value. A property test holds this equal to `serde_jcs`,
/// which costs several times as much.
pub fn write(value: &Json, out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => write_number(number, out)?,
        Json::String(text) => write_string(text, out),
        Json::Array(items) => write_array(items, out)?,
        Json::Object(members) => write_object(members, out)?,
    }
    Ok(())
}

fn write_array(items: &[Json], out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out)?;
    }
    out.push(b']');
    Ok(())
}

fn write_object(members: &[Member], out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    let mut sorted: Vec<&Member> = members.iter().collect();
    sorted.sort_by(|a, b| a.name.encode_utf16().cmp(b.name.encode_utf16()));
    out.push(b'{');
    for (at, member) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_string(&member.name, out);
        out.push(b':');
        write(&member.value, out)?;
    }
    out.push(b'}');
    Ok(())
}

fn write_number(number: &Number, out: &mut Vec<u8>) -> Result<(), CanonicalError> {
    let double =
        number.as_exact_f64().ok_or_else(|| CanonicalError::InexactNumber(shortened(number.text())))?;
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
    Ok(())
}

/// Enough of a number to find it by, whatever its length.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    while let Some((plain, special)) = rest.split_at_checked(plain_length(rest.as_bytes()))
        && !special.is_empty()
    {
        out.extend_from_slice(plain.as_bytes());
        let mut chars = special.chars();
        if let Some(c) = chars.next() {
            write_escape(c, out);
        }
        rest = chars.as_str();
    }
    out.extend_from_slice(rest.as_bytes());
    out.push(b'"');
}

fn write_escape(c: char, out: &mut Vec<u8>) {
    match c {
        '"' => out.extend_from_slice(b"\\\""),
        '\\' => out.extend_from_slice(b"\\\\"),
        '\u{8}' => out.extend_from_slice(b"\\b"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\u{c}' => out.extend_from_slice(b"\\f"),
        '\r' => out.extend_from_slice(b"\\r"),
        other => out.extend_from_slice(format!("\\u{:04x}", u32::from(other)).as_bytes()),
    }
}

#[cfg(test)]
mod tests;
