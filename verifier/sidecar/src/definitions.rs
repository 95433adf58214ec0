//! What the tool server last said of each tool: a tool that becomes another one under its name is an alarm, and where the policy
//! names the definition that a person has read, nobody sees or calls it any more.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use http::HeaderMap;
use pact_mandate::{Json, Now, hex};
use pact_verifier::{Policy, repeated::Marks};

use crate::{
    fault::{Fault, ShapeFault},
    limits::{MAX_REMEMBERED_DEFINITIONS, TOOL_CHANGES_TOLD_PER_SECOND},
    mcp::{Message, ParamHeaders, TOOLS_CALL, ToolCall},
    metrics::Metrics,
    sampler::Sampler,
    tools_list::Definition,
};

/// The definition of each tool that the policy maps, as it was last listed to anybody.
pub(crate) struct Definitions {
    seen: Mutex<BTreeMap<String, Listed>>,
    told: Sampler,
}

/// What was last listed of a tool.
pub(crate) struct Listed {
    definition: Definition,
    /// Which arguments its callers repeat in headers.
    marks: Marks,
}

/// Whether a definition is one to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// It is the one that the policy names, or the policy names none.
    AsReviewed,
    /// The policy names another one.
    NotReviewed,
}

impl Definitions {
    pub(crate) fn new() -> Definitions {
        Definitions { seen: Mutex::default(), told: Sampler::new(TOOL_CHANGES_TOLD_PER_SECOND) }
    }

    /// Remembers what was just listed of a tool that the policy maps, and says whether it may be shown. Every change is
    /// counted, and told as long as there are few.
    pub(crate) fn shows(
        &self,
        tool: &str,
        listed: Listed,
        policy: &Policy,
        metrics: &Metrics,
        now: Now,
    ) -> bool {
        let definition = listed.definition;
        let standing = standing(tool, definition, policy);
        let before = self.remember(tool, listed, standing);
        let has_changed = before.is_some_and(|before| before != definition);
        if has_changed || (before.is_none() && standing == Standing::NotReviewed) {
            metrics.tool_changed();
            if let Some(left_out) = self.told.admit(now) {
                let (definition, shown) =
                    (hex::encode(definition.digest()), standing == Standing::AsReviewed);
                tracing::warn!(
                    tool,
                    definition,
                    shown,
                    left_out,
                    "the tool server describes a tool otherwise than before, or than the policy says; read it"
                );
            }
        }
        standing == Standing::AsReviewed
    }

    /// Refuses a call of a tool that was last listed otherwise than the policy says.
    pub(crate) fn check(&self, call: &ToolCall, policy: &Policy) -> Result<(), Fault> {
        let message = call.message();
        let tool = message.tool().filter(|_| message.method() == TOOLS_CALL).unwrap_or_default();
        if policy.definition_of(tool).is_none() {
            return Ok(());
        }
        match self.lock().get(tool).map(|listed| standing(tool, listed.definition, policy)) {
            // Whoever has not been shown it has not been misled by it; its call is judged by the policy's own words.
            None | Some(Standing::AsReviewed) => Ok(()),
            Some(Standing::NotReviewed) => Err(Fault::ToolChanged),
        }
    }

    /// Compares the headers that repeat arguments with them, as far as it was listed which those are.
    pub(crate) fn agree(&self, headers: &HeaderMap, message: &Message) -> Result<ParamHeaders, ShapeFault> {
        let marks = || Some(self.lock().get(message.tool()?)?.marks.clone());
        ParamHeaders::agree(headers, message, marks)
    }

    /// The tools that are held back now, by name.
    pub(crate) fn held_back(&self, policy: &Policy) -> Vec<String> {
        let seen = self.lock();
        let held = seen
            .iter()
            .filter(|(tool, listed)| standing(tool, listed.definition, policy) == Standing::NotReviewed);
        held.map(|(tool, _)| tool.clone()).collect()
    }

    /// A panic elsewhere leaves whole entries: what is held back stays so.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Listed>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what was known before.
    fn remember(&self, tool: &str, listed: Listed, standing: Standing) -> Option<Definition> {
        let mut seen = self.lock();
        // Tools that are judged by their own names have no end. What is held back always has its place: a policy has one.
        if seen.len() >= MAX_REMEMBERED_DEFINITIONS
            && !seen.contains_key(tool)
            && standing == Standing::AsReviewed
        {
            return None;
        }
        seen.insert(tool.to_owned(), listed).map(|before| before.definition)
    }
}

impl Listed {
    /// An entry of a list; `None` for what is no object.
    pub(crate) fn of(tool: &Json) -> Option<Listed> {
        let definition = Definition::of(tool)?;
        let marks = Marks::of(tool).unwrap_or_else(|error| {
            tracing::debug!(%error, "a tool's marks for headers count for nothing");
            Marks::default()
        });
        Some(Listed { definition, marks })
    }
}

fn standing(tool: &str, listed: Definition, policy: &Policy) -> Standing {
    match policy.definition_of(tool) {
        Some(reviewed) if reviewed != listed.digest() => Standing::NotReviewed,
        _ => Standing::AsReviewed,
    }
}
