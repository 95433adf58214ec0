//! What a sidecar says of its tools: each listed tool's `_meta["pact/call"]` (protocol M3). A hint chooses among credentials
//! that the holder's own configuration binds to that server, and names the action that a Tenuo proof covers. It never says
//! where a proof counts.

use std::collections::BTreeMap;

use pact_mandate::{Action, Json, Project};
use pact_verifier::repeated::Marks;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::credential::Wanted;

/// A listed tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tool {
    pub(crate) name: String,
    /// What the sidecar says of it.
    pub(crate) hint: Option<Hint>,
    /// Which of its arguments are repeated in headers.
    pub(crate) marks: Marks,
}

/// What a tool amounts to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hint {
    action: Action,
    project: ProjectHint,
}

/// How the project of a call follows from its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProjectHint {
    /// Nobody said it in words that are known here.
    Unknown,
    Always(Project),
    Argument(String),
    /// By the longest prefix, in whole segments of a path.
    Prefix(String, BTreeMap<String, String>),
    Values(String, BTreeMap<String, String>),
}

#[derive(Deserialize)]
struct RawTool<'a> {
    #[serde(borrow)]
    name: std::borrow::Cow<'a, str>,
    #[serde(borrow, rename = "_meta", default)]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct RawMeta {
    #[serde(rename = "pact/call")]
    call: RawHint,
}

#[derive(Deserialize)]
struct RawHint {
    action: Action,
    #[serde(default)]
    project: serde_json::Value,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawProject {
    r#const: Option<String>,
    arg: Option<String>,
    prefix: Option<BTreeMap<String, String>>,
    values: Option<BTreeMap<String, String>>,
}

impl Tool {
    /// Of an entry of a list; `None` for one that is no tool, or whose marks no header can follow: MCP wants clients to
    /// leave that one out.
    pub(crate) fn read(text: &str) -> Option<Tool> {
        let tool: RawTool<'_> = serde_json::from_str(text).ok()?;
        let meta = tool.meta.and_then(|meta| serde_json::from_str::<RawMeta>(meta.get()).ok());
        let marks = Marks::of(&Json::parse(text.as_bytes()).ok()?);
        let marks = marks.inspect_err(|error| tracing::warn!(%error, "a listed tool is left out")).ok()?;
        Some(Tool { name: tool.name.into_owned(), hint: meta.map(|meta| Hint::from_raw(meta.call)), marks })
    }
}

impl Hint {
    fn from_raw(raw: RawHint) -> Hint {
        let project = serde_json::from_value(raw.project).unwrap_or_default();
        Hint { action: raw.action, project: ProjectHint::from_raw(project) }
    }

    /// What a call with these arguments needs.
    pub(crate) fn wanted(&self, arguments: &Json) -> Wanted {
        Wanted { action: self.action.clone(), project: self.project.of(arguments) }
    }
}

impl ProjectHint {
    fn from_raw(raw: RawProject) -> ProjectHint {
        match raw {
            RawProject { r#const: Some(project), arg: None, prefix: None, values: None } => {
                project.parse().map_or(ProjectHint::Unknown, ProjectHint::Always)
            }
            RawProject { r#const: None, arg: Some(arg), prefix: None, values: None } => {
                ProjectHint::Argument(arg)
            }
            RawProject { r#const: None, arg: Some(arg), prefix: Some(table), values: None } => {
                ProjectHint::Prefix(arg, table)
            }
            RawProject { r#const: None, arg: Some(arg), prefix: None, values: Some(table) } => {
                ProjectHint::Values(arg, table)
            }
            _ => ProjectHint::Unknown,
        }
    }

    fn of(&self, arguments: &Json) -> Option<Project> {
        let text = |name: &str| arguments.get(name)?.as_str();
        match self {
            ProjectHint::Unknown => None,
            ProjectHint::Always(project) => Some(project.clone()),
            ProjectHint::Argument(name) => text(name)?.parse().ok(),
            ProjectHint::Prefix(name, table) => longest(text(name)?, table)?.parse().ok(),
            ProjectHint::Values(name, table) => table.get(text(name)?)?.parse().ok(),
        }
    }
}

fn longest<'t>(path: &str, table: &'t BTreeMap<String, String>) -> Option<&'t String> {
    let covers = |prefix: &str| {
        let prefix = prefix.trim_end_matches('/');
        path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let fitting = table.iter().filter(|(prefix, _)| covers(prefix));
    fitting.max_by_key(|(prefix, _)| prefix.len()).map(|(_, project)| project)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn project_of(hint: &str, arguments: &str) -> Option<String> {
        let tool = format!(r#"{{"name":"t","_meta":{{"x":1,"pact/call":{hint}}}}}"#);
        let tool = Tool::read(&tool).unwrap();
        assert_eq!(tool.name, "t");
        let wanted = tool.hint.unwrap().wanted(&Json::parse(arguments.as_bytes()).unwrap());
        assert_eq!(wanted.action.as_str(), "task.read");
        wanted.project.map(String::from)
    }

    #[test]
    fn m3_a_hint_says_action_and_project() {
        for (project, arguments, wanted) in [
            (r#"{"const":"web"}"#, "{}", Some("web")),
            (r#"{"arg":"p"}"#, r#"{"p":"shop"}"#, Some("shop")),
            (r#"{"arg":"p"}"#, r#"{"p":7}"#, None),
            (r#"{"arg":"p"}"#, "{}", None),
            (r#"{"arg":"p","values":{"A":"shop"}}"#, r#"{"p":"A"}"#, Some("shop")),
            (r#"{"arg":"p","prefix":{"/d":"all","/d/web/":"web"}}"#, r#"{"p":"/d/web/x"}"#, Some("web")),
            (r#"{"arg":"p","prefix":{"/d":"all","/d/web":"web"}}"#, r#"{"p":"/d/website"}"#, Some("all")),
            (r#"{"arg":"p","prefix":{"/d":"all"}}"#, r#"{"p":"/data"}"#, None),
            (r#"{"arg":"p","other":1}"#, r#"{"p":"shop"}"#, None),
            (r#"{"const":"web","arg":"p"}"#, r#"{"p":"shop"}"#, None),
            ("7", "{}", None),
        ] {
            let hint =
                format!(r#"{{"tool":"t","action":"task.read","project":{project},"formats":["tenuo"]}}"#);
            assert_eq!(project_of(&hint, arguments).as_deref(), wanted, "{project} {arguments}");
        }
    }

    #[test]
    fn a_tool_without_a_hint_or_with_a_broken_one_has_none() {
        for tool in [
            r#"{"name":"t","inputSchema":{}}"#,
            r#"{"name":"t","_meta":{}}"#,
            r#"{"name":"t","_meta":{"pact/call":{"action":"a b"}}}"#,
            r#"{"name":"t","_meta":{"pact/call":7}}"#,
        ] {
            let read = Tool::read(tool).unwrap();
            assert_eq!((read.name.as_str(), read.hint), ("t", None), "{tool}");
        }
        assert_eq!(Tool::read("7"), None);
        let badly_marked = r#"{"name":"t","inputSchema":{"x-mcp-header":"A"}}"#;
        assert_eq!(Tool::read(badly_marked), None);
    }
}
