//! The local policy: what each tool of the server behind, and each method, amounts to in the words of mandates. What it does
//! not name is refused.
//!
//! # The file
//! One TOML file of which every key is known.
//!
//! ```toml
//! identity = false                   # true: tools that are not named are judged by their own names
//! stock_proofs = false               # true: proofs of stock Tenuo clients count (protocol P3)
//! list_without_credential = "none"   # "all": every mapped tool is listed to whoever asks
//!
//! [limits]                           # what a call is taken to need where a credential limits it and the tool does not say
//! runs = 1
//!
//! [tools.write_file]
//! action = "task.work"
//! project = { arg = "path", prefix = { "/srv/web" = "web", "/srv/docs" = "docs" } }
//! args = { cost_usd = { arg = "cost", default = 0.5 } }
//! rules = { mode = { one_of = ["append", "replace"] }, size = { max = 65536, optional = true } }
//! unjudged = ["content", "mode", "size"]
//! definition = "…64 hex digits…"     # shown and called only while the tool server describes it as a person has read it
//!
//! [methods]
//! open = ["initialize", "ping", "server/discover", "tools/list", "notifications/initialized"]
//!
//! [methods."resources/read"]         # the arguments are the params without `_meta`
//! action = "task.read"
//! project = { arg = "uri", prefix = { "file:///srv/web" = "web" } }
//! ```
//!
//! An argument that counts (`project`, `task_id`, those of `args`) comes from
//! - `{ const = VALUE }`: the same value in every call;
//! - `{ arg = NAME }`, or a list of names that must all amount to the same; `default = VALUE` when it was not sent;
//!   `values = { TEXT = VALUE }` by a table, `prefix = { PATH = VALUE }` by the longest prefix of whole segments;
//!   `each = true` for a list whose members must all amount to the same.
//!
//! A rule asks something of a raw argument that no credential need know: `one_of`, `max`, `prefix`, each of them exact. An
//! argument under a rule must be sent, unless the rule says `optional = true`.

use std::collections::BTreeMap;

use pact_mandate::{Action, Asked, Call, Json, Judged, json::Member};

use crate::refusal::Refusal;

mod digest;
mod fault;
mod limits;
mod mapping;
mod methods;
mod plain_path;
mod prospect;
mod read;
mod rule;
mod source;
#[cfg(test)]
mod tests;

pub use fault::{PolicyError, PolicyFault};
pub use methods::Door;

use mapping::{Mapped, Mapping};
use methods::Methods;
pub(crate) use prospect::Open;

/// The argument that names the project.
pub(crate) const PROJECT: &str = "project";

/// A policy file, read. Made by [`Policy::from_toml`] alone.
#[derive(Clone, Debug)]
pub struct Policy {
    tools: BTreeMap<String, Mapping>,
    methods: Methods,
    /// What a call is taken to need where a credential limits it and the tool does not say.
    limits: BTreeMap<String, Json>,
    identity: bool,
    stock_proofs: bool,
    lists_to_strangers: bool,
    digest: [u8; 32],
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

    /// What a `tools/call` amounts to; whatever is not named is refused.
    pub fn judge(&self, asked: Asked) -> Result<Call, Refusal> {
        // A name is a tool's or a method's, so that a call says by its name which of the two it is.
        if self.methods.mapped.contains_key(&asked.tool) {
            return Err(PolicyFault::ToolNotMapped(fault::shortened(&asked.tool)).into());
        }
        self.judged(asked)
    }

    /// What a message of a mapped method amounts to. Its tool is the method's own name, its arguments are the params without
    /// `_meta`.
    pub fn judge_method(&self, asked: Asked) -> Result<Call, Refusal> {
        if !self.methods.mapped.contains_key(&asked.tool) {
            return Err(PolicyFault::ToolNotMapped(fault::shortened(&asked.tool)).into());
        }
        self.judged(asked)
    }

    fn judged(&self, asked: Asked) -> Result<Call, Refusal> {
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

    /// What happens to a message of this method.
    pub fn door(&self, method: &str) -> Door {
        self.methods.door(method)
    }

    /// Whether proofs of stock Tenuo clients count here (protocol P3).
    pub fn takes_stock_proofs(&self) -> bool {
        self.stock_proofs
    }

    /// Whether every mapped tool is listed to whoever asks without a credential; otherwise none is.
    pub fn lists_to_strangers(&self) -> bool {
        self.lists_to_strangers
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

    /// Where a tool's project comes from, as the policy writes it: `{"const":…}` or `{"arg":…}` and how it is read.
    pub fn project_of(&self, tool: &str) -> Option<Json> {
        match self.tools.get(tool) {
            Some(tool) => tool.judged.get(PROJECT).map(digest::source_as_json),
            None => self
                .identity_action(tool)
                .map(|_| Json::Object(vec![Member::new("arg", Json::String(PROJECT.to_owned()))])),
        }
    }

    /// The digest of the only description of a tool under which it is shown and called; `None` where the policy names none.
    pub fn definition_of(&self, tool: &str) -> Option<&[u8; 32]> {
        self.tools.get(tool)?.definition.as_ref()
    }

    /// Stands for the whole policy, in receipts.
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    fn mapping(&self, name: &str) -> Option<&Mapping> {
        self.tools.get(name).or_else(|| self.methods.mapped.get(name))
    }

    fn map<'a>(&'a self, asked: &'a Asked) -> Result<Mapped<'a>, PolicyFault> {
        let members = asked.arguments.members().ok_or(PolicyFault::ArgumentsNotAnObject)?;
        // P2: these names are the proof's own.
        if let Some(member) = members.iter().find(|member| member.name.starts_with('@')) {
            return Err(PolicyFault::ReservedArgument(fault::shortened(&member.name)));
        }
        match self.mapping(&asked.tool) {
            Some(mapping) => mapping.map(members),
            None => self.map_identity(&asked.tool, members),
        }
    }

    fn map_identity<'a>(&'a self, tool: &str, members: &'a [Member]) -> Result<Mapped<'a>, PolicyFault> {
        let action =
            self.identity_action(tool).ok_or_else(|| PolicyFault::ToolNotMapped(fault::shortened(tool)))?;
        // Neither the caller's value nor the file's could be told to be what the tool goes by.
        if let Some(member) = members.iter().find(|member| self.limits.contains_key(&member.name)) {
            return Err(PolicyFault::ArgumentFixed(fault::shortened(&member.name)));
        }
        let arguments = members.iter().map(|member| (member.name.as_str(), &member.value)).collect();
        Ok(Mapped { action, arguments })
    }

    /// A tool whose name is a pattern would be judged as many tools at once; a method's name is none.
    fn identity_action(&self, tool: &str) -> Option<Action> {
        let by_name = self.identity && !self.methods.mapped.contains_key(tool);
        let action = by_name.then(|| tool.parse::<Action>().ok()).flatten()?;
        (!action.is_pattern()).then_some(action)
    }
}
