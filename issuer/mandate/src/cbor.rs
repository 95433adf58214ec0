//! Strict CBOR (RFC 8949, core deterministic rules of 4.2.1 except the order of map keys, which each format fixes itself):
//! definite lengths, shortest integers and floats, no tags, no `undefined`. One content has one encoding.

mod float;
#[cfg(test)]
mod tests;
mod writer;

pub use writer::Writer;

use crate::limits::MAX_CBOR_DEPTH;

/// Reads items one by one. Lengths are compared with what is left before anything is allocated.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

/// Why bytes are refused, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} (at byte {at})")]
pub struct CborError {
    /// What is wrong.
    pub fault: CborFault,
    /// Offset of the item at fault.
    pub at: usize,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CborFault {
    /// Ends inside an item, or announces more than there is.
    #[error("the CBOR ends inside an item")]
    Truncated,
    /// More after the item.
    #[error("there are more bytes after the item")]
    Trailing,
    /// An integer, length or float in more bytes than needed, or of indefinite length.
    #[error("the item is not in its shortest definite form")]
    NotShortest,
    /// An item of another kind than the structure wants.
    #[error("expected {expected}")]
    Unexpected {
        /// What the structure wants here.
        expected: &'static str,
    },
    /// Text that is not UTF-8.
    #[error("a text is not UTF-8")]
    NotUtf8,
    /// Tags, `undefined`, other simple values, NaN and infinities are never accepted.
    #[error("an item of a kind that is never accepted")]
    Forbidden,
    /// Nested deeper than the bound.
    #[error("items are nested deeper than {MAX_CBOR_DEPTH}")]
    TooDeep,
    /// A number outside the range of the structure.
    #[error("a number is out of range")]
    OutOfRange,
}

/// The kind of the next item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An integer of at least zero.
    Unsigned,
    /// An integer below zero.
    Negative,
    /// A byte string.
    Bytes,
    /// A text string.
    Text,
    /// An array.
    Array,
    /// A map.
    Map,
    /// `true` or `false`.
    Bool,
    /// `null`.
    Null,
    /// A float.
    Float,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { bytes, at: 0, depth: 0 }
    }

    /// Offset of the next byte.
    pub fn position(&self) -> usize {
        self.at
    }

    /// The bytes from `start` up to the next item.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    /// Succeeds at the end alone.
    pub fn finish(&self) -> Result<(), CborError> {
        if self.at == self.bytes.len() { Ok(()) } else { Err(self.error(CborFault::Trailing)) }
    }

    /// The kind of the next item, which stays unread.
    pub fn kind(&self) -> Result<Kind, CborError> {
        let first = *self.bytes.get(self.at).ok_or(self.error(CborFault::Truncated))?;
        Ok(match first >> 5 {
            0 => Kind::Unsigned,
            1 => Kind::Negative,
            2 => Kind::Bytes,
            3 => Kind::Text,
            4 => Kind::Array,
            5 => Kind::Map,
            7 => match first & 0x1f {
                20 | 21 => Kind::Bool,
                22 => Kind::Null,
                25..=27 => Kind::Float,
                _ => return Err(self.error(CborFault::Forbidden)),
            },
            _ => return Err(self.error(CborFault::Forbidden)),
        })
    }

    /// An integer of at least zero.
    pub fn unsigned(&mut self) -> Result<u64, CborError> {
        self.head(0, "an unsigned integer")
    }

    /// An unsigned integer that fits a smaller type; never truncated.
    pub fn unsigned_as<T: TryFrom<u64>>(&mut self) -> Result<T, CborError> {
        let start = self.at;
        T::try_from(self.unsigned()?).map_err(|_| CborError { fault: CborFault::OutOfRange, at: start })
    }

    /// An integer in i64.
    pub fn integer(&mut self) -> Result<i64, CborError> {
        let start = self.at;
        let out_of_range = CborError { fault: CborFault::OutOfRange, at: start };
        if self.kind()? == Kind::Negative {
            let distance = i64::try_from(self.head(1, "an integer")?).map_err(|_| out_of_range)?;
            return Ok(-1 - distance);
        }
        i64::try_from(self.unsigned()?).map_err(|_| out_of_range)
    }

    /// A byte string.
    pub fn bytes(&mut self) -> Result<&'a [u8], CborError> {
        let length = self.head(2, "a byte string")?;
        self.take(length)
    }

    /// A byte string of exactly that length.
    pub fn byte_array<const N: usize>(&mut self) -> Result<&'a [u8; N], CborError> {
        let start = self.at;
        self.bytes()?.try_into().map_err(|_| CborError { fault: CborFault::OutOfRange, at: start })
    }

    /// A text string.
    pub fn text(&mut self) -> Result<&'a str, CborError> {
        let start = self.at;
        let length = self.head(3, "a text")?;
        std::str::from_utf8(self.take(length)?)
            .map_err(|_| CborError { fault: CborFault::NotUtf8, at: start })
    }

    /// `true` or `false`.
    pub fn bool(&mut self) -> Result<bool, CborError> {
        if self.kind()? != Kind::Bool {
            return Err(self.error(CborFault::Unexpected { expected: "a boolean" }));
        }
        Ok(self.take(1)? == [0xf5])
    }

    /// `null`.
    pub fn null(&mut self) -> Result<(), CborError> {
        if self.kind()? != Kind::Null {
            return Err(self.error(CborFault::Unexpected { expected: "null" }));
        }
        self.take(1).map(|_| ())
    }

    /// A finite float in its shortest form (half, single or double).
    pub fn float(&mut self) -> Result<f64, CborError> {
        let start = self.at;
        if self.kind()? != Kind::Float {
            return Err(self.error(CborFault::Unexpected { expected: "a float" }));
        }
        let width = match self.take(1)? {
            [0xf9] => 2,
            [0xfa] => 4,
            _ => 8,
        };
        float::decode(self.take(width)?).map_err(|fault| CborError { fault, at: start })
    }

    /// An array: `items` reads its items, and is told how many there are.
    pub fn array<T, E: From<CborError>>(
        &mut self,
        items: impl FnOnce(&mut Reader<'a>, usize) -> Result<T, E>,
    ) -> Result<T, E> {
        let count = self.count(4, 1, "an array")?;
        self.nested(count, items)
    }

    /// A map: `entries` reads key, value, key, value, … and is told how many pairs there are.
    pub fn map<T, E: From<CborError>>(
        &mut self,
        entries: impl FnOnce(&mut Reader<'a>, usize) -> Result<T, E>,
    ) -> Result<T, E> {
        let count = self.count(5, 2, "a map")?;
        self.nested(count, entries)
    }

    /// An array of exactly `count` items.
    pub fn tuple<T, E: From<CborError>>(
        &mut self,
        count: usize,
        items: impl FnOnce(&mut Reader<'a>) -> Result<T, E>,
    ) -> Result<T, E> {
        let at = self.at;
        self.array(|reader, found| {
            if found == count {
                items(reader)
            } else {
                let fault = CborFault::Unexpected { expected: "an array of another length" };
                Err(CborError { fault, at }.into())
            }
        })
    }

    /// Steps over one item, judging it like any other.
    pub fn skip(&mut self) -> Result<(), CborError> {
        match self.kind()? {
            Kind::Unsigned | Kind::Negative => self.head((self.first() >> 5) & 1, "an integer").map(|_| ()),
            Kind::Bytes => self.bytes().map(|_| ()),
            Kind::Text => self.text().map(|_| ()),
            Kind::Bool => self.bool().map(|_| ()),
            Kind::Null => self.null(),
            Kind::Float => self.float().map(|_| ()),
            Kind::Array => self.array(|reader, count| (0..count).try_for_each(|_| reader.skip())),
            Kind::Map => self.map(|reader, count| (0..2 * count).try_for_each(|_| reader.skip())),
        }
    }

    fn nested<T, E: From<CborError>>(
        &mut self,
        count: usize,
        read: impl FnOnce(&mut Reader<'a>, usize) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.depth == MAX_CBOR_DEPTH {
            return Err(self.error(CborFault::TooDeep).into());
        }
        self.depth += 1;
        let result = read(self, count);
        self.depth -= 1;
        result
    }

    /// The number of items of an array or map, each of which takes at least `size` bytes.
    fn count(&mut self, major: u8, size: usize, expected: &'static str) -> Result<usize, CborError> {
        let start = self.at;
        let truncated = CborError { fault: CborFault::Truncated, at: start };
        let count = usize::try_from(self.head(major, expected)?).map_err(|_| truncated)?;
        let left = self.bytes.len() - self.at;
        if count > left / size { Err(truncated) } else { Ok(count) }
    }

    /// The argument of an item's head (RFC 8949 3), in its shortest form.
    fn head(&mut self, major: u8, expected: &'static str) -> Result<u64, CborError> {
        let start = self.at;
        let first = self.bytes.get(start).copied().ok_or(self.error(CborFault::Truncated))?;
        if first >> 5 != major {
            return Err(self.error(CborFault::Unexpected { expected }));
        }
        let info = first & 0x1f;
        let (width, least) = match info {
            0..24 => (0, 0),
            24 => (1, 24),
            25 => (2, 0x100),
            26 => (4, 0x1_0000),
            27 => (8, 0x1_0000_0000),
            28..31 => return Err(self.error(CborFault::Forbidden)),
            _ => return Err(self.error(CborFault::NotShortest)),
        };
        self.at += 1;
        let argument = self.take(width)?.iter().fold(0, |value: u64, &b| value << 8 | u64::from(b));
        let argument = if width == 0 { u64::from(info) } else { argument };
        if argument < least {
            return Err(CborError { fault: CborFault::NotShortest, at: start });
        }
        Ok(argument)
    }

    fn take(&mut self, length: impl TryInto<usize>) -> Result<&'a [u8], CborError> {
        let truncated = self.error(CborFault::Truncated);
        let end = length.try_into().ok().and_then(|length| self.at.checked_add(length)).ok_or(truncated)?;
        let taken = self.bytes.get(self.at..end).ok_or(truncated)?;
        self.at = end;
        Ok(taken)
    }

    fn first(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    fn error(&self, fault: CborFault) -> CborError {
        CborError { fault, at: self.at }
    }
}
