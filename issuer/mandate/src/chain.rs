//! A chain of mandates from a person down to the holder of the last one.

use crate::{
    call::Judged,
    ceilings::{Ceilings, LimitName},
    id::{AgentId, HumanId, MandateId},
    limits::{MAX_DELEGATIONS, MAX_DEPTH, MAX_LIFETIME_SECONDS},
    mandate::{Denial, IssuerKind, Mandate},
    scope::{Scope, ScopeItem},
    signed::{Authentic, Extensions, KeyRing, Signed, SignedError, Statement},
    time::UnixTime,
};

/// Mandates root first, every one signed, linked to the one before and no wider than it, none of them expired.
/// Whether one was revoked is not known here.
#[derive(Clone, Debug)]
pub struct Chain {
    ancestors: Vec<Authentic<Mandate>>,
    leaf: Authentic<Mandate>,
}

/// What the holder of a chain's last mandate hands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChildGrant {
    /// The new mandate's id.
    pub id: MandateId,
    /// Who receives.
    pub holder: AgentId,
    /// For what.
    pub scope: Scope,
    /// How much a call. Limits of the ancestors that are left out here bind all the same.
    pub limits: Ceilings,
    /// How many times it may be handed on below; at most one less than the parent.
    pub delegations: u8,
    /// From when.
    pub issued_at: UnixTime,
    /// Until when; the parent's expiry when it is later or not given.
    pub expires_at: Option<UnixTime>,
}

/// Why a chain is refused: the link at fault, counted from the root as 0, and its fault.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("link {link} of the chain: {fault}")]
pub struct ChainError {
    /// Which link.
    pub link: usize,
    /// What is wrong with it.
    pub fault: LinkFault,
}

/// What is wrong with a link, or with a grant that would become one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkFault {
    /// No link at all.
    #[error("the chain is empty")]
    Empty,
    /// More links than a chain may have.
    #[error("a chain has at most {} links", MAX_DEPTH + 1)]
    TooLong,
    /// The signature or the signed content.
    #[error(transparent)]
    Signed(#[from] SignedError),
    /// The first link was not granted by a person, or has a parent.
    #[error("the first mandate is not a person's own grant")]
    NotARoot,
    /// A person's grant below the root.
    #[error("only an agent's grant can stand below the root")]
    NotAChild,
    /// Names another parent than the link before.
    #[error("its parent is {found:?}, the link before is {expected}")]
    WrongParent {
        /// The id of the link before.
        expected: MandateId,
        /// What it names.
        found: Option<MandateId>,
    },
    /// Has the id of a link before it.
    #[error("the id {0} already stands further up in the chain")]
    RepeatedId(MandateId),
    /// Granted by another than the parent's holder.
    #[error("it was granted by {found}, the parent is held by {expected}")]
    WrongIssuer {
        /// The parent's holder.
        expected: AgentId,
        /// Who granted it.
        found: String,
    },
    /// The depth does not count up by one.
    #[error("its depth is {found}, not {expected}")]
    WrongDepth {
        /// One more than the parent's.
        expected: u8,
        /// What it says.
        found: u8,
    },
    /// The parent may not be handed on (so far).
    #[error("the parent has {left} delegations left, which does not allow {wanted} below it")]
    DelegationExhausted {
        /// What the parent has.
        left: u8,
        /// What the child would have.
        wanted: u8,
    },
    /// A scope entry that the parent does not cover.
    #[error("{0} is not covered by the parent")]
    ScopeExceeded(ScopeItem),
    /// Nothing is granted.
    #[error("a mandate needs at least one scope entry")]
    EmptyScope,
    /// A limit above that of an ancestor.
    #[error("the limit {0} is above that of an ancestor")]
    LimitExceeded(LimitName),
    /// Ends after its parent.
    #[error("it ends at {found}, after its parent at {parent}")]
    OutlivesParent {
        /// The parent's end.
        parent: UnixTime,
        /// Its own.
        found: UnixTime,
    },
    /// Starts before its parent, or ends before it starts, or lives longer than anything may.
    #[error("its validity is empty, too long, or starts before its parent's")]
    BadValidity,
    /// Not yet valid.
    #[error("it is valid from {0}")]
    NotYetValid(UnixTime),
    /// No longer valid.
    #[error("it ended at {0}")]
    Expired(UnixTime),
}

