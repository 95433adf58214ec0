//! One link of a chain as both formats see it: named tools in named projects, and the limits that bind.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Action, Ceilings, MandateId, Project, ScopeItem, UnixTime};

use super::ExportError;
use crate::chain::UnrevokedChain;

/// What one mandate contributes to a credential.
pub(crate) struct Link {
    /// The mandate.
    pub(crate) mandate: MandateId,
    /// Tools and projects in the order of the scope, each pair once.
    pub(crate) pairs: Vec<(Action, Project)>,
    /// Its own limits, tightened by every ancestor's.
    pub(crate) limits: Ceilings,
    /// Its end.
    pub(crate) expires_at: UnixTime,
}

impl Link {
    /// The links of a chain, root first, or the reason for which one cannot be exported in any format.
    pub(crate) fn all(chain: &UnrevokedChain, now: UnixTime) -> Result<Vec<Link>, ExportError> {
        let chain = chain.chain();
        let mut links = Vec::new();
        for (link, mandate) in chain.mandates().enumerate() {
            let expires_at = mandate.validity().expires_at;
            if expires_at <= now {
                return Err(ExportError::Expired { link, at: expires_at });
            }
            let pairs = pairs(link, mandate.scope().items())?;
            if pairs.is_empty() {
                return Err(ExportError::EmptyScope { link });
            }
            let limits = chain.ceilings_at(link + 1);
            links.push(Link { mandate: mandate.id(), pairs, limits, expires_at });
        }
        Ok(links)
    }

    /// The projects of each tool.
    pub(crate) fn tools(&self) -> BTreeMap<&Action, BTreeSet<&Project>> {
        let mut tools: BTreeMap<&Action, BTreeSet<&Project>> = BTreeMap::new();
        for (action, project) in &self.pairs {
            tools.entry(action).or_default().insert(project);
        }
        tools
    }
}

fn pairs(link: usize, items: &[ScopeItem]) -> Result<Vec<(Action, Project)>, ExportError> {
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::new();
    for item in items {
        match item {
            ScopeItem::Opaque(_) => return Err(ExportError::OpaqueScope { link, item: item.clone() }),
            ScopeItem::Board(action, _) if action.is_pattern() => {
                return Err(ExportError::PatternAction { link, item: item.clone() });
            }
            ScopeItem::Board(action, project) => {
                if seen.insert((action, project)) {
                    pairs.push((action.clone(), project.clone()));
                }
            }
        }
    }
    Ok(pairs)
}
