//! What an issuer is believed for (protocol K2).

use std::collections::BTreeSet;

use pact_mandate::{Action, Format, Project, ScopeItem, scope::ScopeError};

/// What an issuer may speak for. Empty sets grant nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Speaks {
    /// Formats of credentials.
    pub formats: BTreeSet<Format>,
    /// Actions, as granted patterns (`*`, `task.*`, `task.read`).
    pub actions: Vec<Action>,
    /// Projects; every one of them only where the configuration says `*` in so many words.
    pub projects: Projects,
}

/// The projects an issuer may speak for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Projects {
    /// All of them, by an explicit `*`.
    All,
    /// These.
    Only(BTreeSet<Project>),
}

impl Speaks {
    /// An issuer that may speak for nothing yet (protocol K2).
    pub fn nothing() -> Speaks {
        Speaks { formats: BTreeSet::new(), actions: Vec::new(), projects: Projects::Only(BTreeSet::new()) }
    }

    /// Whether it may speak in this form.
    pub fn covers_format(&self, format: Format) -> bool {
        self.formats.contains(&format)
    }

    /// Whether it may speak for this action in this project.
    pub fn covers(&self, needed: &ScopeItem) -> bool {
        match needed {
            ScopeItem::Board(action, project) => self.covers_action(action) && self.covers_project(project),
            ScopeItem::Opaque(_) => false,
        }
    }

    /// Whether it may speak for this action, in whatever project.
    pub(crate) fn covers_action(&self, needed: &Action) -> bool {
        self.actions.iter().any(|granted| granted.covers(needed))
    }

    fn covers_project(&self, needed: &Project) -> bool {
        match &self.projects {
            Projects::All => true,
            Projects::Only(projects) => projects.contains(needed),
        }
    }
}

impl Projects {
    /// What a configuration says: `["*"]` alone is every project; anything else must be projects by name, so that a `*`
    /// beside others is a slip and not a grant of all (protocol K2).
    pub fn from_texts<T: AsRef<str>>(texts: &[T]) -> Result<Projects, ScopeError> {
        match texts {
            [all] if all.as_ref() == "*" => Ok(Projects::All),
            named => {
                named.iter().map(|name| name.as_ref().parse()).collect::<Result<_, _>>().map(Projects::Only)
            }
        }
    }
}
