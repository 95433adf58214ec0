//! What is attempted: the call as it was asked, which the proof covers, and as it is judged, which constraints see.

use std::collections::BTreeMap;

use crate::{
    json::Json,
    scope::{Action, Project, ScopeItem},
};

/// One call, whole. The policy makes the judged half from the asked one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What the caller sent and signed.
    pub asked: Asked,
    /// What it amounts to.
    pub judged: Judged,
}

/// The call in the tool server's own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The tool's own name.
    pub tool: String,
    /// The raw arguments: always an object.
    pub arguments: Json,
    /// SHA-256 of the canonical JSON of `{"method":…,"params":…}`, `params` without `_meta` and `arguments` (protocol P1).
    pub params: [u8; 32],
}

/// The call in the words of mandates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The action: the name of the tool in a credential.
    pub action: Action,
    /// The arguments that count: `project`, `task_id`, limits, and what else a constraint may name.
    pub arguments: BTreeMap<String, Json>,
}

impl Judged {
    /// The project, when the call names one in the right form.
    pub fn project(&self) -> Option<Project> {
        self.arguments.get("project")?.as_str()?.parse().ok()
    }

    /// The scope entry that must be covered; `None` when the call names no project.
    pub fn needed(&self) -> Option<ScopeItem> {
        Some(ScopeItem::Board(self.action.clone(), self.project()?))
    }
}