impl Chain {
    /// Judges the links, root first. `skew` is the number of seconds that an issue time may lie ahead (protocol T2).
    pub fn verify(
        links: Vec<Signed<Mandate>>,
        keys: &impl KeyRing,
        now: UnixTime,
        skew: u64,
    ) -> Result<Chain, ChainError> {
        if links.len() > usize::from(MAX_DEPTH) + 1 {
            return Err(ChainError { link: links.len() - 1, fault: LinkFault::TooLong });
        }
        let latest = now.plus(skew);
        let mut links = links.into_iter().enumerate();
        let (_, root) = links.next().ok_or(ChainError { link: 0, fault: LinkFault::Empty })?;
        let mut chain = Chain::rooted(root, keys, latest).map_err(|fault| ChainError { link: 0, fault })?;
        for (link, signed) in links {
            chain = chain.extended(signed, keys, latest).map_err(|fault| ChainError { link, fault })?;
        }
        let expired = chain.mandates().enumerate().find(|(_, mandate)| mandate.expires_at <= now);
        match expired {
            Some((link, mandate)) => Err(ChainError { link, fault: LinkFault::Expired(mandate.expires_at) }),
            None => Ok(chain),
        }
    }

    fn rooted(root: Signed<Mandate>, keys: &impl KeyRing, latest: UnixTime) -> Result<Chain, LinkFault> {
        let leaf = root.open(keys)?;
        check_root(leaf.statement())?;
        check_validity(leaf.statement(), latest)?;
        Ok(Chain { ancestors: Vec::new(), leaf })
    }

    fn extended(
        mut self,
        child: Signed<Mandate>,
        keys: &impl KeyRing,
        latest: UnixTime,
    ) -> Result<Chain, LinkFault> {
        let leaf = child.open(keys)?;
        self.check_child(leaf.statement())?;
        check_validity(leaf.statement(), latest)?;
        self.ancestors.push(self.leaf);
        Ok(Chain { ancestors: self.ancestors, leaf })
    }

    /// The links, root first.
    pub fn links(&self) -> impl DoubleEndedIterator<Item = &Authentic<Mandate>> {
        self.ancestors.iter().chain(std::iter::once(&self.leaf))
    }

    /// The mandates, root first.
    pub fn mandates(&self) -> impl DoubleEndedIterator<Item = &Mandate> {
        self.links().map(Authentic::statement)
    }

    /// The person at the root.
    pub fn human(&self) -> &str {
        self.ancestors.first().unwrap_or(&self.leaf).statement().issuer()
    }

    /// The last mandate.
    pub fn leaf(&self) -> &Mandate {
        self.leaf.statement()
    }

    /// The limits that bind the leaf: its own, tightened by every ancestor's.
    pub fn ceilings(&self) -> Ceilings {
        self.ceilings_at(self.ancestors.len() + 1)
    }

    /// The limits that bind after the first `links` links.
    pub fn ceilings_at(&self, links: usize) -> Ceilings {
        self.mandates()
            .take(links)
            .fold(Ceilings::default(), |all, mandate| all.tightened_by(&mandate.limits))
    }

    /// Whether every link permits the call.
    pub fn permits(&self, call: &Judged) -> Result<(), Denial> {
        self.mandates().try_for_each(|mandate| mandate.permits(call))
    }

