//! A recursive descent over bytes, bounded in depth and count.

use std::{collections::HashSet, ops::Range};

use super::{Json, JsonError, JsonFault, Member, Number, plain::plain_length};
use crate::{
    amount::Decimal,
    limits::{MAX_JSON_DEPTH, MAX_JSON_NODES, MAX_SAFE_INTEGER},
};

/// Objects up to this size are searched for duplicates by comparing, larger ones through a set.
const SMALL_OBJECT: usize = 16;

pub(super) fn parse(text: &[u8]) -> Result<Json, JsonError> {
    if text.starts_with(b"\xef\xbb\xbf") {
        return Err(JsonError { fault: JsonFault::ByteOrderMark, at: 0 });
    }
    let text = std::str::from_utf8(text)
        .map_err(|error| JsonError { fault: JsonFault::NotUtf8, at: error.valid_up_to() })?;
    let mut parser = Parser { text, at: 0, nodes: 0 };
    parser.skip_space();
    let value = parser.value(0)?;
    parser.skip_space();
    if parser.at < text.len() { Err(parser.error(JsonFault::Trailing)) } else { Ok(value) }
}

/// See [`Number::as_exact_f64`].
pub(super) fn exact_f64(text: &str) -> Option<f64> {
    // Most numbers are small integers, and every one of those is exact.
    if let Ok(integer) = text.parse::<i64>()
        && integer.unsigned_abs() <= MAX_SAFE_INTEGER
        && text != "-0"
    {
        return i32::try_from(integer).map(f64::from).ok().or_else(|| text.parse().ok());
    }
    let double: f64 = text.parse().ok()?;
    if !double.is_finite() {
        return None;
    }
    // ECMAScript's shortest decimal, as RFC 8785 writes it: of two that are equally near it takes the even one, where
    // Rust's own formatting takes the other.
    let mut buffer = ryu_js::Buffer::new();
    let shortest = Decimal::parse(buffer.format_finite(double)).ok()?;
    let written = Decimal::parse(text).ok()?;
    (written.digits == shortest.digits && written.exponent == shortest.exponent).then_some(double)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    nodes: usize,
}

