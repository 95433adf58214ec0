//! The last warrant: what it allows its holder to call. Only its constraints are evaluated, because each link of the
//! chain was found to narrow the one before.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Action, Judged};

use super::{
    capability::Capability,
    chain::Chain,
    fault::{CallFault, TenuoFault},
    link::ANY_TOOL,
    warrant::Grant,
};
use crate::policy::Open;

/// The last warrant of a chain that holds.
#[derive(Debug)]
pub(crate) struct Leaf {
    id: [u8; 16],
    /// `None` for an issuer warrant, which executes nothing.
    tools: Option<BTreeMap<String, Capability>>,
    restricted: BTreeSet<String>,
    /// Somebody would have to approve each call.
    needs_approval: bool,
}

impl Leaf {
    pub(super) fn of(chain: Chain) -> Leaf {
        let warrant = chain.leaf;
        Leaf {
            id: warrant.id,
            needs_approval: warrant.extensions.gated || !warrant.approvals.approvers.is_empty(),
            tools: match warrant.grant {
                Grant::Execution(tools) => Some(tools),
                Grant::Issuer(_) => None,
            },
            restricted: chain.restricted,
        }
    }

    /// The warrant's id, which a proof names.
    pub(crate) fn id(&self) -> &[u8; 16] {
        &self.id
    }

    /// Whether the warrant allows the call, as far as it is known.
    pub(crate) fn permits(&self, call: &Judged, open: &Open) -> Result<(), TenuoFault> {
        let capability = self.capability(&call.action)?;
        Ok(capability.check(&call.arguments, open)?)
    }

    /// The arguments that it constrains for this action.
    pub(crate) fn limit_keys(&self, action: &Action) -> Vec<&str> {
        self.capability(action).map(|capability| capability.names().collect()).unwrap_or_default()
    }

    fn capability(&self, action: &Action) -> Result<&Capability, CallFault> {
        let tools = self.tools.as_ref().ok_or(CallFault::NotExecutable)?;
        if self.needs_approval {
            return Err(CallFault::ApprovalRequired);
        }
        let tool = action.as_str();
        if action.is_pattern() {
            return Err(CallFault::ToolNotGranted(tool.to_owned()));
        }
        match tools.get(tool) {
            Some(own) => Ok(own),
            None if self.restricted.contains(tool) && tools.contains_key(ANY_TOOL) => {
                Err(CallFault::ToolRestricted(tool.to_owned()))
            }
            None => tools.get(ANY_TOOL).ok_or_else(|| CallFault::ToolNotGranted(tool.to_owned())),
        }
    }
}
