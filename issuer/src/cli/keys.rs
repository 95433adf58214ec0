//! `keys`

use std::fmt::Write;

use pact_issuer::{
    keyring::{KeyEntry, Role, biscuit_key_id},
    store::{Event, Store},
};
use pact_mandate::{SecretKey, Signer, UnixTime};
use serde_json::{Value, json};
use zeroize::Zeroizing;

use crate::cli::{
    args::{KeysArgs, KeysCommand},
    error::CliError,
    output::Answer,
};

pub(crate) fn run(store: &mut Store, args: &KeysArgs, now: UnixTime) -> Result<Answer, CliError> {
    match args.command {
        None => Ok(show(store, now)),
        Some(KeysCommand::Rotate { role }) => rotate(store, role.into(), now),
    }
}

/// A new key, named by its thumbprint.
pub(crate) fn fresh_key() -> Result<SecretKey, CliError> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(seed.as_mut_slice())?;
    Ok(SecretKey::from_seed(&seed)?)
}

/// A key stands as verifiers pin it: `KID:KEY`.
fn show(store: &Store, now: UnixTime) -> Answer {
    let mut text = String::new();
    let mut keys = Vec::new();
    for entry in store.state().keyring().entries() {
        let state = entry.state(now);
        let _ =
            writeln!(text, "{:<8} {:<9} {}:{}  {}", entry.role, state, entry.kid, entry.key, dates(entry));
        keys.push(describe(entry, now));
    }
    Answer::new(json!({ "keys": keys }), text.trim_end())
}

fn describe(entry: &KeyEntry, now: UnixTime) -> Value {
    let mut described = json!(entry);
    if let Some(members) = described.as_object_mut() {
        members.insert("state".to_owned(), json!(entry.state(now)));
        if entry.role == Role::Mandate {
            members.insert("biscuit_key_id".to_owned(), json!(biscuit_key_id(&entry.kid, &entry.key)));
        }
    }
    described
}

fn dates(entry: &KeyEntry) -> String {
    let mut dates = format!("published {}", entry.published_at);
    let others = [
        ("active from", entry.active_from),
        ("retired", entry.retired_at),
        ("removed", entry.remove_at),
        ("revoked", entry.revoked_at),
    ];
    for (what, at) in others {
        if let Some(at) = at {
            let _ = write!(dates, ", {what} {at}");
        }
    }
    dates
}

/// Announces the next key, or lets the announced one take over.
fn rotate(store: &mut Store, role: Role, now: UnixTime) -> Result<Answer, CliError> {
    let mut writer = store.write()?;
    let state = writer.state();
    let cache = state.key_cache();
    if state.keyring().next(role, now).is_none() {
        state.keyring().check_announce(role, cache, now)?;
        let secret = fresh_key()?;
        let entry = KeyEntry::next(secret.key_id().clone(), role, *secret.public_key(), now);
        writer.keep_secret(&entry, &secret)?;
        writer.commit(now, Event::Key(entry.clone()))?;
        let from = now.plus(cache);
        let text = format!(
            "The next {role} key {}:{} is published. It can take over from {from} on: run this again then. Verifiers that \
             fetch published keys will know it; those that pin keys must be given it before.",
            entry.kid, entry.key
        );
        return Ok(Answer::new(json!({ "announced": describe(&entry, now), "takes_over_from": from }), text));
    }
    let last_expiry = state.keyring().active(role).map_or(now, |active| state.last_expiry(active));
    let changed = state.keyring().take_over(role, cache, last_expiry, now)?;
    writer.commit(now, Event::KeysChanged(changed.clone()))?;
    let changed: Vec<Value> = changed.iter().map(|entry| describe(entry, now)).collect();
    Ok(Answer::new(json!({ "changed": changed }), format!("The next {role} key signs from now on.")))
}
