//! Whether what verifiers need is published, part by part, with the reasons.

use pact_mandate::UnixTime;
use serde::Serialize;

use crate::{
    keyring::{KeyState, Role},
    limits::LATE_SECONDS,
    publish::{PublishError, Publisher, Report},
    store::StoreError,
};

/// What to do when nothing is signed any more.
pub(super) const PUBLISHER_ENDED: &str =
    "the publisher has ended, nothing is signed any more; start this process again";

/// The last look at the data folder.
#[derive(Clone, Debug)]
pub(super) struct Look {
    report: Report,
    at: UnixTime,
    fault: Option<(Part, String)>,
    /// Looks that failed since the start.
    failures: u64,
}

/// What an error belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Keyring,
    Lists,
    Journal,
}

/// The answer of `/readyz`.
#[derive(Debug, Serialize)]
pub(super) struct Health {
    /// Whether all parts are in order.
    pub(super) ready: bool,
    /// Why not, in one line each.
    reasons: Vec<String>,
    publisher: Thread,
    keyring: Keys,
    lists: Lists,
    journal: Journal,
    #[serde(skip)]
    failures: u64,
}

/// The thread that signs.
#[derive(Debug, Serialize)]
struct Thread {
    ok: bool,
}

#[derive(Debug, Serialize)]
struct Keys {
    ok: bool,
    /// Keys that are published, by role and state.
    published: Vec<KeyCount>,
}

#[derive(Debug, Serialize)]
struct KeyCount {
    role: Role,
    state: KeyState,
    count: u64,
}

#[derive(Debug, Serialize)]
struct Lists {
    ok: bool,
    version: u64,
    signed_seconds_ago: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Journal {
    ok: bool,
    lines: u64,
    bytes: u64,
    looked_seconds_ago: u64,
}

impl Look {
    /// After the first documents were made.
    pub(super) fn first(publisher: &Publisher, now: UnixTime) -> Look {
        Look { report: publisher.report(now), at: now, fault: None, failures: 0 }
    }

    /// After another try, and what it failed with.
    pub(super) fn again(&mut self, publisher: &Publisher, error: Option<&PublishError>, now: UnixTime) {
        let fault = error.map(|error| (Part::of(error), error.to_string()));
        let failures = self.failures.saturating_add(u64::from(fault.is_some()));
        *self = Look { report: publisher.report(now), at: now, fault, failures };
    }
}

impl Part {
    fn of(error: &PublishError) -> Part {
        match error {
            PublishError::Journal(_) => Part::Journal,
            PublishError::Store(StoreError::Keyring(_) | StoreError::KeyFile(_)) => Part::Keyring,
            PublishError::Store(_) | PublishError::Render(_) | PublishError::Write(_) => Part::Lists,
        }
    }
}

impl Health {
    /// Judges the last look by the clock of this moment: a publisher that stands still is found out by it. `publishes` is
    /// whether its thread goes on.
    pub(super) fn judge(look: &Look, publishes: bool, now: UnixTime) -> Health {
        let Report { keys, version, signed_at, journal_lines, journal_bytes } = &look.report;
        let fault = |part| look.fault.iter().filter(move |(of, _)| *of == part).map(|(_, why)| why.clone());
        let keyring: Vec<String> = missing(keys).chain(fault(Part::Keyring)).collect();
        let lists: Vec<String> = late(*signed_at, now).into_iter().chain(fault(Part::Lists)).collect();
        let journal: Vec<String> = stalled(look.at, now).into_iter().chain(fault(Part::Journal)).collect();
        let ended = if publishes { Vec::new() } else { vec![PUBLISHER_ENDED.to_owned()] };
        Health {
            ready: publishes && keyring.is_empty() && lists.is_empty() && journal.is_empty(),
            publisher: Thread { ok: publishes },
            keyring: Keys { ok: keyring.is_empty(), published: counts(keys) },
            lists: Lists {
                ok: lists.is_empty(),
                version: version.get(),
                signed_seconds_ago: signed_at.map(|at| now.since(at)),
            },
            journal: Journal {
                ok: journal.is_empty(),
                lines: *journal_lines,
                bytes: *journal_bytes,
                looked_seconds_ago: now.since(look.at),
            },
            reasons: [("publisher", ended), ("keyring", keyring), ("lists", lists), ("journal", journal)]
                .into_iter()
                .flat_map(|(part, reasons)| reasons.into_iter().map(move |why| format!("{part}: {why}")))
                .collect(),
            failures: look.failures,
        }
    }

    /// Name, labels and value of each gauge and counter.
    pub(super) fn samples(&self) -> Vec<(&'static str, String, u64)> {
        let plain = |name, value| (name, String::new(), value);
        let mut samples = vec![
            plain("pact_issuer_ready", u64::from(self.ready)),
            plain("pact_issuer_list_version", self.lists.version),
            plain("pact_issuer_journal_lines", self.journal.lines),
            plain("pact_issuer_journal_bytes", self.journal.bytes),
            plain("pact_issuer_publish_failures_total", self.failures),
        ];
        samples.extend(self.lists.signed_seconds_ago.map(|age| plain("pact_issuer_list_age_seconds", age)));
        let keys = self.keyring.published.iter().map(|KeyCount { role, state, count }| {
            let labels = format!("{{role=\"{role}\",state=\"{state}\"}}");
            ("pact_issuer_keys", labels, *count)
        });
        samples.extend(keys);
        samples
    }
}

/// Every role needs a key that signs.
fn missing(keys: &[(Role, KeyState)]) -> impl Iterator<Item = String> {
    let signs = |role: &Role| keys.contains(&(*role, KeyState::Active));
    let missing = Role::ALL.into_iter().filter(move |role| !signs(role));
    missing.map(|role| format!("no {role} key is active"))
}

fn counts(keys: &[(Role, KeyState)]) -> Vec<KeyCount> {
    let count = |role, state| keys.iter().filter(|key| **key == (role, state)).count();
    let states = [KeyState::Next, KeyState::Active, KeyState::Retiring];
    let all = Role::ALL.into_iter().flat_map(|role| states.into_iter().map(move |state| (role, state)));
    all.map(|(role, state)| KeyCount {
        role,
        state,
        count: u64::try_from(count(role, state)).unwrap_or(u64::MAX),
    })
    .collect()
}

fn late(signed_at: Option<UnixTime>, now: UnixTime) -> Option<String> {
    match signed_at {
        None => Some("none was signed yet".to_owned()),
        // A clock that stepped back does not make a list young (protocol T1); the next signature is due at once.
        Some(at) if now < at => Some(format!("last signed at {at}, which is to come")),
        Some(at) if now.since(at) > LATE_SECONDS => {
            Some(format!("last signed {} s ago, due every 10 s", now.since(at)))
        }
        Some(_) => None,
    }
}

fn stalled(at: UnixTime, now: UnixTime) -> Option<String> {
    let ago = now.since(at);
    (ago > LATE_SECONDS).then(|| format!("last looked at {ago} s ago: revocations by others are not seen"))
}

#[cfg(test)]
mod tests;
