use std::collections::BTreeMap;

use pact_mandate::{
    Ceilings, KeyId, SecretKey, Signer, Validity, chain::ChildGrant, limits::MAX_KEYS, mandate::RootGrant,
};

use super::*;
use crate::{chain::UnrevokedChain, delegate::delegate, mint::mint, revoke};

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

fn public(seed: u8) -> PublicKey {
    *secret(seed).public_key()
}

fn id(number: u8) -> MandateId {
    MandateId::from_random([number; 16])
}

fn ids(number: u8) -> [CredentialId; 2] {
    [CredentialId::Warrant([number; 16]), CredentialId::Block([number; 64])]
}

const OLD: u8 = 1;
const NEW: u8 = 2;
const HOLDER: u8 = 3;

/// As many mandate keys as there ever were, more than one published set can hold.
fn keys() -> BTreeMap<KeyId, PublicKey> {
    let seeds = [OLD, NEW].into_iter().chain((100..).take(MAX_KEYS));
    seeds.map(|seed| (secret(seed).key_id().clone(), public(seed))).collect()
}

fn scope() -> pact_mandate::Scope {
    vec!["task.read@project:web".parse().unwrap()].try_into().unwrap()
}

/// Mandate 1 by the old key, 2 below it by the new one; a credential of the latter in either format, by the new key.
fn world() -> Records {
    let validity = Validity { not_before: at(1_000), expires_at: at(5_000) };
    let grant = RootGrant {
        id: id(1),
        human: "boss".parse().unwrap(),
        holder: "agent-a".parse().unwrap(),
        scope: scope(),
        limits: Ceilings::default(),
        delegations: 1,
        validity,
    };
    let root = mint(grant, &secret(OLD)).unwrap();
    let chain = UnrevokedChain::verify(std::slice::from_ref(&root), &keys(), at(1_000)).unwrap();
    let grant = ChildGrant {
        id: id(2),
        holder: "agent-b".parse().unwrap(),
        scope: scope(),
        limits: Ceilings::default(),
        delegations: 0,
        issued_at: at(1_000),
        expires_at: None,
    };
    let child = delegate(&chain, grant, &secret(NEW)).unwrap();
    let mut records = Records::default();
    records.add_mandate(root).unwrap();
    records.add_mandate(child).unwrap();
    for form in 0..2 {
        records.add_credential(exported(form)).unwrap();
    }
    records
}

fn exported(form: usize) -> CredentialRecord {
    let minted = |number| Minted { mandate: id(number), id: ids(number)[form], expires_at: at(5_000) };
    CredentialRecord {
        format: ids(1)[form].format(),
        mandate: id(2),
        holder: public(HOLDER),
        key: secret(NEW).key_id().clone(),
        issued_at: at(1_000),
        expires_at: at(5_000),
        minted: vec![minted(1), minted(2)],
    }
}

const NOW: u64 = 2_000;

fn revoked(make: impl FnOnce(&Records) -> Result<revoke::Revocation, RecordsError>) -> Records {
    let mut records = world();
    let revocation = make(&records).unwrap();
    records.add_revocation(&revocation).unwrap();
    records
}

/// The states of both mandates, and those of the links and of the whole of each credential.
fn states(records: &Records, now: u64) -> ([State; 2], Vec<([State; 2], State)>) {
    let traced = mandate(records, &keys(), id(2), at(now)).unwrap();
    let chain: Vec<State> = traced.chain.into_iter().map(|link| link.state).collect();
    let credentials = traced.credentials.into_iter().map(|credential| {
        let links: Vec<State> = credential.minted.into_iter().map(|minted| minted.state).collect();
        (links.try_into().unwrap(), credential.state)
    });
    (chain.try_into().unwrap(), credentials.collect())
}

/// What every verifier would say of a credential by the lists: whether none of its ids or keys is on them.
fn live_elsewhere(records: &Records, form: usize) -> bool {
    let credential = exported(form);
    let names = credential.minted.iter().map(|minted| Name::Credential(minted.id));
    let keys = [Name::Key(credential.holder), Name::Key(public(NEW))];
    names.chain(keys).all(|name| records.listed_at(&name).is_none())
}

