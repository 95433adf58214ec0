//! What a warrant grants of one tool: constraints on its arguments.

use std::collections::BTreeMap;

use pact_mandate::{Json, cbor::Reader};

use super::{
    constraint::{Constraint, Unjudged},
    effort::Effort,
    fault::{CallFault, FormFault, LinkFault},
    fields::Fields,
    names::{self, Names},
    value::Value,
};
use crate::{limits::MAX_CONSTRAINED_ARGUMENTS, policy::Open};

/// Constraints by argument. Without any, every argument is admitted; with one, no argument that is not named.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Capability {
    constraints: BTreeMap<String, Constraint>,
    /// Arguments that are not named are admitted all the same.
    allow_unknown: bool,
}

impl Capability {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Capability, FormFault> {
        Fields::read_any(reader, |fields, count| {
            let constraints = fields.next("constraints", read_constraints)?;
            if count == 1 {
                return Ok(Capability { constraints, allow_unknown: false });
            }
            // It is left out when false, so that it can only be true.
            let allow_unknown = fields.next("allow_unknown", Reader::bool)?;
            if count == 2 && allow_unknown {
                Ok(Capability { constraints, allow_unknown })
            } else {
                Err(fields.error("allow_unknown, true, or nothing").into())
            }
        })
    }

    /// Whether `child`, which a warrant grants of `tool`, stays within this (I4).
    pub(super) fn check_narrowing(
        &self,
        child: &Capability,
        tool: &str,
        effort: &mut Effort,
    ) -> Result<(), LinkFault> {
        if child.allow_unknown && !self.allow_unknown {
            return Err(LinkFault::UnknownAdmitted(tool.to_owned()));
        }
        if self.constraints.is_empty() {
            return Ok(());
        }
        if let Some(argument) = self.first_unshared(child) {
            return Err(LinkFault::ArgumentsChanged { tool: tool.to_owned(), argument: argument.clone() });
        }
        for ((argument, own), constraint) in self.constraints.iter().zip(child.constraints.values()) {
            if !own.narrows_to(constraint, effort).map_err(|_| LinkFault::TooMuchWork)? {
                return Err(LinkFault::Widened { tool: tool.to_owned(), argument: argument.clone() });
            }
        }
        Ok(())
    }

    /// An argument that only one of both names.
    fn first_unshared<'c>(&'c self, other: &'c Capability) -> Option<&'c String> {
        let missing = self.constraints.keys().find(|name| !other.constraints.contains_key(*name));
        missing.or_else(|| other.constraints.keys().find(|name| !self.constraints.contains_key(*name)))
    }

    /// The arguments that it constrains.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.constraints.keys().map(String::as_str)
    }

    /// Whether a call with these arguments is within the constraints, whatever the `open` ones turn out to be.
    pub(super) fn check(&self, arguments: &BTreeMap<String, Json>, open: &Open) -> Result<(), CallFault> {
        let closed = !self.constraints.is_empty() && !self.allow_unknown;
        if closed && let Some(name) = arguments.keys().find(|name| !self.constraints.contains_key(*name)) {
            return Err(CallFault::ArgumentNotNamed(name.clone()));
        }
        let mut effort = Effort::full();
        for (name, constraint) in &self.constraints {
            match arguments.get(name) {
                Some(argument) => check_argument(name, constraint, argument, &mut effort)?,
                None if open.has(name) => {}
                None => return Err(CallFault::ArgumentMissing(name.clone())),
            }
        }
        Ok(())
    }
}

fn check_argument(
    name: &str,
    constraint: &Constraint,
    argument: &Json,
    effort: &mut Effort,
) -> Result<(), CallFault> {
    if *constraint == Constraint::Wildcard {
        return Ok(());
    }
    let value = Value::of_json(argument).map_err(|_| CallFault::InexactNumber(name.to_owned()))?;
    match constraint.judge(&value, effort) {
        Ok(true) => Ok(()),
        Ok(false) => Err(CallFault::OutsideConstraint(name.to_owned())),
        Err(Unjudged::Kind(kind)) => Err(CallFault::UnjudgedConstraint { argument: name.to_owned(), kind }),
        Err(Unjudged::Value(wanted)) => Err(CallFault::UnjudgedValue { argument: name.to_owned(), wanted }),
    }
}

fn read_constraints(reader: &mut Reader<'_>) -> Result<BTreeMap<String, Constraint>, FormFault> {
    reader.map(|reader, count| {
        names::check_count("constrained arguments", count, MAX_CONSTRAINED_ARGUMENTS)?;
        let mut names = Names::new("an argument's name");
        let mut constraints = BTreeMap::new();
        for _ in 0..count {
            let name = names.next(reader)?;
            constraints.insert(name.to_owned(), Constraint::read(reader)?);
        }
        Ok(constraints)
    })
}
