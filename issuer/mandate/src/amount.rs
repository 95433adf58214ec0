//! Exact amounts: millionths of a unit, never floats (design 3, "Amounts").

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

const FRACTION_DIGITS: usize = 6;
const MILLION: u64 = 1_000_000;

/// 0 … 2^63 − 1 millionths. Its text is a plain decimal without superfluous zeros: `2.5`, `50`, `0.000001`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Amount(u64);

/// What to do with a number that lies between two millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Refuse it.
    Exact,
    /// Down: for a foreign maximum.
    Floor,
    /// Up: for a value that is asked for, and for a foreign minimum.
    Ceil,
}

/// Why a number is not an amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AmountError {
    /// Not the grammar of a decimal number.
    #[error("an amount is a decimal number such as 2.5")]
    NotANumber,
    /// Below zero.
    #[error("an amount is not negative")]
    Negative,
    /// More than 2^63 − 1 millionths.
    #[error("an amount is at most 9223372036854.775807")]
    TooLarge,
    /// Between two millionths, where an exact value is wanted.
    #[error("an amount has at most 6 digits after the point")]
    TooFine,
}

impl Amount {
    /// Nothing.
    pub const ZERO: Amount = Amount(0);
    /// 9223372036854.775807.
    pub const MAX: Amount = Amount(i64::MAX.unsigned_abs());

    /// From millionths.
    pub const fn from_millionths(millionths: u64) -> Result<Amount, AmountError> {
        if millionths > Self::MAX.0 { Err(AmountError::TooLarge) } else { Ok(Amount(millionths)) }
    }

    /// The amount in millionths.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// Reads a JSON number (RFC 8259 grammar, exponents too), by its digits, never through a float.
    /// Any length is read in time linear in it.
    pub fn from_json_number(text: &str, rounding: Rounding) -> Result<Amount, AmountError> {
        let decimal = Decimal::parse(text)?;
        if decimal.negative && !decimal.is_zero() {
            return Err(AmountError::Negative);
        }
        decimal.round(rounding)
    }

    /// The sum, or `None` past the largest amount.
    #[must_use]
    pub fn checked_add(self, other: Amount) -> Option<Amount> {
        self.0.checked_add(other.0).and_then(|sum| Amount::from_millionths(sum).ok())
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / MILLION, self.0 % MILLION);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{fraction:0FRACTION_DIGITS$}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Amount({self})")
    }
}

impl FromStr for Amount {
    type Err = AmountError;

    /// Reads the one text form; `2.50`, `+1` and `1e3` are refused.
    fn from_str(text: &str) -> Result<Amount, AmountError> {
        let amount = Amount::from_json_number(text, Rounding::Exact)?;
        if amount.to_string() == text { Ok(amount) } else { Err(AmountError::NotANumber) }
    }
}

impl TryFrom<String> for Amount {
    type Error = AmountError;

    fn try_from(text: String) -> Result<Amount, AmountError> {
        text.parse()
    }
}

impl From<Amount> for String {
    fn from(amount: Amount) -> String {
        amount.to_string()
    }
}

/// The parts of a JSON number: `digits` × 10^`exponent`, the digits without leading zeros.
pub(crate) struct Decimal {
    pub(crate) negative: bool,
    pub(crate) digits: Vec<u8>,
    pub(crate) exponent: i64,
}

impl Decimal {
    /// Takes a JSON number apart. Trailing zeros move into the exponent, so equal values have equal parts.
    pub(crate) fn parse(text: &str) -> Result<Decimal, AmountError> {
        let (negative, rest) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, parse_exponent(exponent)?),
            None => (rest, 0),
        };
        let (whole, fraction) = match mantissa.split_once('.') {
            Some((_, "")) => return Err(AmountError::NotANumber),
            Some(parts) => parts,
            None => (mantissa, ""),
        };
        let is_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty() || !is_digits(whole) || !is_digits(fraction) {
            return Err(AmountError::NotANumber);
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(AmountError::NotANumber);
        }
        let joined = [whole.as_bytes(), fraction.as_bytes()].concat();
        let fraction_digits = i64::try_from(fraction.len()).unwrap_or(i64::MAX);
        Ok(Decimal::trimmed(negative, &joined, exponent.saturating_sub(fraction_digits)))
    }

    fn trimmed(negative: bool, digits: &[u8], exponent: i64) -> Decimal {
        let start = digits.iter().position(|&d| d != b'0').unwrap_or(digits.len());
        let end = digits.iter().rposition(|&d| d != b'0').map_or(start, |last| last + 1);
        let dropped = i64::try_from(digits.len() - end).unwrap_or(i64::MAX);
        let kept = digits.get(start..end).unwrap_or_default().to_vec();
        let exponent = if kept.is_empty() { 0 } else { exponent.saturating_add(dropped) };
        Decimal { negative, digits: kept, exponent }
    }

    fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    fn round(&self, rounding: Rounding) -> Result<Amount, AmountError> {
        if self.is_zero() {
            return Ok(Amount::ZERO);
        }
        // The value in millionths is digits × 10^shift.
        let shift = self.exponent.saturating_add(6);
        let length = i64::try_from(self.digits.len()).unwrap_or(i64::MAX);
        if length.saturating_add(shift) > 19 {
            return Err(AmountError::TooLarge);
        }
        let kept = usize::try_from(length.saturating_add(shift.min(0)).max(0)).unwrap_or(0);
        let mut millionths = 0_u64;
        for digit in self.digits.iter().take(kept) {
            millionths = push_digit(millionths, digit - b'0')?;
        }
        for _ in 0..shift.max(0) {
            millionths = push_digit(millionths, 0)?;
        }
        // The last digit is not zero, so anything cut off is more than nothing.
        if kept < self.digits.len() {
            match rounding {
                Rounding::Exact => return Err(AmountError::TooFine),
                Rounding::Floor => {}
                Rounding::Ceil => millionths = millionths.checked_add(1).ok_or(AmountError::TooLarge)?,
            }
        }
        Amount::from_millionths(millionths)
    }
}

