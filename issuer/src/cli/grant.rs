//! Readers of single words: limits and spans of time.

use pact_mandate::{Amount, ceilings::LimitName};
use pact_revocation::limits::KEEP_AFTER_EXPIRY_SECONDS;

/// `name=amount`
pub(crate) fn limit(text: &str) -> Result<(LimitName, Amount), String> {
    let (name, amount) = text.split_once('=').ok_or("a limit is name=amount, such as cost_usd=2.5")?;
    let name = name.parse().map_err(|fault: pact_mandate::ceilings::CeilingsError| fault.to_string())?;
    let amount = amount.parse().map_err(|fault: pact_mandate::amount::AmountError| fault.to_string())?;
    Ok((name, amount))
}

/// A time for which ended things are kept: as long as lists must still name them, at the least.
pub(crate) fn kept_seconds(text: &str) -> Result<u64, String> {
    match seconds(text)? {
        kept @ KEEP_AFTER_EXPIRY_SECONDS.. => Ok(kept),
        _ => Err("lists must name what ended for 10 minutes more: 10m at the least".to_owned()),
    }
}

/// `90s`, `10m`, `24h`, `30d`, or plain seconds.
pub(crate) fn seconds(text: &str) -> Result<u64, String> {
    let wanted = "a time is a whole number and s, m, h or d, such as 90s, 10m, 24h, 30d";
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match text.strip_prefix(digits) {
        Some("" | "s") => 1,
        Some("m") => 60,
        Some("h") => 3_600,
        Some("d") => 86_400,
        _ => return Err(wanted.to_owned()),
    };
    let number: u64 = digits.parse().map_err(|_| wanted)?;
    match number.checked_mul(unit) {
        Some(0) | None => Err("a time is at least one second".to_owned()),
        Some(seconds) => Ok(seconds),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("90"), Ok(90));
        assert_eq!(seconds("10m"), Ok(600));
        assert_eq!(seconds("2d"), Ok(172_800));
        for text in ["", "m", "1w", "-1", "1.5h", "0", "99999999999999999999d", "213503982334602d"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }

    #[test]
    fn limits_are_exact() {
        assert_eq!(limit("cost_usd=2.5").unwrap().1.millionths(), 2_500_000);
        for text in ["cost_usd", "=1", "project=1", "cost=1e3", "cost=0.0000001"] {
            assert!(limit(text).is_err(), "{text}");
        }
    }
}
