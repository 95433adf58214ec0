//! What all calls of a tool have in common, before anybody makes one: what a list of tools is filtered by.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Json, Judged};

use super::{PROJECT, Policy, mapping::Mapping, source::Source};

/// A call of which only the constants are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Prospect {
    /// What is known.
    pub(crate) judged: Judged,
    /// What the caller will decide.
    pub(crate) open: Open,
}

/// The judged arguments that are not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Open {
    /// These.
    These(BTreeSet<String>),
    /// Any that is not known.
    Any,
}

impl Open {
    /// Everything is known: a call.
    pub(crate) fn nothing() -> Open {
        Open::These(BTreeSet::new())
    }

    /// Whether this one is not known.
    pub(crate) fn has(&self, name: &str) -> bool {
        match self {
            Open::These(names) => names.contains(name),
            Open::Any => true,
        }
    }

    /// Whether everything is known.
    pub(crate) fn is_nothing(&self) -> bool {
        matches!(self, Open::These(names) if names.is_empty())
    }
}

impl Policy {
    /// What calls of the tool can be: one prospect for each project, where the policy knows which there are; none when the
    /// tool is not mapped.
    pub(crate) fn prospects(&self, tool: &str) -> Vec<Prospect> {
        match self.tools.get(tool) {
            Some(mapping) => mapping.prospects(),
            None => self
                .identity_action(tool)
                .map(|action| Prospect {
                    judged: Judged { action, arguments: BTreeMap::new() },
                    open: Open::Any,
                })
                .into_iter()
                .collect(),
        }
    }
}

impl Mapping {
    fn prospects(&self) -> Vec<Prospect> {
        let mut known: BTreeMap<String, Json> = BTreeMap::new();
        let mut open = BTreeSet::new();
        for (name, source) in &self.judged {
            match source {
                Source::Constant(value) => {
                    known.insert(name.clone(), value.clone());
                }
                Source::Argument(_) => {
                    open.insert(name.clone());
                }
            }
        }
        let of = |known: BTreeMap<String, Json>, open: BTreeSet<String>| Prospect {
            judged: Judged { action: self.action.clone(), arguments: known },
            open: Open::These(open),
        };
        let Some(projects) = self.judged.get(PROJECT).and_then(Source::choices) else {
            return vec![of(known, open)];
        };
        open.remove(PROJECT);
        let with = |project: &Json| {
            let mut known = known.clone();
            known.insert(PROJECT.to_owned(), project.clone());
            of(known, open.clone())
        };
        projects.into_iter().map(with).collect()
    }
}