fn push_digit(number: u64, digit: u8) -> Result<u64, AmountError> {
    number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit))).ok_or(AmountError::TooLarge)
}

/// A number past i32 is as good as infinite here, so it saturates.
fn parse_exponent(text: &str) -> Result<i64, AmountError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(AmountError::NotANumber);
    }
    let size = i64::from(digits.parse::<i32>().unwrap_or(i32::MAX));
    Ok(if text.starts_with('-') { -size } else { size })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, rounding: Rounding) -> Result<u64, AmountError> {
        Amount::from_json_number(text, rounding).map(Amount::millionths)
    }

    #[test]
    fn numbers_are_read_by_their_digits() {
        let exact = |text| read(text, Rounding::Exact);
        assert_eq!(exact("2.5"), Ok(2_500_000));
        assert_eq!(exact("2.50000000000"), Ok(2_500_000));
        assert_eq!(exact("1e3"), Ok(1_000_000_000));
        assert_eq!(exact("1E-6"), Ok(1));
        assert_eq!(exact("-0.0"), Ok(0));
        assert_eq!(exact("0e999999999999"), Ok(0));
        assert_eq!(exact("9223372036854.775807"), Ok(9_223_372_036_854_775_807));
        assert_eq!(exact("9223372036854.775808"), Err(AmountError::TooLarge));
        assert_eq!(exact("1e999999999999"), Err(AmountError::TooLarge));
        assert_eq!(exact("0.0000001"), Err(AmountError::TooFine));
        assert_eq!(exact("1e-999999999999"), Err(AmountError::TooFine));
        assert_eq!(exact("-1"), Err(AmountError::Negative));
    }

    #[test]
    fn what_is_no_json_number_is_no_amount() {
        for text in [
            "", "-", "+1", ".5", "5.", "01", "1e", "1e+", "0x1", "NaN", "Infinity", "1 ", "1,5", "1.2.3", "١",
        ] {
            assert_eq!(read(text, Rounding::Exact), Err(AmountError::NotANumber), "{text}");
        }
    }

    #[test]
    fn a_limit_is_never_rounded_up_and_a_request_never_down() {
        assert_eq!(read("2.5000004", Rounding::Floor), Ok(2_500_000));
        assert_eq!(read("2.5000004", Rounding::Ceil), Ok(2_500_001));
        assert_eq!(read("1e-400", Rounding::Floor), Ok(0));
        assert_eq!(read("1e-400", Rounding::Ceil), Ok(1));
        assert_eq!(read("9223372036854.7758071", Rounding::Ceil), Err(AmountError::TooLarge));
    }

    #[test]
    fn an_amount_has_one_text() {
        for text in ["0", "2.5", "0.000001", "9223372036854.775807"] {
            assert_eq!(text.parse::<Amount>().unwrap().to_string(), text);
        }
        for text in ["2.50", "1e3", "-0", "00", "1.0"] {
            assert!(text.parse::<Amount>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn text_and_amount_are_one_to_one(millionths in 0..=Amount::MAX.millionths()) {
            let amount = Amount::from_millionths(millionths).unwrap();
            prop_assert_eq!(amount.to_string().parse::<Amount>().unwrap(), amount);
        }

        #[test]
        fn any_text_is_answered(text in ".{0,40}") {
            let _ = Amount::from_json_number(&text, Rounding::Ceil);
        }
    }
}
