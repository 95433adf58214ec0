//! Which constraints narrow which: only what is listed here does.

use super::Constraint;
use crate::format::tenuo::{
    effort::{Effort, TooMuchWork},
    value::Value,
};

impl Constraint {
    /// Whether `child` is known to admit nothing that this does not.
    pub(in crate::format::tenuo) fn narrows_to(
        &self,
        child: &Constraint,
        effort: &mut Effort,
    ) -> Result<bool, TooMuchWork> {
        // What is not evaluated cannot be compared by what it admits, wherever in the constraint it stands.
        if !self.is_evaluated() && self != child {
            return Ok(false);
        }
        self.step(child, effort)
    }

    fn step(&self, child: &Constraint, effort: &mut Effort) -> Result<bool, TooMuchWork> {
        use Constraint::{
            All, Any, Cidr, Contains, Exact, Not, NotOneOf, OneOf, Opaque, Pattern, Range, Subpath, Subset,
            Wildcard,
        };
        effort.spend(1)?;
        Ok(match (self, child) {
            (Wildcard, _) => true,
            (Exact(own), Exact(value)) => own == value,
            (Pattern(own), Pattern(glob)) => own.narrows_to(glob),
            (Range(own), Range(range)) => own.narrows_to(range),
            (Cidr(own), Cidr(network)) => own.narrows_to(network),
            (Subpath(own), Subpath(subpath)) => own.narrows_to(subpath),
            (Subpath(_), Subset(values)) => values
                .iter()
                .all(|value| matches!(value, Value::Text(_)) && self.judge(value, effort) == Ok(true)),
            (OneOf(own), OneOf(values)) | (Subset(own), Subset(values)) => within(values, own, effort)?,
            (NotOneOf(own), NotOneOf(values)) | (Contains(own), Contains(values)) => {
                within(own, values, effort)?
            }
            (All(own), All(inner)) => each(own, inner, effort, Constraint::step)?,
            (Any(own), Any(inner)) => each(inner, own, effort, |inner, own, effort| own.step(inner, effort))?,
            // Not turns the direction round: the child must exclude at least as much.
            (Not(own), Not(inner)) => inner.step(own, effort)?,
            (Opaque(own), Opaque(other)) => own == other && !own.is_unknown(),
            (All(_) | Pattern(_) | Range(_) | OneOf(_) | Cidr(_) | Subpath(_), Exact(value)) => {
                self.judge(value, effort) == Ok(true)
            }
            _ => false,
        })
    }
}

/// Whether all `values` are among `others`.
fn within(values: &[Value], others: &[Value], effort: &mut Effort) -> Result<bool, TooMuchWork> {
    effort.spend(values.len().saturating_mul(others.len()))?;
    Ok(values.iter().all(|value| others.contains(value)))
}

/// Whether each of `wanted` has one of `offered` to which it relates.
fn each(
    wanted: &[Constraint],
    offered: &[Constraint],
    effort: &mut Effort,
    relates: impl Fn(&Constraint, &Constraint, &mut Effort) -> Result<bool, TooMuchWork>,
) -> Result<bool, TooMuchWork> {
    for one in wanted {
        let mut found = false;
        for other in offered {
            found = found || relates(one, other, effort)?;
        }
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}