    /// The mandate that hands the leaf's authority on, no wider than any ancestor.
    pub fn delegate(&self, grant: ChildGrant) -> Result<Mandate, LinkFault> {
        let parent = self.leaf();
        let wanted = grant.delegations;
        let exhausted = LinkFault::DelegationExhausted { left: parent.delegations_left, wanted };
        let depth = parent.depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH).ok_or(exhausted)?;
        let child = Mandate {
            crit: Vec::new(),
            delegations_left: wanted,
            depth,
            expires_at: grant.expires_at.map_or(parent.expires_at, |at| at.min(parent.expires_at)),
            ext: Extensions::new(),
            holder: grant.holder,
            id: grant.id,
            issued_at: grant.issued_at,
            issuer: parent.holder.to_string(),
            issuer_kind: IssuerKind::Agent,
            limits: grant.limits,
            parent_id: Some(parent.id),
            scope: grant.scope,
            typ: Mandate::TYP.to_owned(),
        };
        self.check_child(&child)?;
        check_validity(&child, grant.issued_at)?;
        Ok(child)
    }

    /// Whether `child` may stand below the leaf: no wider than it, and within the limits of every ancestor.
    fn check_child(&self, child: &Mandate) -> Result<(), LinkFault> {
        check_link(self.leaf(), child)?;
        // A mandate listed as revoked must be one mandate, so no id stands in a chain twice.
        if self.mandates().any(|mandate| mandate.id == child.id) {
            return Err(LinkFault::RepeatedId(child.id));
        }
        match child.limits.first_beyond(&self.ceilings()) {
            Some(name) => Err(LinkFault::LimitExceeded(name.clone())),
            None => Ok(()),
        }
    }
}

fn check_root(root: &Mandate) -> Result<(), LinkFault> {
    if root.issuer_kind != IssuerKind::Human
        || root.parent_id.is_some()
        || root.issuer.parse::<HumanId>().is_err()
    {
        return Err(LinkFault::NotARoot);
    }
    if root.depth != 0 {
        return Err(LinkFault::WrongDepth { expected: 0, found: root.depth });
    }
    if root.delegations_left > MAX_DELEGATIONS {
        return Err(LinkFault::DelegationExhausted { left: MAX_DELEGATIONS, wanted: root.delegations_left });
    }
    if root.scope.items().is_empty() { Err(LinkFault::EmptyScope) } else { Ok(()) }
}

/// Board rules 2.4 and 2.5 for one link below another, apart from limits.
fn check_link(parent: &Mandate, child: &Mandate) -> Result<(), LinkFault> {
    if child.issuer_kind != IssuerKind::Agent {
        return Err(LinkFault::NotAChild);
    }
    if child.parent_id != Some(parent.id) {
        return Err(LinkFault::WrongParent { expected: parent.id, found: child.parent_id });
    }
    if child.issuer != parent.holder.as_str() {
        return Err(LinkFault::WrongIssuer { expected: parent.holder.clone(), found: child.issuer.clone() });
    }
    let expected = parent.depth.saturating_add(1);
    if child.depth != expected {
        return Err(LinkFault::WrongDepth { expected, found: child.depth });
    }
    if child.delegations_left >= parent.delegations_left {
        let (left, wanted) = (parent.delegations_left, child.delegations_left);
        return Err(LinkFault::DelegationExhausted { left, wanted });
    }
    if child.scope.items().is_empty() {
        return Err(LinkFault::EmptyScope);
    }
    if let Some(item) = child.scope.first_beyond(&parent.scope) {
        return Err(LinkFault::ScopeExceeded(item.clone()));
    }
    if child.expires_at > parent.expires_at {
        return Err(LinkFault::OutlivesParent { parent: parent.expires_at, found: child.expires_at });
    }
    if child.issued_at < parent.issued_at { Err(LinkFault::BadValidity) } else { Ok(()) }
}

fn check_validity(mandate: &Mandate, latest: UnixTime) -> Result<(), LinkFault> {
    let validity = mandate.validity();
    if validity.seconds() == 0 || validity.seconds() > MAX_LIFETIME_SECONDS {
        return Err(LinkFault::BadValidity);
    }
    if mandate.issued_at > latest { Err(LinkFault::NotYetValid(mandate.issued_at)) } else { Ok(()) }
}

#[cfg(test)]
mod tests;
