//! The local policy: what each tool of the server behind amounts to in the words of mandates. What it does not name is
//! refused.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Action, Asked, Call, Json, Judged, json::Member};

use crate::refusal::Refusal;

mod fault;
mod read;
#[cfg(test)]
mod tests;

pub use fault::{PolicyError, PolicyFault};

/// A policy file, read. Made by [`Policy::from_toml`] alone.
#[derive(Clone, Debug)]
pub struct Policy {
    tools: BTreeMap<String, Tool>,
    identity: bool,
    stock_proofs: bool,
    digest: [u8; 32],
}

/// What one tool amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tool {
    action: Action,
    /// The arguments that count, by the name that constraints know.
    judged: BTreeMap<String, Source>,
    /// Raw arguments that may pass unjudged.
    unjudged: BTreeSet<String>,
}

/// Where an argument that counts comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Source {
    /// A raw argument; when it is absent, the default; when there is none, the argument is absent.
    Argument { name: String, default: Option<Json> },
    /// The same value in every call.
    Constant(Json),
}

/// What a call amounts to, as references into policy and call.
struct Mapped<'a> {
    action: Action,
    arguments: Vec<(&'a str, &'a Json)>,
}

impl Policy {
    /// Reads a policy file. Every key must be known.
    pub fn from_toml(text: &str) -> Result<Policy, PolicyError> {
        read::policy(text)
    }

    /// The policy for a server that already speaks the names of mandates: each tool is its action, each argument is
    /// judged as it is.
    pub fn identity() -> Result<Policy, PolicyError> {
        read::policy("identity = true")
    }

    /// What the call amounts to; whatever is not named is refused.
    pub fn judge(&self, asked: Asked) -> Result<Call, Refusal> {
        let mapped = self.map(&asked)?;
        let arguments = mapped.arguments.into_iter().map(|(name, value)| (name.to_owned(), value.clone()));
        let judged = Judged { arguments: arguments.collect(), action: mapped.action };
        Ok(Call { asked, judged })
    }

    /// Whether the judged half of the call is what this policy makes of the asked half: nothing else may be forwarded.
    pub fn permits(&self, call: &Call) -> Result<(), PolicyFault> {
        let mapped = self.map(&call.asked)?;
        let same = mapped.action == call.judged.action
            && mapped.arguments.len() == call.judged.arguments.len()
            && mapped.arguments.iter().all(|(name, value)| call.judged.arguments.get(*name) == Some(value));
        if same { Ok(()) } else { Err(PolicyFault::JudgedOtherwise) }
    }

    /// Whether proofs of stock Tenuo clients count here (protocol P3).
    pub fn takes_stock_proofs(&self) -> bool {
        self.stock_proofs
    }

    /// Whether tools that are not named are judged by their own names.
    pub fn has_identity(&self) -> bool {
        self.identity
    }

    /// The tools that it names, with their actions.
    pub fn tools(&self) -> impl Iterator<Item = (&str, &Action)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), &tool.action))
    }

    /// The action that a tool amounts to, for the signing hints of a tool list; `None` when it is not mapped.
    pub fn action_of(&self, tool: &str) -> Option<Action> {
        match self.tools.get(tool) {
            Some(tool) => Some(tool.action.clone()),
            None => self.identity_action(tool),
        }
    }

    /// Stands for the whole policy, in receipts.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    fn map<'a>(&'a self, asked: &'a Asked) -> Result<Mapped<'a>, PolicyFault> {
        let members = asked.arguments.members().ok_or(PolicyFault::ArgumentsNotAnObject)?;
        // P2: these names are the proof's own.
        if let Some(member) = members.iter().find(|member| member.name.starts_with('@')) {
            return Err(PolicyFault::ReservedArgument(fault::shortened(&member.name)));
        }
        match self.tools.get(&asked.tool) {
            Some(tool) => tool.map(members),
            None => self.map_identity(&asked.tool, members),
        }
    }

    fn map_identity<'a>(&'a self, tool: &str, members: &'a [Member]) -> Result<Mapped<'a>, PolicyFault> {
        let action =
            self.identity_action(tool).ok_or_else(|| PolicyFault::ToolNotMapped(fault::shortened(tool)))?;
        let arguments = members.iter().map(|member| (member.name.as_str(), &member.value)).collect();
        Ok(Mapped { action, arguments })
    }

    /// A tool whose name is a pattern would be judged as many tools at once.
    fn identity_action(&self, tool: &str) -> Option<Action> {
        let action = self.identity.then(|| tool.parse::<Action>().ok()).flatten()?;
        (!action.is_pattern()).then_some(action)
    }
}

impl Tool {
    fn map<'a>(&'a self, members: &'a [Member]) -> Result<Mapped<'a>, PolicyFault> {
        if let Some(member) = members.iter().find(|member| !self.names(&member.name)) {
            return Err(PolicyFault::ArgumentNotNamed(fault::shortened(&member.name)));
        }
        let value = |source: &'a Source| match source {
            Source::Constant(value) => Some(value),
            Source::Argument { name, default } => {
                let sent = members.iter().find(|member| member.name == *name).map(|member| &member.value);
                sent.or(default.as_ref())
            }
        };
        let arguments = self.judged.iter().filter_map(|(name, source)| Some((name.as_str(), value(source)?)));
        Ok(Mapped { action: self.action.clone(), arguments: arguments.collect() })
    }

    fn names(&self, argument: &str) -> bool {
        self.unjudged.contains(argument)
            || self
                .judged
                .values()
                .any(|source| matches!(source, Source::Argument { name, .. } if name == argument))
    }
}
