//! A small world for the tests of exports: an issuer, chains, and the clock that Tenuo's crate reads.

mod law;
mod refused;
mod shape;

use std::time::{Duration, SystemTime};

use biscuit_auth::{AuthorizerLimits, Biscuit, builder::AuthorizerBuilder};
use pact_mandate::{
    Ceilings, Format, MandateId, SecretKey, Signer, UnixTime, Validity, chain::ChildGrant, mandate::RootGrant,
};
use tenuo::{Authorizer, ConstraintValue};

use super::{Credential, ExportError, Order, biscuit, tenuo as warrants};
use crate::{
    chain::UnrevokedChain,
    delegate::delegate,
    keyring::biscuit_key_id,
    mint::mint,
    record::{CredentialId, MandateRecord},
};

#[expect(clippy::disallowed_methods, reason = "Tenuo's crate reads the same clock, so the tests must")]
pub(crate) fn now() -> UnixTime {
    UnixTime::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

pub(crate) fn issuer() -> SecretKey {
    SecretKey::from_seed(&[1; 32]).unwrap()
}

pub(crate) fn agent() -> SecretKey {
    SecretKey::from_seed(&[2; 32]).unwrap()
}

pub(crate) fn id(number: u8) -> MandateId {
    MandateId::from_random([number; 16])
}

pub(crate) fn limits(limits: &[(&str, &str)]) -> Ceilings {
    let all = limits.iter().map(|(name, most)| (name.parse().unwrap(), most.parse().unwrap()));
    Ceilings::try_from(all.collect::<std::collections::BTreeMap<_, _>>()).unwrap()
}

fn scope(items: &[&str]) -> pact_mandate::Scope {
    items.iter().map(|item| item.parse().unwrap()).collect::<Vec<_>>().try_into().unwrap()
}

/// One link: scope, limits, delegations left.
pub(crate) type Link<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], u8);

pub(crate) fn records(links: &[Link<'_>], lifetime: u64) -> Vec<MandateRecord> {
    let now = now();
    let key = issuer();
    let keys = ring();
    let mut records: Vec<MandateRecord> = Vec::new();
    for (at, (items, most, delegations)) in links.iter().enumerate() {
        let number = u8::try_from(at + 1).unwrap();
        let holder = format!("agent-{number}").parse().unwrap();
        let (scope, limits, delegations) = (scope(items), limits(most), *delegations);
        let record = if records.is_empty() {
            let validity = Validity { not_before: now, expires_at: now.plus(lifetime) };
            let human = "boss".parse().unwrap();
            mint(RootGrant { id: id(number), human, holder, scope, limits, delegations, validity }, &key)
                .unwrap()
        } else {
            let parent = UnrevokedChain::verify(&records, &keys, now).unwrap();
            let grant = ChildGrant {
                id: id(number),
                holder,
                scope,
                limits,
                delegations,
                issued_at: now,
                expires_at: None,
            };
            delegate(&parent, grant, &key).unwrap()
        };
        records.push(record);
    }
    records
}

pub(crate) fn ring() -> pact_mandate::jwks::KeySet {
    let key = issuer();
    pact_mandate::jwks::KeySet::new(vec![(key.key_id().clone(), *key.public_key())]).unwrap()
}

pub(crate) fn chain(links: &[Link<'_>]) -> UnrevokedChain {
    UnrevokedChain::verify(&records(links, 3600), &ring(), now()).unwrap()
}

fn order() -> Order {
    Order { lifetime: 600, ..Order::new(*agent().public_key(), now()) }
}

fn release(export: super::Export) -> Credential {
    export.release(|_| Ok::<_, std::convert::Infallible>(())).unwrap()
}

const READ_WORK: &[&str] = &["task.read@project:web", "task.work@project:web", "task.read@project:api"];

fn three(left: u8) -> UnrevokedChain {
    chain(&[
        (READ_WORK, &[("cost_usd", "10"), ("runs", "50")], 3),
        (READ_WORK, &[("cost_usd", "2.5")], 2),
        (&["task.read@project:web"], &[("runs", "7")], left),
    ])
}

fn stack(credential: &Credential) -> tenuo::wire::WarrantStack {
    use base64::Engine;
    let bytes = base64::engine::general_purpose::STANDARD.decode(credential.text()).unwrap();
    tenuo::wire::decode_stack(&bytes).unwrap()
}

#[test]
fn a_credential_never_outlives_its_mandate_or_its_order() {
    let now = now();
    for (mandate, lifetime, latest) in [(3600, 600, 600), (120, 600, 120), (3600, 1, 60)] {
        let records = records(&[(READ_WORK, &[], 1)], mandate);
        let chain = UnrevokedChain::verify(&records, &ring(), now).unwrap();
        let order = Order { lifetime, now, ..order() };
        for export in
            [warrants::export(&chain, &order, &issuer()), biscuit::export(&chain, &order, &issuer())]
        {
            let record = release(export.unwrap()).record().clone();
            // The test's clock may have moved on by a second since.
            assert!(record.expires_at <= now.plus(latest + 1), "{record:?}");
            assert!(record.minted.iter().all(|minted| minted.expires_at <= records[0].expires_at));
        }
    }
}

#[test]
fn an_export_leaves_only_when_its_ids_were_kept() {
    let export = biscuit::export(&three(0), &order(), &issuer()).unwrap();
    assert_eq!(export.record().minted.len(), 3);
    assert_eq!(export.release(|_| Err("disk full")).unwrap_err(), "disk full");
}

/// Board rule 5.3, verifier side.
fn biscuit_allows(credential: &Credential, tool: &str, project: &str, args: &str) -> bool {
    let key = biscuit_auth::PublicKey::from_bytes(
        issuer().public_key().as_bytes(),
        biscuit_auth::Algorithm::Ed25519,
    );
    let token = Biscuit::from_base64(credential.text(), key.unwrap()).unwrap();
    let code = format!(
        r#"tool("{tool}"); project("{project}"); time({}); {args} allow if tool($t), project($p), right($p, $t); deny if true;"#,
        now().rfc3339()
    );
    // By itself the crate gives up after a millisecond, which a busy machine takes without deciding anything.
    let limits = AuthorizerLimits { max_time: Duration::from_mins(1), ..AuthorizerLimits::default() };
    let builder = AuthorizerBuilder::new().set_limits(limits).code(code).unwrap();
    builder.build(&token).unwrap().authorize().is_ok()
}

fn tenuo_allows(credential: &Credential, tool: &str, args: &[(&str, ConstraintValue)]) -> bool {
    let stack = stack(credential).0;
    let root = tenuo::PublicKey::from_bytes(issuer().public_key().as_bytes()).unwrap();
    let authorizer = Authorizer::builder().trusted_root(root).build().unwrap();
    let args: std::collections::HashMap<String, ConstraintValue> =
        args.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    let agent = tenuo::SigningKey::from_bytes(&agent().seed());
    let proof = stack.last().unwrap().sign(&agent, tool, &args).unwrap();
    authorizer.check_chain(&stack, tool, &args, Some(&proof), &[]).is_ok()
}