#[test]
fn what_nobody_revoked_is_live_until_it_ends() {
    let live = ([State::Live, State::Live], State::Live);
    assert_eq!(states(&world(), NOW), ([State::Live, State::Live], vec![live.clone(), live]));
    let end = State::Expired { at: at(5_000) };
    let ended = ([end.clone(), end.clone()], end.clone());
    let (chain, credentials) = states(&world(), 5_000);
    assert_eq!(chain[0], end);
    assert_eq!(credentials, [ended.clone(), ended]);
}

#[test]
fn r3_a_mandate_signed_by_a_revoked_key_is_dead_with_everything_below_it() {
    let kid = secret(OLD).key_id().clone();
    let records = revoked(|records| revoke::key(records, public(OLD), Some(&kid), at(NOW)));
    let (chain, credentials) = states(&records, NOW);
    let by_key = State::KeyRevoked { key: public(OLD), at: at(NOW) };
    assert_eq!(chain, [by_key, State::DeadAbove { mandate: id(1) }]);
    let listed = State::Listed { at: at(NOW) };
    let dead = ([listed.clone(), listed.clone()], listed);
    assert_eq!(credentials, [dead.clone(), dead]);
}

#[test]
fn r8_a_revoked_mandate_key_takes_along_what_another_key_exported_of_its_mandates() {
    let kid = secret(OLD).key_id().clone();
    let records = world();
    let revocation = revoke::key(&records, public(OLD), Some(&kid), at(NOW)).unwrap();
    assert_eq!(revocation.descendants, 2);
    let records = revoked(|_| Ok(revocation));
    for form in 0..2 {
        assert!(!live_elsewhere(&records, form));
    }
    for number in [1, 2] {
        assert!(records.listed_at(&Name::Mandate(id(number))).is_some());
    }
}

#[test]
fn r3_every_link_that_a_revoked_key_signed_is_dead() {
    let kid = secret(NEW).key_id().clone();
    let records = revoked(|records| revoke::key(records, public(NEW), Some(&kid), at(NOW)));
    let by_key = State::KeyRevoked { key: public(NEW), at: at(NOW) };
    let (chain, credentials) = states(&records, NOW);
    assert_eq!(chain, [State::Live, by_key.clone()]);
    let dead = ([by_key.clone(), by_key.clone()], by_key);
    assert_eq!(credentials, [dead.clone(), dead]);
}

#[test]
fn r3_a_revoked_holder_key_kills_the_link_that_it_holds() {
    let records = revoked(|records| revoke::key(records, public(HOLDER), None, at(NOW)));
    let by_key = State::KeyRevoked { key: public(HOLDER), at: at(NOW) };
    let (chain, credentials) = states(&records, NOW);
    assert_eq!(chain, [State::Live, State::Live], "a mandate names its holder by id, not by key");
    let dead = ([State::Live, by_key.clone()], by_key);
    assert_eq!(credentials, [dead.clone(), dead]);
}

#[test]
fn a_revoked_link_kills_its_own_credential_alone() {
    let records = revoked(|records| revoke::credential(records, ids(1)[0], at(NOW)));
    let (chain, credentials) = states(&records, NOW);
    assert_eq!(chain, [State::Live, State::Live]);
    let by_name = State::Revoked { at: at(NOW) };
    assert_eq!(credentials[0], ([by_name.clone(), State::Listed { at: at(NOW) }], by_name));
    assert_eq!(credentials[1], ([State::Live, State::Live], State::Live));
}

#[test]
fn a_credential_whose_key_is_not_known_is_not_live() {
    let mut without = keys();
    without.remove(secret(NEW).key_id());
    let traced = credential(&world(), &without, ids(2)[1], at(NOW)).unwrap();
    assert!(matches!(traced.chain[1].state, State::Unreadable { .. }));
    assert!(matches!(traced.credentials[0].state, State::Unreadable { .. }));
}

#[test]
fn a_record_at_the_root_that_names_no_person_is_said_to_be_damaged() {
    let mut root = world().mandate(id(1)).unwrap().clone();
    root.granted_by = String::new();
    let mut records = Records::default();
    records.add_mandate(root).unwrap();
    let refused = mandate(&records, &keys(), id(1), at(NOW)).unwrap_err();
    assert_eq!(refused, RecordsError::NoWayUp(id(1)));
}
