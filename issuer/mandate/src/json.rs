//! The one strict JSON parser (RFC 8259, and no more): what two readers could understand differently is refused.

use std::ops::Range;

use crate::limits::{MAX_JSON_DEPTH, MAX_JSON_NODES};

mod parse;
pub(crate) mod plain;
#[cfg(test)]
mod tests;

/// A JSON value whose numbers keep their text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number, as it was written.
    Number(Number),
    /// A string, unescaped.
    String(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order in which it was written, each name once.
    Object(Vec<Member>),
}

/// One member of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The name, unescaped.
    pub name: String,
    /// The value.
    pub value: Json,
    /// Where the whole member (name, colon, value) stood in the text; empty for a value that was not parsed.
    pub span: Range<usize>,
}

/// The text of a JSON number. Made by the parser alone, so it is always in the grammar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(Box<str>);

/// Why a text is refused, and at which byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (at byte {at})")]
pub struct JsonError {
    /// What is wrong.
    pub fault: JsonFault,
    /// Offset of the byte where it was noticed.
    pub at: usize,
}

/// What is wrong with a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    /// Not UTF-8.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// Starts with a byte order mark.
    #[error("the text starts with a byte order mark")]
    ByteOrderMark,
    /// Against the grammar of RFC 8259.
    #[error("the text is not JSON")]
    Syntax,
    /// Ends too early.
    #[error("the text ends inside a value")]
    Truncated,
    /// More after the value.
    #[error("there is more text after the value")]
    Trailing,
    /// An object names a member twice.
    #[error("an object names the same member twice")]
    DuplicateMember,
    /// Half of a surrogate pair, or an escape that names none.
    #[error("a string holds an unpaired surrogate")]
    LoneSurrogate,
    /// Nested deeper than the bound.
    #[error("values are nested deeper than {MAX_JSON_DEPTH}")]
    TooDeep,
    /// More values than the bound.
    #[error("there are more than {MAX_JSON_NODES} values")]
    TooMany,
}

impl Json {
    /// Parses a whole text. Time and memory are linear in its length and bounded by [`crate::limits`].
    pub fn parse(text: &[u8]) -> Result<Json, JsonError> {
        parse::parse(text)
    }

    /// The member of that name, when this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members()?.iter().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The members, when this is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The text, when this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The value, when this is an integer written as one and within u64.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Json::Number(number) => number.text().parse().ok(),
            _ => None,
        }
    }
}

impl Member {
    /// A member that stands nowhere yet.
    pub fn new(name: impl Into<String>, value: Json) -> Member {
        Member { name: name.into(), value, span: 0..0 }
    }
}

impl Number {
    /// The number as it was written.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The number of an integer.
    pub fn from_u64(integer: u64) -> Number {
        Number(integer.to_string().into())
    }

    /// The number of an integer.
    pub fn from_i64(integer: i64) -> Number {
        Number(integer.to_string().into())
    }

    /// A number of this JSON text; `None` when it is none.
    pub fn from_text(text: &str) -> Option<Number> {
        match Json::parse(text.as_bytes()).ok()? {
            Json::Number(number) if number.text() == text => Some(number),
            _ => None,
        }
    }

    /// The nearest double, when the number's exact value is that double's shortest decimal (so that no two different
    /// numbers become one): `0.1` and `1e2` pass, `9007199254740993` and `1e999` do not.
    pub fn as_exact_f64(&self) -> Option<f64> {
        parse::exact_f64(&self.0)
    }
}
