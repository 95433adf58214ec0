//! `trace`, `list`, `compact`

use std::fmt::Write;

use pact_issuer::{
    MandateRecord,
    compatible::CompatibleIds,
    keyring::Role,
    store::{Compaction, Store},
    trace::{self, State, Trace, TracedCredential, TracedMandate},
};
use pact_mandate::{Format, UnixTime};
use serde_json::{Value, json};

use crate::cli::{
    args::{AnyId, CompactArgs, TraceArgs},
    error::CliError,
    output::Answer,
};

pub(crate) fn trace(store: &Store, args: &TraceArgs, now: UnixTime) -> Result<Answer, CliError> {
    let state = store.state();
    let keys = state.keyring().historical(Role::Mandate);
    let trace = match args.id {
        AnyId::Mandate(id) => trace::mandate(state.records(), &keys, id, now)?,
        AnyId::Credential(id) => trace::credential(state.records(), &keys, id, now)?,
    };
    let text = drawn(&trace);
    Ok(Answer::new(json!(trace), text))
}

/// One line for each link, the person on top.
fn drawn(trace: &Trace) -> String {
    let mut text = format!("{} (human)\n", trace.human);
    for (depth, link) in (1..).zip(&trace.chain) {
        draw_link(&mut text, &"  ".repeat(depth), link);
    }
    let indent = "  ".repeat(trace.chain.len() + 1);
    for credential in &trace.credentials {
        draw_credential(&mut text, &indent, credential);
    }
    text.trim_end().to_owned()
}

fn draw_link(text: &mut String, indent: &str, link: &TracedMandate) {
    let _ = writeln!(text, "{indent}mandate {} held by {}: {}", link.id, link.holder, said(&link.state));
    if let Some(mandate) = &link.mandate {
        let scope: Vec<String> = mandate.scope().items().iter().map(ToString::to_string).collect();
        let limits: Vec<String> =
            mandate.limits().iter().map(|(name, most)| format!("{name} up to {most}")).collect();
        let parts = [scope.join(", "), limits.join(", "), format!("until {}", mandate.validity().expires_at)];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        let _ = writeln!(text, "{indent}  {}", parts.join("; "));
    }
}

fn draw_credential(text: &mut String, indent: &str, credential: &TracedCredential) {
    let TracedCredential { format, holder, state, .. } = credential;
    let _ = writeln!(text, "{indent}{format} credential for key {holder}: {}", said(state));
    for minted in &credential.minted {
        let mark = if minted.asked { "  <- asked for" } else { "" };
        let state = said(&minted.state);
        let _ = writeln!(text, "{indent}  {} of {}: {state}{mark}", minted.id, minted.mandate);
    }
}

fn said(state: &State) -> String {
    match state {
        State::Live => "live".to_owned(),
        State::Revoked { at } => format!("revoked at {at}"),
        State::Listed { at } => format!("listed as revoked at {at}"),
        State::KeyRevoked { key, at } => format!("its key {key} was revoked at {at}"),
        State::DeadAbove { mandate } => format!("dead with mandate {mandate}"),
        State::Expired { at } => format!("expired at {at}"),
        State::Unreadable { why } => format!("unreadable: {why}"),
    }
}

pub(crate) fn list(store: &Store, now: UnixTime) -> Result<Answer, CliError> {
    let state = store.state();
    let keys = state.keyring().historical(Role::Mandate);
    let mut text = String::new();
    let mut mandates = Vec::new();
    for record in state.records().mandates() {
        let traced = trace::mandate(state.records(), &keys, record.id, now)?;
        let Some(link) = traced.chain.last() else { continue };
        let _ = writeln!(text, "{}", row(&traced, link));
        mandates.push(row_json(&traced, link, record));
    }
    let version = |format| state.compatible().of(format).map_or(0, CompatibleIds::version);
    let listed = state.listed().len();
    let _ = writeln!(text, "{listed} names were listed as revoked");
    let json = json!({
        "issuer": state.issuer(),
        "mandates": mandates,
        "listed": listed,
        "versions": { "tenuo": version(Format::Tenuo), "biscuit": version(Format::Biscuit) },
    });
    Ok(Answer::new(json, text.trim_end()))
}

fn row(Trace { human, credentials, .. }: &Trace, link: &TracedMandate) -> String {
    let TracedMandate { id, holder, state, .. } = link;
    let (state, count) = (said(state), credentials.len());
    format!("mandate {id} of {human} held by {holder}: {state}, {count} credentials")
}

fn row_json(traced: &Trace, link: &TracedMandate, record: &MandateRecord) -> Value {
    let credential = |credential: &TracedCredential| {
        let id = credential.minted.last().map(|minted| minted.id);
        json!({ "format": credential.format, "id": id, "state": credential.state })
    };
    json!({
        "id": link.id,
        "parent": record.parent,
        "human": traced.human,
        "holder": link.holder,
        "expires_at": record.expires_at,
        "state": link.state,
        "credentials": traced.credentials.iter().map(credential).collect::<Vec<_>>(),
    })
}

pub(crate) fn compact(store: &mut Store, args: &CompactArgs, now: UnixTime) -> Result<Answer, CliError> {
    let Compaction { before, after, archive } = store.write()?.compact(args.keep, now)?;
    let json = json!({ "before": before, "after": after, "archive": archive });
    let text = match archive {
        Some(archive) => format!(
            "The journal had {before} lines and has {after}. As it was, it is {}: keep it where records are kept.",
            archive.display()
        ),
        None => format!("Nothing has ended long enough ago: the journal has its {before} lines still."),
    };
    Ok(Answer::new(json, text))
}
