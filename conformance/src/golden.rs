//! The golden cases of `FORMATS.md`: each is made anew by the code that makes the real thing.

use std::{collections::BTreeMap, error::Error};

pub mod act;
pub mod biscuit;
pub mod call;
pub mod issuer;
pub mod key;
pub mod list;
pub mod mandate;
pub mod proof;
pub mod receipt;
pub mod reissue;
mod state;
pub mod tenuo;
#[cfg(test)]
mod tests;

/// What making a golden case may fail with; it never does while the formats hold.
pub type Fault = Box<dyn Error + Send + Sync>;

/// The text of each golden case, by the name that its block in `FORMATS.md` carries.
pub type Cases = BTreeMap<&'static str, String>;

/// All golden cases.
pub fn cases() -> Result<Cases, Fault> {
    let credentials = [key::cases()?, mandate::cases()?, proof::cases()?, act::cases()?, list::cases()?];
    let others = [reissue::cases()?, issuer::cases()?, state::cases()?, receipt::cases()?];
    let all = credentials.into_iter().chain(others);
    Ok(all.flatten().collect())
}
