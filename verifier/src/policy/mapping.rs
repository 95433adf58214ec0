//! What one tool, or one method, amounts to.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Action, Json, json::Member};

use super::{PolicyFault, fault::shortened, rule::Rule, source::Source};

/// What one tool, or one method, amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    pub(super) action: Action,
    /// The arguments that count, by the name that constraints know.
    pub(super) judged: BTreeMap<String, Source>,
    /// What is asked of raw arguments beside that.
    pub(super) rules: BTreeMap<String, Rule>,
    /// Raw arguments that no credential judges.
    pub(super) unjudged: BTreeSet<String>,
    /// The digest of what a person has read of the tool.
    pub(super) definition: Option<[u8; 32]>,
}

/// What a call amounts to, as references into policy and call.
pub(super) struct Mapped<'a> {
    pub(super) action: Action,
    pub(super) arguments: Vec<(&'a str, &'a Json)>,
}

impl Mapping {
    pub(super) fn map<'a>(&'a self, members: &'a [Member]) -> Result<Mapped<'a>, PolicyFault> {
        if let Some(member) = members.iter().find(|member| !self.takes(&member.name)) {
            return Err(PolicyFault::ArgumentNotNamed(shortened(&member.name)));
        }
        for (name, rule) in &self.rules {
            let sent = members.iter().find(|member| member.name == *name).map(|member| &member.value);
            rule.check(name, sent)?;
        }
        let mut arguments = Vec::with_capacity(self.judged.len());
        for (name, source) in &self.judged {
            arguments.extend(source.value(members)?.map(|value| (name.as_str(), value)));
        }
        Ok(Mapped { action: self.action.clone(), arguments })
    }

    /// Whether it names this raw argument.
    pub(super) fn takes(&self, argument: &str) -> bool {
        self.unjudged.contains(argument) || self.judges(argument)
    }

    /// Whether an argument that counts comes from this raw one.
    pub(super) fn judges(&self, argument: &str) -> bool {
        self.judged.values().any(|source| source.names().iter().any(|name| name == argument))
    }
}
