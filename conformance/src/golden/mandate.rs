//! A mandate that a person grants and one that its holder hands on.

use pact_mandate::{
    Authentic, Ceilings, Chain, Mandate, Scope, ScopeItem, Signed, UnixTime, Validity, ceilings::LimitName,
    chain::ChildGrant, id::MandateId, mandate::RootGrant, signed::Prepared,
};

use super::{Cases, Fault, key};

/// 2027-01-15T08:00:00Z, the time at which everything golden begins.
pub const START: u64 = 1_800_000_000;

/// The person's grant: an hour, two hand-offs, at most 2.5 a call.
pub fn root() -> Result<Authentic<Mandate>, Fault> {
    let now = UnixTime::try_from(START)?;
    let mandate = Mandate::root(RootGrant {
        id: MandateId::from_random([0x11; 16]),
        human: "dana@example.org".parse()?,
        holder: "planner".parse()?,
        scope: scope(&["task.*@project:web", "report.brief@project:web"])?,
        limits: at_most("cost_usd", "2.5")?,
        delegations: 2,
        validity: Validity { not_before: now, expires_at: now.plus(3600) },
    })?;
    Ok(Prepared::new(mandate)?.sign(&key::mandate_key()?)?)
}

/// What the planner hands on, signed like every mandate by the issuer.
pub fn child() -> Result<Authentic<Mandate>, Fault> {
    let parent = verified(vec![root()?.signed().clone()])?;
    let child = parent.delegate(ChildGrant {
        id: MandateId::from_random([0x22; 16]),
        holder: "reader".parse()?,
        scope: scope(&["task.read@project:web"])?,
        limits: at_most("cost_usd", "0.000001")?,
        delegations: 0,
        issued_at: UnixTime::try_from(START + 60)?,
        expires_at: Some(UnixTime::try_from(START + 1800)?),
    })?;
    Ok(Prepared::new(child)?.sign(&key::mandate_key()?)?)
}

/// Both, as one chain.
pub fn chain() -> Result<Chain, Fault> {
    verified(vec![root()?.signed().clone(), child()?.signed().clone()])
}

fn verified(links: Vec<Signed<Mandate>>) -> Result<Chain, Fault> {
    Ok(Chain::verify(links, &key::ring(&key::mandate_key()?), UnixTime::try_from(START + 60)?, 30)?)
}

fn scope(items: &[&str]) -> Result<Scope, Fault> {
    let items: Result<Vec<ScopeItem>, _> = items.iter().map(|item| item.parse()).collect();
    Ok(Scope::try_from(items?)?)
}

fn at_most(name: &str, amount: &str) -> Result<Ceilings, Fault> {
    Ok(Ceilings::try_from(
        [(name.parse::<LimitName>()?, amount.parse()?)]
            .into_iter()
            .collect::<std::collections::BTreeMap<_, _>>(),
    )?)
}

pub(super) fn cases() -> Result<Cases, Fault> {
    let (root, child) = (root()?, child()?);
    chain()?;
    Ok(Cases::from([
        ("mandate.root.payload", String::from_utf8(root.payload().to_vec())?),
        ("mandate.root", String::from_utf8(root.signed().to_bytes()?)?),
        ("mandate.child.payload", String::from_utf8(child.payload().to_vec())?),
        ("mandate.child", String::from_utf8(child.signed().to_bytes()?)?),
    ]))
}
