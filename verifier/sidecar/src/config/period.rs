//! Lengths of time as the configuration writes them: `250ms`, `10s`, `5m`, `1h`.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::limits::LONGEST_PERIOD;

/// A length of time with one textual form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Period(Duration);

/// A text that is no period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a period is a whole number from 1 on and its unit, such as 250ms, 10s, 5m or 1h (24h at the most)")]
pub struct PeriodError;

const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];

impl Period {
    /// The length.
    pub fn get(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Period {
    fn from(duration: Duration) -> Period {
        Period(duration)
    }
}

impl FromStr for Period {
    type Err = PeriodError;

    fn from_str(text: &str) -> Result<Period, PeriodError> {
        let digits = text.find(|c: char| !c.is_ascii_digit()).ok_or(PeriodError)?;
        let (number, unit) = text.split_at(digits);
        let factor =
            UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| factor).ok_or(PeriodError)?;
        let milliseconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor));
        match milliseconds {
            Some(milliseconds @ 1..) if Duration::from_millis(milliseconds) <= LONGEST_PERIOD => {
                Ok(Period(Duration::from_millis(milliseconds)))
            }
            _ => Err(PeriodError),
        }
    }
}

impl TryFrom<String> for Period {
    type Error = PeriodError;

    fn try_from(text: String) -> Result<Period, PeriodError> {
        text.parse()
    }
}

impl From<Period> for String {
    fn from(period: Period) -> String {
        period.to_string()
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.0.as_millis();
        let whole = UNITS.iter().rev().find(|(_, factor)| milliseconds.is_multiple_of(u128::from(*factor)));
        let (unit, factor) = whole.unwrap_or(&("ms", 1));
        write!(f, "{}{unit}", milliseconds / u128::from(*factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_one_text() {
        for text in ["250ms", "10s", "5m", "1h", "24h", "61s"] {
            assert_eq!(text.parse::<Period>().unwrap().to_string(), text);
        }
        assert_eq!("60s".parse::<Period>().unwrap().to_string(), "1m");
        for bad in ["", "10", "0s", "-1s", "1.5s", "1 s", "25h", "1d", "s", "99999999999999999999ms"] {
            assert_eq!(bad.parse::<Period>(), Err(PeriodError), "{bad}");
        }
    }
}
