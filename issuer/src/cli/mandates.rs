//! `mint`, `delegate`, `export`, `revoke`

use std::collections::BTreeMap;

use pact_issuer::{
    MandateRecord, Order, delegate as handing_on,
    keyring::Role,
    mint as granting,
    revoke::{self, ListedName, Revocation},
    store::{Event, State, Store},
};
use pact_mandate::{
    Amount, Ceilings, Format, MandateId, PublicKey, Scope, UnixTime, Validity, ceilings::LimitName,
    chain::ChildGrant, mandate::RootGrant,
};
use serde_json::json;

use crate::cli::{
    args::{AnyId, DelegateArgs, ExportArgs, MintArgs, RevokeArgs},
    error::CliError,
    output::Answer,
};

pub(crate) fn mint(store: &mut Store, args: MintArgs, now: UnixTime) -> Result<Answer, CliError> {
    let grant = RootGrant {
        id: fresh_id()?,
        human: args.human,
        holder: args.grant.holder,
        scope: Scope::try_from(args.grant.scope)?,
        limits: ceilings(args.grant.limits)?,
        delegations: args.grant.delegations,
        validity: Validity { not_before: now, expires_at: now.plus(args.lifetime) },
    };
    let mut writer = store.write()?;
    let record = granting::mint(grant, &writer.signer(Role::Mandate)?)?;
    writer.commit(now, Event::Mandate(record.clone()))?;
    Ok(granted(&record))
}

pub(crate) fn delegate(store: &mut Store, args: DelegateArgs, now: UnixTime) -> Result<Answer, CliError> {
    let grant = ChildGrant {
        id: fresh_id()?,
        holder: args.grant.holder,
        scope: Scope::try_from(args.grant.scope)?,
        limits: ceilings(args.grant.limits)?,
        delegations: args.grant.delegations,
        issued_at: now,
        expires_at: args.lifetime.map(|seconds| now.plus(seconds)),
    };
    let mut writer = store.write()?;
    let parent = writer.state().unrevoked(args.parent, now)?;
    let record = handing_on::delegate(&parent, grant, &writer.signer(Role::Mandate)?)?;
    writer.commit(now, Event::Mandate(record.clone()))?;
    Ok(granted(&record))
}

pub(crate) fn export(store: &mut Store, args: &ExportArgs, now: UnixTime) -> Result<Answer, CliError> {
    let order = Order { holder: args.holder_key, lifetime: args.lifetime, now };
    let credential = store.write()?.export(args.mandate, args.format.into(), &order)?;
    let record = credential.record();
    let field = if record.format == Format::Tenuo { "warrant_stack" } else { "biscuit" };
    let json = json!({
        "format": record.format,
        "external_id": record.id(),
        "mandate": record.mandate,
        "expires_at": record.expires_at,
        "minted": record.minted,
        field: credential.text(),
    });
    Ok(Answer::new(json, credential.text()))
}

pub(crate) fn revoke(store: &mut Store, args: &RevokeArgs, now: UnixTime) -> Result<Answer, CliError> {
    let mut writer = store.write()?;
    let state = writer.state();
    let records = state.records();
    let revocation = revocation(state, args, now)?;
    let siblings = match args.id {
        Some(AnyId::Credential(id)) if !args.and_siblings => revoke::siblings(records, id, now)?,
        _ => Vec::new(),
    };
    let again =
        records.revoked_at(&revocation.target).is_some() || records.listed_at(&revocation.target).is_some();
    writer.commit(now, Event::Revocation(revocation.clone()))?;
    let text = [told(&revocation, again), told_of_siblings(&siblings)].concat();
    let mut json = json!(revocation);
    if let Some(json) = json.as_object_mut().filter(|_| !siblings.is_empty()) {
        json.insert("live_siblings".to_owned(), json!(siblings));
    }
    Ok(Answer::new(json, text))
}

fn revocation(state: &State, args: &RevokeArgs, now: UnixTime) -> Result<Revocation, CliError> {
    let records = state.records();
    match (args.id, &args.key) {
        (Some(AnyId::Mandate(_)), _) if args.and_siblings => Err(CliError::NoSiblings),
        (Some(AnyId::Mandate(id)), _) => Ok(revoke::mandate(records, id, now)?),
        (Some(AnyId::Credential(id)), _) if args.and_siblings => {
            Ok(revoke::credential_and_siblings(records, id, now)?)
        }
        (Some(AnyId::Credential(id)), _) => Ok(revoke::credential(records, id, now)?),
        (None, key) => {
            let text = key.as_deref().unwrap_or_default();
            let own = state.keyring().find(text);
            let key = own.map_or_else(|| text.parse(), |entry| Ok(entry.key));
            let key: PublicKey = key.map_err(|_| CliError::NotAKey(text.to_owned()))?;
            let own = state.keyring().find(&key.to_string());
            Ok(revoke::key(records, key, own.map(|entry| &entry.kid), now)?)
        }
    }
}

fn told(revocation: &Revocation, again: bool) -> String {
    let listed = u64::try_from(revocation.listed.len()).unwrap_or(u64::MAX);
    if listed > 0 {
        let (below, names) = (counted(revocation.descendants, "mandate"), counted(listed, "name"));
        return format!(
            "Revoked, and {below} with it. {names} for the lists; `serve` or `publish` signs them."
        );
    }
    if again {
        return "It was revoked already, and everything below it; nothing more enters the lists.".to_owned();
    }
    "Revoked. It had ended by itself, with everything below it, so nothing enters the lists.".to_owned()
}

/// Whoever revokes one credential may take it for the only one.
fn told_of_siblings(siblings: &[ListedName]) -> String {
    if siblings.is_empty() {
        return String::new();
    }
    let count = counted(u64::try_from(siblings.len()).unwrap_or(u64::MAX), "other credential");
    format!(
        " {count} of the same mandate and holder can still be used; `--and-siblings` revokes such ones as well, and `revoke MANDATE` everything."
    )
}

fn counted(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

fn granted(record: &MandateRecord) -> Answer {
    let json = json!({
        "id": record.id,
        "parent": record.parent,
        "granted_by": record.granted_by,
        "holder": record.holder,
        "expires_at": record.expires_at,
        "mandate": record.signed,
    });
    Answer::new(json, record.id.to_string())
}

fn fresh_id() -> Result<MandateId, CliError> {
    let mut random = [0; 16];
    getrandom::fill(&mut random)?;
    Ok(MandateId::from_random(random))
}

fn ceilings(limits: Vec<(LimitName, Amount)>) -> Result<Ceilings, CliError> {
    let mut all = BTreeMap::new();
    for (name, amount) in limits {
        if all.insert(name.clone(), amount).is_some() {
            return Err(CliError::LimitTwice(name));
        }
    }
    Ok(Ceilings::try_from(all)?)
}
