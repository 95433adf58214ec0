//! Ranges of numbers.

use pact_mandate::cbor::{CborError, Kind, Reader};

use super::{fault::FormFault, fields::Fields, value::Value};

/// From a lowest to a highest number, each with or without itself.
///
/// Bounds are doubles, compared as their shortest decimals (protocol C4). A number to be judged is the shortest decimal
/// of a double too, or it is not judged at all (`InexactNumber`), and two such decimals stand in the order of their
/// doubles: so comparing the doubles compares the decimals.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Range {
    min: Option<f64>,
    max: Option<f64>,
    min_inclusive: bool,
    max_inclusive: bool,
}

impl Range {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Range, FormFault> {
        Fields::read(reader, 4, |fields| {
            Ok(Range {
                min: fields.next("min", bound)?,
                max: fields.next("max", bound)?,
                min_inclusive: fields.next("min_inclusive", Reader::bool)?,
                max_inclusive: fields.next("max_inclusive", Reader::bool)?,
            })
        })
    }

    pub(super) fn admits(&self, value: &Value) -> bool {
        number(value).is_some_and(|number| {
            let above = |min| if self.min_inclusive { number >= min } else { number > min };
            let below = |max| if self.max_inclusive { number <= max } else { number < max };
            self.min.is_none_or(above) && self.max.is_none_or(below)
        })
    }

    /// Whether `child` lies inside.
    pub(super) fn narrows_to(&self, child: &Range) -> bool {
        let min = self.min.is_none_or(|own| {
            let tight = self.min_inclusive || !child.min_inclusive;
            child.min.is_some_and(|min| min > own || (min >= own && tight))
        });
        let max = self.max.is_none_or(|own| {
            let tight = self.max_inclusive || !child.max_inclusive;
            child.max.is_some_and(|max| max < own || (max <= own && tight))
        });
        min && max
    }
}

/// Whether a range can say anything about the value: integers past 2^53 are no shortest decimals.
pub(super) fn is_judgeable(value: &Value) -> bool {
    !matches!(value, Value::Integer(integer) if exact(*integer).is_none())
}

fn bound(reader: &mut Reader<'_>) -> Result<Option<f64>, CborError> {
    if reader.kind()? == Kind::Null { reader.null().map(|()| None) } else { reader.float().map(Some) }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(integer) => exact(*integer),
        Value::Float(float) => Some(*float),
        _ => None,
    }
}

/// The double of an integer within 2^53, which every double of that size keeps.
fn exact(integer: i64) -> Option<f64> {
    if integer.unsigned_abs() > 1 << 53 {
        return None;
    }
    let high = i32::try_from(integer >> 32).ok()?;
    let low = u32::try_from(integer & 0xffff_ffff).ok()?;
    Some(f64::from(high) * 4_294_967_296.0 + f64::from(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_become_their_doubles() {
        for integer in
            [0, 1, -1, 4_294_967_296, -4_294_967_297, 9_007_199_254_740_992, -9_007_199_254_740_992]
        {
            assert_eq!(exact(integer).map(|double| format!("{double:.0}")), Some(integer.to_string()));
        }
        assert_eq!(exact(9_007_199_254_740_993), None);
        assert_eq!(exact(i64::MIN), None);
    }
}
