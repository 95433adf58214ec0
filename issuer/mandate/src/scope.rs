//! What a mandate is for: `action@project:slug`, and opaque scopes (board rule 2.6).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    id::is_slug,
    limits::{MAX_SCOPE_CHARS, MAX_SCOPE_ITEMS},
};

const PROJECT_SEPARATOR: &str = "@project:";

/// A project: `[a-z0-9][a-z0-9-]{0,62}`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Project(String);

/// What is done: characters that are neither `@` nor white space. Granted actions may be patterns, `*` or ending in `.*`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Action(String);

/// One entry of a scope.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ScopeItem {
    /// An action in a project.
    Board(Action, Project),
    /// Any other text; compared as a whole.
    Opaque(String),
}

/// Scope entries, in the order in which they were granted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<ScopeItem>", into = "Vec<ScopeItem>")]
pub struct Scope(Vec<ScopeItem>);

/// Why a text is no scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScopeError {
    /// Not a project.
    #[error("a project is 1 to 63 of a-z, 0-9 and '-', not starting with '-'")]
    NotAProject,
    /// Not an action.
    #[error("an action is 1 to {MAX_SCOPE_CHARS} printable characters without '@' or spaces")]
    NotAnAction,
    /// Not a scope entry.
    #[error(
        "a scope entry is 1 to {MAX_SCOPE_CHARS} printable characters without spaces, such as task.read@project:web"
    )]
    NotAnItem,
    /// Too many entries.
    #[error("a scope has at most {MAX_SCOPE_ITEMS} entries")]
    TooMany,
}

impl Project {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Project {
    type Error = ScopeError;

    fn try_from(text: String) -> Result<Project, ScopeError> {
        if is_slug(&text) { Ok(Project(text)) } else { Err(ScopeError::NotAProject) }
    }
}

impl FromStr for Project {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Project, ScopeError> {
        Project::try_from(text.to_owned())
    }
}

impl From<Project> for String {
    fn from(project: Project) -> String {
        project.0
    }
}

impl fmt::Display for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Project {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Project({self})")
    }
}

impl Action {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this, as granted, covers `needed`: equal, `*`, or `prefix.*` over `prefix` and everything under `prefix.`.
    pub fn covers(&self, needed: &Action) -> bool {
        text_covers(&self.0, &needed.0)
    }

    /// Whether it holds a `*` and so names no single tool.
    pub fn is_pattern(&self) -> bool {
        self.0.contains('*')
    }
}

/// The rule is purely textual, so `task.*` covers `task.work`, `task`, `task.*` and `task.a.*`.
///
/// A pattern is never covered as the bare prefix of a longer one: `*.*` does not cover `*`, and `a.*.*` does not cover
/// `a.*`, since those permit what `*.*` and `a.*.*` do not. (Board rule 2.6 leaves this gap.)
fn text_covers(granted: &str, needed: &str) -> bool {
    if granted == "*" || granted == needed {
        return true;
    }
    let rest = granted.strip_suffix(".*").and_then(|prefix| needed.strip_prefix(prefix));
    rest.is_some_and(|rest| rest.starts_with('.') || rest.is_empty() && !covers_others(needed))
}

/// Whether the text covers more than itself.
fn covers_others(text: &str) -> bool {
    text == "*" || text.ends_with(".*")
}

fn is_printable(text: &str) -> bool {
    let mut chars = text.chars();
    !text.is_empty()
        && chars.by_ref().take(MAX_SCOPE_CHARS).all(|c| !c.is_whitespace() && !c.is_control())
        && chars.next().is_none()
}

impl TryFrom<String> for Action {
    type Error = ScopeError;

    fn try_from(text: String) -> Result<Action, ScopeError> {
        if is_printable(&text) && !text.contains('@') {
            Ok(Action(text))
        } else {
            Err(ScopeError::NotAnAction)
        }
    }
}

impl FromStr for Action {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<Action, ScopeError> {
        Action::try_from(text.to_owned())
    }
}

impl From<Action> for String {
    fn from(action: Action) -> String {
        action.0
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Action({self})")
    }
}

impl ScopeItem {
    /// Whether this, as granted, covers `needed`. Board and opaque scopes never cover each other.
    pub fn covers(&self, needed: &ScopeItem) -> bool {
        match (self, needed) {
            (ScopeItem::Board(granted, project), ScopeItem::Board(action, other)) => {
                project == other && granted.covers(action)
            }
            (ScopeItem::Opaque(granted), ScopeItem::Opaque(needed)) => text_covers(granted, needed),
            _ => false,
        }
    }
}

impl TryFrom<String> for ScopeItem {
    type Error = ScopeError;

    fn try_from(text: String) -> Result<ScopeItem, ScopeError> {
        if !is_printable(&text) {
            return Err(ScopeError::NotAnItem);
        }
        let board = text.split_once(PROJECT_SEPARATOR).and_then(|(action, project)| {
            Some(ScopeItem::Board(action.parse().ok()?, project.parse().ok()?))
        });
        Ok(board.unwrap_or(ScopeItem::Opaque(text)))
    }
}

impl FromStr for ScopeItem {
    type Err = ScopeError;

    fn from_str(text: &str) -> Result<ScopeItem, ScopeError> {
        ScopeItem::try_from(text.to_owned())
    }
}

impl From<ScopeItem> for String {
    fn from(item: ScopeItem) -> String {
        item.to_string()
    }
}

impl fmt::Display for ScopeItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScopeItem::Board(action, project) => write!(f, "{action}{PROJECT_SEPARATOR}{project}"),
            ScopeItem::Opaque(text) => f.write_str(text),
        }
    }
}

impl fmt::Debug for ScopeItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopeItem({self})")
    }
}

impl Scope {
    /// The entries.
    pub fn items(&self) -> &[ScopeItem] {
        &self.0
    }

    /// Whether some entry covers `needed`.
    pub fn covers(&self, needed: &ScopeItem) -> bool {
        self.0.iter().any(|granted| granted.covers(needed))
    }

    /// The first entry that `parent` does not cover; `None` when this narrows it.
    pub fn first_beyond(&self, parent: &Scope) -> Option<&ScopeItem> {
        self.0.iter().find(|item| !parent.covers(item))
    }
}

impl TryFrom<Vec<ScopeItem>> for Scope {
    type Error = ScopeError;

    fn try_from(items: Vec<ScopeItem>) -> Result<Scope, ScopeError> {
        if items.len() > MAX_SCOPE_ITEMS { Err(ScopeError::TooMany) } else { Ok(Scope(items)) }
    }
}

impl From<Scope> for Vec<ScopeItem> {
    fn from(scope: Scope) -> Vec<ScopeItem> {
        scope.0
    }
}

#[cfg(test)]
mod tests;
