//! Which methods of MCP get through: open ones as they are, mapped ones as calls. Every other one is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::mapping::Mapping;

/// Open where the policy does not say otherwise: what begins a session, what is alive, what there is.
const OPEN: [&str; 8] = [
    "initialize",
    "notifications/cancelled",
    "notifications/initialized",
    "notifications/progress",
    "notifications/roots/list_changed",
    "ping",
    "server/discover",
    "tools/list",
];

/// What happens to a message by its method. `tools/call` is judged by the tool that it names, whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Door {
    /// It goes through without a credential. (`tools/list` does so filtered.)
    Open,
    /// It is a call of its own: [`super::Policy::judge_method`].
    Judged,
    /// It is refused.
    Closed,
}

/// The methods that get through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Methods {
    pub(super) open: BTreeSet<String>,
    pub(super) mapped: BTreeMap<String, Mapping>,
}

impl Methods {
    /// The methods that are open by default, without those that are mapped.
    pub(super) fn open_by_default(mapped: &BTreeMap<String, Mapping>) -> BTreeSet<String> {
        OPEN.into_iter().filter(|name| !mapped.contains_key(*name)).map(str::to_owned).collect()
    }

    pub(super) fn door(&self, method: &str) -> Door {
        if self.mapped.contains_key(method) {
            Door::Judged
        } else if self.open.contains(method) {
            Door::Open
        } else {
            Door::Closed
        }
    }
}
