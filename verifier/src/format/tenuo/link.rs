//! The rules between a warrant and the one above it, and between a warrant and the clock.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{UnixTime, limits::MAX_LIFETIME_SECONDS};

use super::{
    capability::Capability,
    effort::Effort,
    fault::LinkFault,
    warrant::{Grant, Issuance, Warrant},
};
use crate::limits::ISSUE_SKEW_SECONDS;

/// The entry that stands for every tool without one of its own.
pub(super) const ANY_TOOL: &str = "*";

/// A lifetime within the cap, begun and not over (protocol T2).
pub(super) fn check_times(warrant: &Warrant, now: UnixTime) -> Result<(), LinkFault> {
    let (issued_at, expires_at) = (warrant.issued_at, warrant.expires_at);
    match expires_at.checked_sub(issued_at) {
        None | Some(0) => return Err(LinkFault::NoLifetime),
        Some(seconds) if seconds > MAX_LIFETIME_SECONDS => return Err(LinkFault::LivesTooLong(seconds)),
        Some(_) => {}
    }
    if issued_at > now.seconds() + ISSUE_SKEW_SECONDS {
        return Err(LinkFault::NotYetValid(issued_at));
    }
    let expires_at = UnixTime::try_from(expires_at).map_err(|_| LinkFault::NotYetValid(issued_at))?;
    if expires_at <= now { Err(LinkFault::Expired(expires_at)) } else { Ok(()) }
}

/// The first warrant is a root, and not one from the middle of a chain.
pub(super) fn check_root(warrant: &Warrant) -> Result<(), LinkFault> {
    if warrant.depth == 0 && warrant.parent_hash.is_none() {
        Ok(())
    } else {
        Err(LinkFault::NotARoot { depth: warrant.depth })
    }
}

/// I2, I3, I5, and what a descendant keeps whatever it is for. (I1 was judged with the signature.)
pub(super) fn check(parent: &Warrant, parent_hash: &[u8; 32], child: &Warrant) -> Result<(), LinkFault> {
    if child.parent_hash.as_ref() != Some(parent_hash) {
        return Err(LinkFault::WrongParent);
    }
    check_depth(parent, child)?;
    if child.expires_at > parent.expires_at {
        return Err(LinkFault::OutlivesParent);
    }
    if child.issued_at < parent.issued_at {
        return Err(LinkFault::OlderThanParent);
    }
    if child.extensions.session != parent.extensions.session {
        return Err(LinkFault::OtherSession);
    }
    if child.extensions.source.is_some() {
        return Err(LinkFault::MisplacedSource);
    }
    if child.clearance > parent.clearance {
        return Err(LinkFault::ClearanceRaised { found: child.clearance, parent: parent.clearance });
    }
    check_approvals(parent, child)
}

fn check_depth(parent: &Warrant, child: &Warrant) -> Result<(), LinkFault> {
    let expected = parent.depth.saturating_add(1);
    if child.depth != expected {
        return Err(LinkFault::WrongDepth { expected, found: child.depth });
    }
    if child.max_depth > parent.max_depth {
        return Err(LinkFault::DepthRaised { found: child.max_depth, parent: parent.max_depth });
    }
    let most = u32::from(child.max_depth);
    if child.depth > most { Err(LinkFault::DepthExceeded { depth: child.depth, most }) } else { Ok(()) }
}

/// Every approver of the parent stays, and one that is added counts on top.
fn check_approvals(parent: &Warrant, child: &Warrant) -> Result<(), LinkFault> {
    let (above, below) = (&parent.approvals, &child.approvals);
    let kept = above.approvers.iter().all(|key| below.approvers.binary_search(key).is_ok());
    let gated = child.extensions.gated || !parent.extensions.gated;
    if !kept || !gated {
        return Err(LinkFault::ApprovalsDropped);
    }
    let added = below.approvers.len() - above.approvers.len();
    let enough = above.approvers.is_empty() || below.threshold >= above.threshold + added;
    if enough { Ok(()) } else { Err(LinkFault::ApprovalsDropped) }
}

/// I4: what the child is for lies within what the parent is for.
pub(super) fn check_grant(
    parent: &Warrant,
    child: &Warrant,
    restricted: &BTreeSet<String>,
    effort: &mut Effort,
) -> Result<(), LinkFault> {
    match (&parent.grant, &child.grant) {
        (Grant::Execution(above), Grant::Execution(below)) => check_tools(above, below, restricted, effort),
        (Grant::Issuer(above), Grant::Issuer(below)) => check_issuance(above, below, effort),
        (Grant::Issuer(above), Grant::Execution(below)) => {
            if child.holder == parent.holder || child.holder == parent.issuer {
                return Err(LinkFault::SelfIssued);
            }
            if let Some(most) = above.max_depth.filter(|most| u32::from(child.max_depth) > *most) {
                return Err(LinkFault::IssueDepthExceeded(most));
            }
            check_issued(above, below, effort)
        }
        (Grant::Execution(_), Grant::Issuer(_)) => Err(LinkFault::IssuerFromExecution),
    }
}

/// A tool comes from the parent's entry of that name. Only where no ancestor ever had one does `*` stand for it:
/// an entry that was dropped on the way is gone for good.
fn check_tools(
    above: &BTreeMap<String, Capability>,
    below: &BTreeMap<String, Capability>,
    restricted: &BTreeSet<String>,
    effort: &mut Effort,
) -> Result<(), LinkFault> {
    for (tool, capability) in below {
        let granted = match above.get(tool) {
            Some(own) => own,
            None if restricted.contains(tool) && above.contains_key(ANY_TOOL) => {
                return Err(LinkFault::ToolReopened(tool.clone()));
            }
            None => above.get(ANY_TOOL).ok_or_else(|| LinkFault::ToolAdded(tool.clone()))?,
        };
        granted.check_narrowing(capability, tool, effort)?;
    }
    Ok(())
}

/// Bounds and issue depth are kept by every issuer below.
fn check_issuance(above: &Issuance, below: &Issuance, effort: &mut Effort) -> Result<(), LinkFault> {
    if let Some(tool) = below.tools.iter().find(|tool| !above.issues(tool)) {
        return Err(LinkFault::NotIssuable(tool.clone()));
    }
    match (&above.bounds, &below.bounds) {
        (None, _) => {}
        (Some(_), None) => return Err(LinkFault::BoundsDropped),
        (Some(bounds), Some(inner)) => bounds.check_narrowing(inner, "of the bounds", effort)?,
    }
    match above.max_depth {
        Some(most) if below.max_depth.is_none_or(|depth| depth > most) => {
            Err(LinkFault::IssueDepthExceeded(most))
        }
        _ => Ok(()),
    }
}

fn check_issued(
    above: &Issuance,
    below: &BTreeMap<String, Capability>,
    effort: &mut Effort,
) -> Result<(), LinkFault> {
    for (tool, capability) in below {
        if !above.issues(tool) {
            return Err(LinkFault::NotIssuable(tool.clone()));
        }
        if let Some(bounds) = &above.bounds {
            bounds.check_narrowing(capability, tool, effort)?;
        }
    }
    Ok(())
}

impl Issuance {
    fn issues(&self, tool: &str) -> bool {
        self.tools.iter().any(|issuable| issuable == tool || issuable == ANY_TOOL)
    }
}
