//! A mandate: what one holder may do, by whose word, until when.

use serde::{Deserialize, Serialize};

use crate::{
    amount::{Amount, Rounding},
    call::Judged,
    ceilings::{Ceilings, LimitName},
    id::{AgentId, HumanId, MandateId},
    json::Json,
    limits::{MAX_DELEGATIONS, MAX_LIFETIME_SECONDS},
    scope::{Scope, ScopeItem},
    signed::{Extensions, Statement},
    time::{UnixTime, Validity},
};

/// The content of a mandate, as it is signed (`typ` = `pact-mandate/2`). A child is made by [`crate::Chain::delegate`] alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mandate {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) crit: Vec<String>,
    pub(crate) delegations_left: u8,
    pub(crate) depth: u8,
    pub(crate) expires_at: UnixTime,
    #[serde(default, skip_serializing_if = "Extensions::is_empty")]
    pub(crate) ext: Extensions,
    pub(crate) holder: AgentId,
    pub(crate) id: MandateId,
    pub(crate) issued_at: UnixTime,
    pub(crate) issuer: String,
    pub(crate) issuer_kind: IssuerKind,
    pub(crate) limits: Ceilings,
    pub(crate) parent_id: Option<MandateId>,
    pub(crate) scope: Scope,
    pub(crate) typ: String,
}

/// Whether a person or an agent granted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IssuerKind {
    /// A person: only at the root.
    Human,
    /// The holder of the parent.
    Agent,
}

/// What a person grants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootGrant {
    /// The new mandate's id.
    pub id: MandateId,
    /// Who grants.
    pub human: HumanId,
    /// Who receives.
    pub holder: AgentId,
    /// For what.
    pub scope: Scope,
    /// How much a call.
    pub limits: Ceilings,
    /// How many times it may be handed on below.
    pub delegations: u8,
    /// From and until when.
    pub validity: Validity,
}

/// Why no mandate is made of a grant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrantError {
    /// Nothing is granted.
    #[error("a mandate needs at least one scope entry")]
    EmptyScope,
    /// Too many hand-offs.
    #[error("a root may be handed on at most {MAX_DELEGATIONS} times, {0} were asked for")]
    TooManyDelegations(u8),
    /// Ends before it starts.
    #[error("the mandate would end at {expires_at}, not after its start at {issued_at}")]
    EmptyValidity {
        /// Start.
        issued_at: UnixTime,
        /// End.
        expires_at: UnixTime,
    },
    /// Lives too long.
    #[error("the mandate would live {0} seconds, at most {MAX_LIFETIME_SECONDS} are allowed")]
    TooLong(u64),
}

/// Why a mandate does not permit a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denial {
    /// The call names no project.
    #[error("the call names no project")]
    NoProject,
    /// Action and project are in no scope entry.
    #[error("{0} is outside the scope")]
    OutOfScope(ScopeItem),
    /// A limited argument is missing.
    #[error("the limited argument {0} is missing")]
    LimitedArgumentMissing(LimitName),
    /// A limited argument is no amount.
    #[error("the limited argument {0} is not a number of at least zero")]
    NotAnAmount(LimitName),
    /// More than the limit.
    #[error("{name} is at most {most}")]
    OverLimit {
        /// Which limit.
        name: LimitName,
        /// Its value.
        most: Amount,
    },
}

impl Mandate {
    /// The mandate of a person's grant.
    pub fn root(grant: RootGrant) -> Result<Mandate, GrantError> {
        let Validity { not_before, expires_at } = grant.validity;
        if grant.scope.items().is_empty() {
            return Err(GrantError::EmptyScope);
        }
        if grant.delegations > MAX_DELEGATIONS {
            return Err(GrantError::TooManyDelegations(grant.delegations));
        }
        if expires_at <= not_before {
            return Err(GrantError::EmptyValidity { issued_at: not_before, expires_at });
        }
        if grant.validity.seconds() > MAX_LIFETIME_SECONDS {
            return Err(GrantError::TooLong(grant.validity.seconds()));
        }
        Ok(Mandate {
            crit: Vec::new(),
            delegations_left: grant.delegations,
            depth: 0,
            expires_at,
            ext: Extensions::new(),
            holder: grant.holder,
            id: grant.id,
            issued_at: not_before,
            issuer: grant.human.into(),
            issuer_kind: IssuerKind::Human,
            limits: grant.limits,
            parent_id: None,
            scope: grant.scope,
            typ: Self::TYP.to_owned(),
        })
    }

    /// Its id.
    pub fn id(&self) -> MandateId {
        self.id
    }

    /// The id of the mandate that it was made from; `None` at the root.
    pub fn parent_id(&self) -> Option<MandateId> {
        self.parent_id
    }

    /// Who holds it.
    pub fn holder(&self) -> &AgentId {
        &self.holder
    }

    /// Who granted it: a person's id at the root, else the parent's holder.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Whether a person granted it.
    pub fn issuer_kind(&self) -> IssuerKind {
        self.issuer_kind
    }

    /// For what.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Its own limits; those of its ancestors bind as well ([`crate::Chain::ceilings`]).
    pub fn limits(&self) -> &Ceilings {
        &self.limits
    }

    /// How many times it may be handed on.
    pub fn delegations_left(&self) -> u8 {
        self.delegations_left
    }

    /// Its distance from the root.
    pub fn depth(&self) -> u8 {
        self.depth
    }

    /// From and until when.
    pub fn validity(&self) -> Validity {
        Validity { not_before: self.issued_at, expires_at: self.expires_at }
    }

    /// Whether this mandate, taken alone, permits the call: its scope covers action and project, and every limited
    /// argument is there and within its limit. A value between two millionths counts as the higher one.
    pub fn permits(&self, call: &Judged) -> Result<(), Denial> {
        let needed = call.needed().ok_or(Denial::NoProject)?;
        if !self.scope.covers(&needed) {
            return Err(Denial::OutOfScope(needed));
        }
        self.limits.iter().try_for_each(|(name, most)| within(name, most, call))
    }
}

fn within(name: &LimitName, most: Amount, call: &Judged) -> Result<(), Denial> {
    let value =
        call.arguments.get(name.as_str()).ok_or_else(|| Denial::LimitedArgumentMissing(name.clone()))?;
    let Json::Number(number) = value else { return Err(Denial::NotAnAmount(name.clone())) };
    match Amount::from_json_number(number.text(), Rounding::Ceil) {
        Ok(amount) if amount <= most => Ok(()),
        Ok(_) | Err(crate::amount::AmountError::TooLarge) => {
            Err(Denial::OverLimit { name: name.clone(), most })
        }
        Err(_) => Err(Denial::NotAnAmount(name.clone())),
    }
}

impl Statement for Mandate {
    const TYP: &'static str = "pact-mandate/2";

    fn typ(&self) -> &str {
        &self.typ
    }

    fn crit(&self) -> &[String] {
        &self.crit
    }
}

#[cfg(test)]
mod tests;
