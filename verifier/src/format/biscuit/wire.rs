//! Protobuf as a Biscuit may be written: fields in ascending order, single ones once, shortest integers, nothing unknown.
//! One token has one encoding here, so what is admitted is what every other decoder reads.

use super::defect::Defect;

/// The fields of one message, in their order.
pub(super) struct Fields<'a> {
    rest: &'a [u8],
    last: u64,
}

/// One field.
pub(super) struct Field<'a> {
    /// Its number.
    pub(super) number: u64,
    /// Whether the one before it had the same number.
    repeats: bool,
    value: Value<'a>,
}

enum Value<'a> {
    Integer(u64),
    Bytes(&'a [u8]),
}

impl<'a> Fields<'a> {
    pub(super) fn of(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message, last: 0 }
    }

    /// The next field; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Field<'a>>, Defect> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.integer()?;
        let (number, kind) = (key >> 3, key & 7);
        if number < self.last || number == 0 {
            return Err(Defect::Encoding);
        }
        let repeats = number == self.last;
        self.last = number;
        let value = match kind {
            0 => Value::Integer(self.integer()?),
            2 => Value::Bytes(self.bytes()?),
            _ => return Err(Defect::UnknownField { number }),
        };
        Ok(Some(Field { number, repeats, value }))
    }

    /// At most ten bytes, seven bits each, the last of them not zero.
    fn integer(&mut self) -> Result<u64, Defect> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or(Defect::Truncated)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && byte > 1 {
                return Err(Defect::Encoding);
            }
            value |= bits << shift;
            if byte < 0x80 {
                return if byte == 0 && shift > 0 { Err(Defect::Encoding) } else { Ok(value) };
            }
        }
        Err(Defect::Encoding)
    }

    fn bytes(&mut self) -> Result<&'a [u8], Defect> {
        let length = usize::try_from(self.integer()?).map_err(|_| Defect::Truncated)?;
        let (bytes, rest) = self.rest.split_at_checked(length).ok_or(Defect::Truncated)?;
        self.rest = rest;
        Ok(bytes)
    }
}

impl<'a> Field<'a> {
    /// The refusal of a field that the message does not have.
    pub(super) fn unknown(&self) -> Defect {
        Defect::UnknownField { number: self.number }
    }

    /// This field, when the message may have it once.
    pub(super) fn single(self) -> Result<Field<'a>, Defect> {
        if self.repeats { Err(Defect::Encoding) } else { Ok(self) }
    }

    pub(super) fn message(&self) -> Result<Fields<'a>, Defect> {
        self.bytes().map(Fields::of)
    }

    pub(super) fn bytes(&self) -> Result<&'a [u8], Defect> {
        match self.value {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Integer(_) => Err(self.unknown()),
        }
    }

    pub(super) fn text(&self) -> Result<&'a str, Defect> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Defect::NotText)
    }

    pub(super) fn u64(&self) -> Result<u64, Defect> {
        match self.value {
            Value::Integer(integer) => Ok(integer),
            Value::Bytes(_) => Err(self.unknown()),
        }
    }

    pub(super) fn u32(&self) -> Result<u32, Defect> {
        u32::try_from(self.u64()?).map_err(|_| Defect::Encoding)
    }

    pub(super) fn i64(&self) -> Result<i64, Defect> {
        self.u64().map(u64::cast_signed)
    }

    pub(super) fn bool(&self) -> Result<bool, Defect> {
        match self.u64()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(Defect::Encoding),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn only(bytes: &[u8]) -> Result<u64, Defect> {
        let mut fields = Fields::of(bytes);
        let field = fields.next()?.ok_or(Defect::Truncated)?;
        if fields.next()?.is_some() {
            return Err(Defect::Encoding);
        }
        field.u64()
    }

    #[test]
    fn c3_an_integer_has_one_encoding() {
        assert_eq!(only(&[0x08, 0x00]), Ok(0));
        assert_eq!(only(&[0x08, 0xac, 0x02]), Ok(300));
        assert_eq!(only(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]), Ok(u64::MAX));
        assert_eq!(only(&[0x08, 0x80, 0x00]), Err(Defect::Encoding));
        assert_eq!(
            only(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x03]),
            Err(Defect::Encoding)
        );
        assert_eq!(
            only(&[0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x81, 0x00]),
            Err(Defect::Encoding)
        );
        assert_eq!(only(&[0x08, 0x80]), Err(Defect::Truncated));
    }

    #[test]
    fn c3_fields_stand_in_order_and_of_known_kinds() {
        assert_eq!(only(&[0x10, 0x01, 0x08, 0x01]), Err(Defect::Encoding));
        assert_eq!(only(&[0x00, 0x01]), Err(Defect::Encoding));
        assert_eq!(only(&[0x0d, 0, 0, 0, 0]), Err(Defect::UnknownField { number: 1 }));
        assert_eq!(only(&[0x0a, 0x05, 0x00]), Err(Defect::Truncated));
        assert_eq!(
            only(&[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            Err(Defect::Truncated)
        );
        let mut fields = Fields::of(&[0x08, 0x01, 0x08, 0x02]);
        assert!(fields.next().unwrap().unwrap().single().is_ok());
        assert_eq!(fields.next().unwrap().unwrap().single().err(), Some(Defect::Encoding));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let mut fields = Fields::of(&bytes);
            while let Ok(Some(_)) = fields.next() {}
        }
    }
}
