//! The revisions of MCP that are served: all that this sidecar knows, or those of them that the tool server behind speaks.

use serde::{Deserialize, Serialize};

/// The revision without sessions.
pub(crate) const MODERN: &str = "2026-07-28";
/// The revisions with sessions.
pub(crate) const LEGACY: [&str; 2] = ["2025-11-25", "2025-06-18"];
/// All that are known, the newest first.
const KNOWN: [&str; 3] = [MODERN, "2025-11-25", "2025-06-18"];

/// One or more known revisions, the newest first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Vec<String>")]
pub(crate) struct Revisions(Vec<&'static str>);

/// Why a list of revisions is none.
#[derive(Debug, thiserror::Error)]
#[error("one or more of 2026-07-28, 2025-11-25 and 2025-06-18, each once")]
pub(crate) struct RevisionsError;

impl Revisions {
    /// Those of them that are served.
    pub(crate) fn as_slice(&self) -> &[&'static str] {
        &self.0
    }

    /// Whether a request that names no revision may be one of those that need not.
    pub(crate) fn may_be_unsaid(&self) -> bool {
        self.0.iter().any(|revision| LEGACY.contains(revision))
    }

    pub(crate) fn contains(&self, revision: &str) -> bool {
        self.0.contains(&revision)
    }
}

impl Default for Revisions {
    fn default() -> Revisions {
        Revisions(KNOWN.to_vec())
    }
}

impl TryFrom<Vec<String>> for Revisions {
    type Error = RevisionsError;

    fn try_from(names: Vec<String>) -> Result<Revisions, RevisionsError> {
        let known: Vec<&str> =
            KNOWN.into_iter().filter(|revision| names.iter().any(|name| name == revision)).collect();
        // One that is unknown, or named twice, is in the one count and not in the other.
        if known.is_empty() || known.len() != names.len() {
            Err(RevisionsError)
        } else {
            Ok(Revisions(known))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(names: &[&str]) -> Option<Vec<&'static str>> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        Revisions::try_from(names).ok().map(|revisions| revisions.0)
    }

    #[test]
    fn only_known_revisions_each_once_and_at_least_one() {
        assert_eq!(read(&["2025-06-18", "2026-07-28"]), Some(vec!["2026-07-28", "2025-06-18"]));
        for none in [&[][..], &["2024-11-05"], &["2026-07-28", "2024-11-05"], &["2026-07-28", "2026-07-28"]] {
            assert_eq!(read(none), None, "{none:?}");
        }
    }

    #[test]
    fn a_request_may_be_silent_about_a_revision_only_where_one_with_sessions_is_served() {
        assert!(Revisions::default().may_be_unsaid());
        assert!(!Revisions(vec![MODERN]).may_be_unsaid());
    }
}
