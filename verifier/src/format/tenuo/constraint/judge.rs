//! Judging a value.

use super::Constraint;
use crate::format::tenuo::{
    effort::{Effort, TooMuchWork},
    network, range,
    value::Value,
};

/// Why a constraint can say neither yes nor no. It stands before every evaluation and reaches through `Any` and `Not`,
/// so that nothing is admitted because a part could not be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format::tenuo) enum Unjudged {
    /// It holds a constraint of this kind, which is not evaluated.
    Kind(&'static str),
    /// The value would have to be this.
    Value(&'static str),
}

impl From<TooMuchWork> for Unjudged {
    fn from(_: TooMuchWork) -> Unjudged {
        Unjudged::Value("short enough to be compared")
    }
}

impl Constraint {
    /// Whether the value is admitted, within what is left of the work allowed.
    pub(in crate::format::tenuo) fn judge(
        &self,
        value: &Value,
        effort: &mut Effort,
    ) -> Result<bool, Unjudged> {
        self.check_judgeable(value, effort)?;
        Ok(self.admits(value))
    }

    /// Whether it can be judged at all by what this verifier evaluates, whatever the value.
    pub(super) fn is_evaluated(&self) -> bool {
        match self {
            Constraint::Opaque(_) => false,
            Constraint::All(inner) | Constraint::Any(inner) => inner.iter().all(Constraint::is_evaluated),
            Constraint::Not(inner) => inner.is_evaluated(),
            _ => true,
        }
    }

    fn check_judgeable(&self, value: &Value, effort: &mut Effort) -> Result<(), Unjudged> {
        match self {
            Constraint::Opaque(opaque) => Err(Unjudged::Kind(opaque.kind())),
            Constraint::All(inner) | Constraint::Any(inner) => {
                inner.iter().try_for_each(|constraint| constraint.check_judgeable(value, effort))
            }
            Constraint::Not(inner) => inner.check_judgeable(value, effort),
            Constraint::Pattern(glob) => Ok(effort.spend(glob.effort(value.as_text().map_or(0, str::len)))?),
            Constraint::Contains(values) | Constraint::Subset(values) => {
                Ok(effort.spend(values.len().saturating_mul(value.as_list().map_or(0, <[Value]>::len)))?)
            }
            Constraint::Range(_) if !range::is_judgeable(value) => {
                Err(Unjudged::Value("a number within 2^53"))
            }
            Constraint::Cidr(_) if !value.as_text().is_none_or(network::is_address) => {
                Err(Unjudged::Value("an IP address"))
            }
            Constraint::Subpath(subpath) if !subpath.is_judgeable(value) => {
                Err(Unjudged::Value("a plainly spelled absolute path"))
            }
            _ => Ok(()),
        }
    }

    /// Membership alone, for values that can be judged.
    pub(super) fn admits(&self, value: &Value) -> bool {
        match self {
            Constraint::Wildcard => true,
            Constraint::Exact(own) => own == value,
            Constraint::Pattern(glob) => value.as_text().is_some_and(|text| glob.admits(text)),
            Constraint::Range(range) => range.admits(value),
            Constraint::OneOf(values) => values.contains(value),
            Constraint::NotOneOf(values) => !values.contains(value),
            Constraint::Cidr(network) => value.as_text().is_some_and(|text| network.admits(text)),
            Constraint::Contains(values) => {
                value.as_list().is_some_and(|items| values.iter().all(|value| items.contains(value)))
            }
            Constraint::Subset(values) => {
                value.as_list().is_some_and(|items| items.iter().all(|item| values.contains(item)))
            }
            Constraint::Subpath(subpath) => subpath.admits(value),
            Constraint::All(inner) => inner.iter().all(|constraint| constraint.admits(value)),
            Constraint::Any(inner) => inner.iter().any(|constraint| constraint.admits(value)),
            Constraint::Not(inner) => !inner.admits(value),
            Constraint::Opaque(_) => false,
        }
    }
}
