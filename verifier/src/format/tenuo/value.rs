//! The values that constraints hold and arguments have. Kinds never mix: 1 and 1.0 are two values to a constraint,
//! and a JSON argument `1.0` is the integer 1, as it is in a proof.

use pact_mandate::{
    Json,
    cbor::{CborError, CborFault, Kind, Reader},
    json::Number,
    limits::MAX_SAFE_INTEGER,
};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(String, Value)>),
}

/// A JSON number as Tenuo signs and judges it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Figure {
    /// Without a fraction, however it was spelled.
    Integer(i64),
    /// Anything else: the double whose shortest decimal it is.
    Float(f64),
}

/// A number that is no integer of 64 bits and not the shortest decimal of any double. To read it as the nearest double
/// would be to judge another number than the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InexactNumber;

impl Value {
    /// Reads a value; members of maps stand in ascending order, each once.
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Value, CborError> {
        Ok(match reader.kind()? {
            Kind::Null => reader.null().map(|()| Value::Null)?,
            Kind::Bool => Value::Bool(reader.bool()?),
            Kind::Unsigned | Kind::Negative => Value::Integer(reader.integer()?),
            Kind::Float => Value::Float(reader.float()?),
            Kind::Text => Value::Text(reader.text()?.to_owned()),
            Kind::Array => Value::List(Value::read_many(reader)?),
            Kind::Map => reader.map(read_members)?,
            Kind::Bytes => {
                let fault = CborFault::Unexpected { expected: "a value of an argument" };
                return Err(CborError { fault, at: reader.position() });
            }
        })
    }

    /// Reads an array of values.
    pub(super) fn read_many(reader: &mut Reader<'_>) -> Result<Vec<Value>, CborError> {
        reader.array(|reader, count| (0..count).map(|_| Value::read(reader)).collect())
    }

    /// The value of a JSON argument.
    pub(super) fn of_json(json: &Json) -> Result<Value, InexactNumber> {
        Ok(match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match Figure::of(number)? {
                Figure::Integer(integer) => Value::Integer(integer),
                Figure::Float(float) => Value::Float(float),
            },
            Json::String(text) => Value::Text(text.clone()),
            Json::Array(items) => Value::List(items.iter().map(Value::of_json).collect::<Result<_, _>>()?),
            Json::Object(members) => {
                let member = |m: &pact_mandate::json::Member| Ok((m.name.clone(), Value::of_json(&m.value)?));
                let mut members: Vec<_> = members.iter().map(member).collect::<Result<_, _>>()?;
                members.sort_by(|(a, _), (b, _)| a.cmp(b));
                Value::Map(members)
            }
        })
    }

    /// The text, when it is one.
    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The items, when it is a list.
    pub(super) fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(items) => Some(items),
            _ => None,
        }
    }
}

fn read_members(reader: &mut Reader<'_>, count: usize) -> Result<Value, CborError> {
    let mut members: Vec<(String, Value)> = Vec::new();
    for _ in 0..count {
        let at = reader.position();
        let name = reader.text()?;
        if members.last().is_some_and(|(last, _)| last.as_str() >= name) {
            return Err(CborError { fault: CborFault::Unexpected { expected: "ascending keys" }, at });
        }
        members.push((name.to_owned(), Value::read(reader)?));
    }
    Ok(Value::Map(members))
}

impl Figure {
    /// Reads a number by its digits.
    pub(crate) fn of(number: &Number) -> Result<Figure, InexactNumber> {
        if let Ok(integer) = number.text().parse() {
            return Ok(Figure::Integer(integer));
        }
        let double = number.as_exact_f64().ok_or(InexactNumber)?;
        if double.fract() == 0.0 { integral(double).map(Figure::Integer) } else { Ok(Figure::Float(double)) }
    }
}

/// An integer that was spelled with a fraction or an exponent. Past 2^53 its digits and the double's value part ways.
fn integral(double: f64) -> Result<i64, InexactNumber> {
    // A double of this size prints as its plain digits; minus zero is zero.
    let integer: i64 = format!("{:.0}", double + 0.0).parse().map_err(|_| InexactNumber)?;
    if integer.unsigned_abs() <= MAX_SAFE_INTEGER { Ok(integer) } else { Err(InexactNumber) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(text: &str) -> Result<Figure, InexactNumber> {
        Figure::of(&Number::from_text(text).unwrap())
    }

    #[test]
    fn c4_a_number_is_read_as_its_shortest_decimal_or_not_at_all() {
        assert_eq!(figure("1.0"), Ok(Figure::Integer(1)));
        assert_eq!(figure("-0.0"), Ok(Figure::Integer(0)));
        assert_eq!(figure("-0"), Ok(Figure::Integer(0)));
        assert_eq!(figure("1e3"), Ok(Figure::Integer(1000)));
        assert_eq!(figure("2.50"), Ok(Figure::Float(2.5)));
        assert_eq!(figure("9223372036854775807"), Ok(Figure::Integer(i64::MAX)));
        for inexact in ["9223372036854775808", "9007199254740993.0", "1e19", "2.5000000000000000001", "1e999"]
        {
            assert_eq!(figure(inexact), Err(InexactNumber), "{inexact}");
        }
    }
}
