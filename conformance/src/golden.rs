//! The golden cases of `FORMATS.md`: each is made anew by the code that makes the real thing.

use std::{collections::BTreeMap, error::Error};

pub mod key;
pub mod mandate;

/// What making a golden case may fail with; it never does while the formats hold.
pub type Fault = Box<dyn Error + Send + Sync>;

/// The text of each golden case, by the name that its block in `FORMATS.md` carries.
pub type Cases = BTreeMap<&'static str, String>;

/// All golden cases.
pub fn cases() -> Result<Cases, Fault> {
    Ok([key::cases()?, mandate::cases()?].into_iter().flatten().collect())
}

#[cfg(test)]
mod tests;
