//! What the tool server last said of each tool: a tool that becomes another one under its name is an alarm, and where the policy
//! names the definition that a person has read, nobody sees or calls it any more.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use pact_mandate::{Now, hex};
use pact_verifier::Policy;

use crate::{
    fault::Fault,
    limits::{MAX_REMEMBERED_DEFINITIONS, TOOL_CHANGES_TOLD_PER_SECOND},
    mcp::{TOOLS_CALL, ToolCall},
    metrics::Metrics,
    sampler::Sampler,
    tools_list::Definition,
};

/// The definition of each tool that the policy maps, as it was last listed to anybody.
pub(crate) struct Definitions {
    seen: Mutex<BTreeMap<String, Definition>>,
    told: Sampler,
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
        listed: Definition,
        policy: &Policy,
        metrics: &Metrics,
        now: Now,
    ) -> bool {
        let standing = standing(tool, listed, policy);
        let before = self.remember(tool, listed, standing);
        let has_changed = before.is_some_and(|before| before != listed);
        if has_changed || (before.is_none() && standing == Standing::NotReviewed) {
            metrics.tool_changed();
            if let Some(left_out) = self.told.admit(now) {
                let (definition, shown) = (hex::encode(listed.digest()), standing == Standing::AsReviewed);
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
        match self.lock().get(tool).map(|listed| standing(tool, *listed, policy)) {
            // Whoever has not been shown it has not been misled by it; its call is judged by the policy's own words.
            None | Some(Standing::AsReviewed) => Ok(()),
            Some(Standing::NotReviewed) => Err(Fault::ToolChanged),
        }
    }

    /// The tools that are held back now, by name.
    pub(crate) fn held_back(&self, policy: &Policy) -> Vec<String> {
        let seen = self.lock();
        let held =
            seen.iter().filter(|(tool, listed)| standing(tool, **listed, policy) == Standing::NotReviewed);
        held.map(|(tool, _)| tool.clone()).collect()
    }

    /// A panic elsewhere leaves whole entries: what is held back stays so.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Definition>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, tool: &str, listed: Definition, standing: Standing) -> Option<Definition> {
        let mut seen = self.lock();
        // Tools that are judged by their own names have no end. What is held back always has its place: a policy has one.
        if seen.len() >= MAX_REMEMBERED_DEFINITIONS
            && !seen.contains_key(tool)
            && standing == Standing::AsReviewed
        {
            return None;
        }
        seen.insert(tool.to_owned(), listed)
    }
}

fn standing(tool: &str, listed: Definition, policy: &Policy) -> Standing {
    match policy.definition_of(tool) {
        Some(reviewed) if reviewed != listed.digest() => Standing::NotReviewed,
        _ => Standing::AsReviewed,
    }
}
