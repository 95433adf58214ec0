//! What the policy itself asks of a raw argument, whatever the credential says.

use pact_mandate::{Amount, Json, amount::Rounding};

use super::{PolicyFault, fault::shortened, plain_path};

/// Everything that is asked of one argument; all of it must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rule {
    /// One of these texts, numbers or booleans, written exactly so.
    pub(super) one_of: Option<Vec<Json>>,
    /// A number from 0 to this, compared as a decimal.
    pub(super) max: Option<Amount>,
    /// A plain path below one of these.
    pub(super) prefix: Option<Vec<String>>,
    /// The argument is a list, and each of its members is asked.
    pub(super) each: bool,
    /// The argument may be left out.
    pub(super) optional: bool,
}

impl Rule {
    /// Judges the argument of that name as it was sent.
    pub(super) fn check(&self, name: &str, sent: Option<&Json>) -> Result<(), PolicyFault> {
        let Some(value) = sent else {
            return if self.optional { Ok(()) } else { Err(PolicyFault::ArgumentMissing(shortened(name))) };
        };
        members_of(name, value, self.each)?.iter().try_for_each(|value| self.judge(name, value))
    }

    fn judge(&self, name: &str, value: &Json) -> Result<(), PolicyFault> {
        let outside = || PolicyFault::ArgumentOutside(shortened(name));
        if self.one_of.as_ref().is_some_and(|values| !values.contains(value)) {
            return Err(outside());
        }
        if self.max.is_some_and(|max| amount(value).is_none_or(|found| found > max)) {
            return Err(outside());
        }
        let Some(prefixes) = &self.prefix else { return Ok(()) };
        let path = value.as_str().ok_or_else(outside)?;
        let found = plain_path::longest(path, prefixes.iter().map(String::as_str));
        let found = found.map_err(|_| PolicyFault::PathNotPlain(shortened(name)))?;
        found.map(|_| ()).ok_or_else(outside)
    }
}

/// The value, or the members of the list that it must be. An empty list says nothing that could be judged.
pub(super) fn members_of<'a>(name: &str, value: &'a Json, each: bool) -> Result<&'a [Json], PolicyFault> {
    match value {
        _ if !each => Ok(std::slice::from_ref(value)),
        Json::Array(items) if !items.is_empty() => Ok(items),
        _ => Err(PolicyFault::ArgumentOutside(shortened(name))),
    }
}

/// A request is never rounded down (design 3, "Amounts").
fn amount(value: &Json) -> Option<Amount> {
    match value {
        Json::Number(number) => Amount::from_json_number(number.text(), Rounding::Ceil).ok(),
        _ => None,
    }
}
