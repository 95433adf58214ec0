//! Values that many tests need.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{
    amount::Amount,
    call::Judged,
    ceilings::Ceilings,
    id::MandateId,
    json::{Json, Number},
    key::{KeyId, PublicKey, Signer},
    keyfile::SecretKey,
    mandate::{Mandate, RootGrant},
    scope::{Scope, ScopeItem},
    signed::{Authentic, Prepared, Statement},
    time::{UnixTime, Validity},
};

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

/// The keys that the tests' issuer publishes: that of seed 1.
pub(crate) fn keys() -> BTreeMap<KeyId, PublicKey> {
    BTreeMap::from([(key(1).key_id().clone(), *key(1).public_key())])
}

pub(crate) fn sign<T: Statement>(statement: T) -> Authentic<T> {
    Prepared::new(statement).unwrap().sign(&key(1)).unwrap()
}

pub(crate) fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(1_800_000_000 + seconds).unwrap()
}

pub(crate) fn id(byte: u8) -> MandateId {
    MandateId::from_random([byte; 16])
}

pub(crate) fn scope(items: &[&str]) -> Scope {
    Scope::try_from(items.iter().map(|item| item.parse().unwrap()).collect::<Vec<ScopeItem>>()).unwrap()
}

pub(crate) fn ceilings(limits: &[(&str, &str)]) -> Ceilings {
    let limits = limits.iter().map(|(name, most)| (name.parse().unwrap(), most.parse().unwrap()));
    Ceilings::try_from(limits.collect::<BTreeMap<_, _>>()).unwrap()
}

pub(crate) fn root_grant() -> RootGrant {
    RootGrant {
        id: id(1),
        human: "boss".parse().unwrap(),
        holder: "planner".parse().unwrap(),
        scope: scope(&["task.*@project:web", "report.brief@project:web"]),
        limits: ceilings(&[("cost_usd", "2.5")]),
        delegations: 5,
        validity: Validity { not_before: at(0), expires_at: at(3600) },
    }
}

pub(crate) fn root() -> Mandate {
    Mandate::root(root_grant()).unwrap()
}

pub(crate) fn call(action: &str, project: &str, numbers: &[(&str, &str)]) -> Judged {
    let numbers = numbers
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Json::Number(Number::from_text(text).unwrap())));
    let project = ("project".to_owned(), Json::String(project.to_owned()));
    Judged { action: action.parse().unwrap(), arguments: numbers.chain([project]).collect() }
}

/// Scope entries over few enough words that they often cover each other, with every shape of pattern.
pub(crate) fn scope_items() -> impl Strategy<Value = ScopeItem> {
    let action = prop_oneof![
        Just("*".to_owned()),
        "(a|b|\\*)(\\.(a|b|\\*)){0,3}",
        "(a|b|aa)(\\.(a|b)){0,2}(\\.\\*)?",
        "[ab.*]{1,4}",
    ];
    (action, prop_oneof![Just("@project:p"), Just("@project:q"), Just("")])
        .prop_map(|(action, project)| format!("{action}{project}").parse().unwrap())
}

pub(crate) fn scopes() -> impl Strategy<Value = Scope> {
    prop::collection::vec(scope_items(), 1..5).prop_map(|items| Scope::try_from(items).unwrap())
}

/// Limits on few names, so that parents and children often limit the same ones.
pub(crate) fn limits() -> impl Strategy<Value = Ceilings> {
    prop::collection::btree_map("[xyz]", 0_u64..4, 0..3).prop_map(|limits| {
        let limits = limits
            .into_iter()
            .map(|(name, most)| (name.parse().unwrap(), Amount::from_millionths(most).unwrap()));
        Ceilings::try_from(limits.collect::<BTreeMap<_, _>>()).unwrap()
    })
}

/// Calls near those scopes and limits.
pub(crate) fn calls() -> impl Strategy<Value = Judged> {
    let numbers = prop::collection::btree_map("[xyz]", 0_u64..5, 0..4);
    ("[ab](\\.(a|b|c)){0,3}", "[pqr]", numbers).prop_map(|(action, project, numbers)| {
        let numbers: Vec<(String, String)> = numbers
            .into_iter()
            .map(|(name, n)| (name, Amount::from_millionths(n).unwrap().to_string()))
            .collect();
        let numbers: Vec<(&str, &str)> =
            numbers.iter().map(|(name, n)| (name.as_str(), n.as_str())).collect();
        call(&action, &project, &numbers)
    })
}
