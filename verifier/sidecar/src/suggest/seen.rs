//! What a tool server says of one of its tools, as far as a policy needs it.

use std::collections::BTreeSet;

use pact_mandate::Json;

use crate::{
    limits::{MAX_SUGGESTED_ARGUMENTS, MAX_SUGGESTED_NAME_CHARS},
    tools_list::Definition,
};

/// One tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SeenTool {
    pub(super) name: String,
    /// Only what it says of itself.
    pub(super) says_read_only: bool,
    /// The names of its arguments.
    pub(super) arguments: BTreeSet<String>,
    /// Stands for all that it says of it.
    pub(super) definition: Definition,
}

impl SeenTool {
    /// Reads an entry of a list; `None` for what has no name.
    pub(super) fn of(tool: &Json) -> Option<SeenTool> {
        let says_read_only = tool.get("annotations").and_then(|said| said.get("readOnlyHint"));
        let arguments = tool.get("inputSchema").and_then(|schema| schema.get("properties"));
        let arguments = arguments.and_then(Json::members).unwrap_or_default();
        Some(SeenTool {
            name: tool.get("name")?.as_str()?.to_owned(),
            says_read_only: says_read_only == Some(&Json::Bool(true)),
            arguments: arguments.iter().map(|argument| argument.name.clone()).collect(),
            definition: Definition::of(tool)?,
        })
    }

    /// Whether a person could read a table of it in a policy.
    pub(super) fn can_be_named(&self) -> bool {
        let is_short = |name: &String| name.chars().count() <= MAX_SUGGESTED_NAME_CHARS;
        is_short(&self.name)
            && self.arguments.len() <= MAX_SUGGESTED_ARGUMENTS
            && self.arguments.iter().all(is_short)
    }
}
