//! Where an argument that counts comes from.

use std::collections::BTreeMap;

use pact_mandate::{Json, json::Member};

use super::{PolicyFault, fault::shortened, plain_path, rule::members_of};

/// Where an argument that counts comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Raw arguments.
    Argument(Argument),
    /// The same value in every call.
    Constant(Json),
}

/// One raw argument, or several that must amount to the same value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// Their names; never none.
    pub(super) names: Vec<String>,
    /// What a value that was sent stands for.
    pub(super) via: Via,
    /// The argument is a list whose members must all amount to the same value.
    pub(super) each: bool,
    /// For an argument that was not sent. Without it, the argument is absent.
    pub(super) default: Option<Json>,
}

/// What a raw value stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// Itself.
    Itself,
    /// What a table says of the text; one that it does not list is refused.
    Values(BTreeMap<String, Json>),
    /// What the longest prefix of the path says.
    Prefix(BTreeMap<String, Json>),
}

impl Source {
    /// Its value in a call with these raw arguments.
    pub(super) fn value<'a>(&'a self, members: &'a [Member]) -> Result<Option<&'a Json>, PolicyFault> {
        match self {
            Source::Constant(value) => Ok(Some(value)),
            Source::Argument(argument) => argument.value(members),
        }
    }

    /// The raw arguments that it reads.
    pub(super) fn names(&self) -> &[String] {
        match self {
            Source::Constant(_) => &[],
            Source::Argument(argument) => &argument.names,
        }
    }

    /// Every value that it can have, where the policy knows them all.
    pub(super) fn choices(&self) -> Option<Vec<&Json>> {
        let mut choices: Vec<&Json> = match self {
            Source::Constant(value) => return Some(vec![value]),
            Source::Argument(Argument { via: Via::Itself, .. }) => return None,
            Source::Argument(Argument { via: Via::Values(table) | Via::Prefix(table), default, .. }) => {
                table.values().chain(default).collect()
            }
        };
        let mut distinct = Vec::with_capacity(choices.len());
        choices.retain(|choice| {
            let is_new = !distinct.contains(choice);
            distinct.push(choice);
            is_new
        });
        Some(choices)
    }
}

impl Argument {
    fn value<'a>(&'a self, members: &'a [Member]) -> Result<Option<&'a Json>, PolicyFault> {
        let sent =
            |name: &String| members.iter().find(|member| member.name == *name).map(|member| &member.value);
        if let [name] = self.names.as_slice() {
            return match sent(name) {
                Some(value) => self.stands_for(name, value).map(Some),
                None => Ok(self.default.as_ref()),
            };
        }
        let mut common = None;
        for name in &self.names {
            let value = match sent(name) {
                Some(value) => self.stands_for(name, value)?,
                None => self.default.as_ref().ok_or_else(|| PolicyFault::ArgumentMissing(shortened(name)))?,
            };
            common = Some(agreed(common, value, name)?);
        }
        Ok(common)
    }

    fn stands_for<'a>(&'a self, name: &str, value: &'a Json) -> Result<&'a Json, PolicyFault> {
        let mut common = None;
        for value in members_of(name, value, self.each)? {
            common = Some(agreed(common, self.via.of(name, value)?, name)?);
        }
        common.ok_or_else(|| PolicyFault::ArgumentOutside(shortened(name)))
    }
}

impl Via {
    fn of<'a>(&'a self, name: &str, value: &'a Json) -> Result<&'a Json, PolicyFault> {
        let (table, path) = match self {
            Via::Itself => return Ok(value),
            Via::Values(table) => (table, value.as_str()),
            Via::Prefix(table) => {
                let text = value.as_str().unwrap_or_default();
                let found = plain_path::longest(text, table.keys().map(String::as_str));
                (table, found.map_err(|_| PolicyFault::PathNotPlain(shortened(name)))?)
            }
        };
        let found = path.and_then(|path| table.get(path));
        found.ok_or_else(|| PolicyFault::ValueNotMapped(shortened(name)))
    }
}

/// What all values so far stand for.
fn agreed<'a>(common: Option<&'a Json>, value: &'a Json, name: &str) -> Result<&'a Json, PolicyFault> {
    match common {
        Some(common) if common != value => Err(PolicyFault::ArgumentsDiffer(shortened(name))),
        _ => Ok(value),
    }
}