impl Parser<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > MAX_JSON_DEPTH {
            return Err(self.error(JsonFault::TooDeep));
        }
        self.nodes += 1;
        if self.nodes > MAX_JSON_NODES {
            return Err(self.error(JsonFault::TooMany));
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' => self.string().map(Json::String),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            b'n' => self.word("null", Json::Null),
            b'-' | b'0'..=b'9' => self.number().map(Json::Number),
            _ => Err(self.error(JsonFault::Syntax)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut names = HashSet::new();
        self.skip_space();
        if self.take(b'}')? {
            return Ok(Json::Object(members));
        }
        loop {
            let start = self.at;
            if self.peek()? != b'"' {
                return Err(self.error(JsonFault::Syntax));
            }
            let name = self.string()?;
            if is_repeated(&name, &members, &mut names) {
                return Err(JsonError { fault: JsonFault::DuplicateMember, at: start });
            }
            self.skip_space();
            self.expect(b':')?;
            self.skip_space();
            let value = self.value(depth + 1)?;
            members.push(Member { name, value, span: start..self.at });
            self.skip_space();
            if self.take(b'}')? {
                return Ok(Json::Object(members));
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.skip_space();
        if self.take(b']')? {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.skip_space();
            if self.take(b']')? {
                return Ok(Json::Array(items));
            }
            self.expect(b',')?;
            self.skip_space();
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        self.at += 1;
        let mut value = String::new();
        loop {
            let start = self.at;
            // It stops at bytes below 0x80 only, so slices stay whole characters.
            self.at += plain_length(self.rest().as_bytes());
            value.push_str(self.slice(start..self.at));
            match self.peek()? {
                b'"' => {
                    self.at += 1;
                    return Ok(value);
                }
                b'\\' => value.push(self.escape()?),
                _ => return Err(self.error(JsonFault::Syntax)),
            }
        }
    }

    fn escape(&mut self) -> Result<char, JsonError> {
        self.at += 1;
        let letter = self.peek()?;
        self.at += 1;
        Ok(match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err(JsonError { fault: JsonFault::Syntax, at: self.at - 1 }),
        })
    }

    fn unicode_escape(&mut self) -> Result<char, JsonError> {
        let start = self.at;
        let lone = JsonError { fault: JsonFault::LoneSurrogate, at: start };
        let first = self.four_hex()?;
        if !(0xd800..0xe000).contains(&first) {
            return char::from_u32(first).ok_or(lone);
        }
        if first >= 0xdc00 || !self.rest().starts_with("\\u") {
            return Err(lone);
        }
        self.at += 2;
        let second = self.four_hex()?;
        if !(0xdc00..0xe000).contains(&second) {
            return Err(lone);
        }
        char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)).ok_or(lone)
    }

    fn four_hex(&mut self) -> Result<u32, JsonError> {
        let digits =
            self.text.as_bytes().get(self.at..self.at + 4).ok_or(self.error(JsonFault::Truncated))?;
        let value = digits.iter().try_fold(0, |value, &b| Some(value * 16 + char::from(b).to_digit(16)?));
        let value = value.ok_or(self.error(JsonFault::Syntax))?;
        self.at += 4;
        Ok(value)
    }

    fn number(&mut self) -> Result<Number, JsonError> {
        let start = self.at;
        if self.next_is(|b| b == b'-') {
            self.at += 1;
        }
        let whole = self.digits()?;
        if whole.len() > 1 && self.slice(whole.clone()).starts_with('0') {
            return Err(JsonError { fault: JsonFault::Syntax, at: whole.start });
        }
        if self.next_is(|b| b == b'.') {
            self.at += 1;
            self.digits()?;
        }
        if self.next_is(|b| b == b'e' || b == b'E') {
            self.at += 1;
            if self.next_is(|b| b == b'+' || b == b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Number(self.slice(start..self.at).into()))
    }

    fn digits(&mut self) -> Result<Range<usize>, JsonError> {
        let digits = self.run(|b| b.is_ascii_digit());
        if digits.is_empty() {
            self.peek()?;
            return Err(self.error(JsonFault::Syntax));
        }
        Ok(digits)
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        let rest = self.rest();
        if rest.starts_with(word) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error(if word.starts_with(rest) { JsonFault::Truncated } else { JsonFault::Syntax }))
        }
    }

    fn skip_space(&mut self) {
        self.run(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'));
    }

    /// Advances over the bytes that `belongs` wants; stops on bytes below 0x80 only, so slices stay whole characters.
    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> Range<usize> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        self.at += rest.iter().position(|&b| !belongs(b)).unwrap_or(rest.len());
        start..self.at
    }

    fn slice(&self, range: Range<usize>) -> &str {
        self.text.get(range).unwrap_or_default()
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Result<u8, JsonError> {
        self.text.as_bytes().get(self.at).copied().ok_or(self.error(JsonFault::Truncated))
    }

    fn next_is(&self, wanted: impl Fn(u8) -> bool) -> bool {
        self.text.as_bytes().get(self.at).copied().is_some_and(wanted)
    }

    fn take(&mut self, byte: u8) -> Result<bool, JsonError> {
        let found = self.peek()? == byte;
        self.at += usize::from(found);
        Ok(found)
    }

    fn expect(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.take(byte)? { Ok(()) } else { Err(self.error(JsonFault::Syntax)) }
    }

    fn error(&self, fault: JsonFault) -> JsonError {
        JsonError { fault, at: self.at }
    }
}

/// Whether an earlier member has this name. The set is filled only once the object is no longer small.
fn is_repeated(name: &str, members: &[Member], names: &mut HashSet<String>) -> bool {
    if members.len() < SMALL_OBJECT {
        return members.iter().any(|member| member.name == name);
    }
    if names.is_empty() {
        names.extend(members.iter().map(|member| member.name.clone()));
    }
    !names.insert(name.to_owned())
}
