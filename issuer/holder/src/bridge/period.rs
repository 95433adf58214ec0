//! Lengths of time as configuration writes them: `250ms`, `10s`, `5m`, `1h`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];
const LONGEST: u64 = 24 * 3_600_000;

/// The length; `None` when the text is none from one millisecond to a day.
pub(super) fn parse(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let milliseconds = number.parse::<u64>().ok()?.checked_mul(*factor)?;
    (1..=LONGEST).contains(&milliseconds).then(|| Duration::from_millis(milliseconds))
}

/// The text of a length.
pub(super) fn text(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let whole = UNITS.iter().rev().find(|(_, factor)| milliseconds.is_multiple_of(u128::from(*factor)));
    let (unit, factor) = whole.unwrap_or(&("ms", 1));
    format!("{}{unit}", milliseconds / u128::from(*factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_one_text() {
        for good in ["250ms", "10s", "5m", "1h", "24h"] {
            assert_eq!(text(parse(good).unwrap()), good);
        }
        for bad in ["", "10", "0s", "-1s", "1.5s", "1 s", "25h", "1d", "s", "99999999999999999999ms"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
