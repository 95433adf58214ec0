//! Whether calls can be permitted now, component by component, with the reasons.

use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::Ordering},
};

use pact_mandate::{Format, IssuerId, Now, UnixTime, hex};
use pact_revocation::Stale;
use pact_verifier::{Policy, ProofKind, Verifier, replay::ReplayHealth};
use serde::Serialize;

use crate::{
    gate::Gate,
    keys::IssuerKeys,
    lists::Watched,
    receipts::ReceiptsHealth,
    replay::{SharedFault, SharedReplay},
    rules::Rules,
};

#[cfg(test)]
mod tests;

/// The answer of `/readyz`.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    /// Whether at least one issuer's calls could be permitted.
    pub(crate) ready: bool,
    /// Why not, in one line each.
    reasons: Vec<String>,
    /// It was told to stop: callers belong elsewhere.
    draining: bool,
    /// Parts of the sidecar that have died: every call is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    died: Vec<String>,
    /// Keys that two issuers claim: they count for neither (protocol K3).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disputes: Vec<String>,
    configuration: ConfigurationHealth,
    issuers: BTreeMap<String, IssuerHealth>,
    policy: PolicyHealth,
    replay: ReplayView,
    receipts: ReceiptsHealth,
    upstream: Component,
    tools: Component,
}

/// One issuer: its roots and, for each format it may speak for, its list.
#[derive(Debug, Serialize)]
struct IssuerHealth {
    ok: bool,
    roots: RootsHealth,
    list: ListHealth,
    /// P8: whether Biscuits of it may be used without proof of possession.
    bearer: bool,
}

#[derive(Debug, Serialize)]
struct RootsHealth {
    count: usize,
    list_keys: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    fetched_seconds_ago: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

#[derive(Debug, Serialize)]
struct ListHealth {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    age_seconds: Option<u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    formats: BTreeMap<&'static str, FormatHealth>,
    /// Why the last fetch brought nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    /// Lists refused that only a broken or abused list key explains (protocol R6).
    alarms: u64,
}

#[derive(Debug, Serialize)]
struct FormatHealth {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

/// Which configuration is in force, and why a later one is not.
#[derive(Debug, Serialize)]
struct ConfigurationHealth {
    ok: bool,
    version: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct PolicyHealth {
    ok: bool,
    digest: String,
}

/// Whether single use is kept by this replica alone, or by all that share a record.
#[derive(Debug, Serialize)]
struct ReplayView {
    ok: bool,
    scope: &'static str,
    since: String,
    held: usize,
    limit: usize,
    /// Why a shared record cannot be used, in one stable word.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Serialize)]
struct Component {
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Health {
    /// Looks at everything, the tool server by a connection of its own.
    pub(crate) async fn look(gate: &Arc<Gate>) -> Health {
        let upstream = Component::from_result(gate.upstream.probe().await);
        let now = gate.clock.now();
        // What calls are judged by, which is not always what was fetched last.
        let rules = gate.rules.load_full();
        let verifier = &rules.verifier;
        let issuers: BTreeMap<String, IssuerHealth> = rules
            .keys
            .report(now.monotonic)
            .into_iter()
            .map(|keys| (keys.issuer.to_string(), IssuerHealth::look(gate, verifier, keys, now)))
            .collect();
        let replay =
            ReplayView::of(verifier.replay().health(), gate.shared.as_deref(), verifier.policy(), now.wall);
        let policy = PolicyHealth { ok: true, digest: hex::encode(verifier.policy().digest()) };
        let configuration = ConfigurationHealth::look(gate, &rules);
        let tools = Component::of_tools(&gate.definitions.held_back(verifier.policy()));
        let (died, disputes) = (gate.died.names(), rules.keys.disputes());
        let reasons = Vec::new();
        let receipts = gate.receipts.health();
        let mut health = Health {
            ready: false,
            reasons,
            draining: gate.stopping.load(Ordering::Relaxed),
            died,
            disputes,
            configuration,
            issuers,
            policy,
            replay,
            receipts,
            upstream,
            tools,
        };
        health.reasons = health.why_not();
        health.ready = !health.draining
            && health.died.is_empty()
            && health.issuers.values().any(|issuer| issuer.ok)
            && health.replay.ok
            && health.receipts.lets_calls_through()
            && health.upstream.ok;
        health.export(gate);
        health
    }

    fn why_not(&self) -> Vec<String> {
        let issuers = self.issuers.iter().flat_map(|(name, issuer)| issuer.why_not(name));
        let others = [
            ("configuration", &self.configuration.reason),
            ("replay store", &self.replay.reason),
            ("receipts", &self.receipts.reason),
            ("tool server", &self.upstream.reason),
            ("tools", &self.tools.reason),
        ];
        let others = others
            .into_iter()
            .filter_map(|(name, reason)| reason.as_ref().map(|reason| format!("{name}: {reason}")));
        let died = self.died.iter().map(|name| format!("{name}: has died; restart the sidecar"));
        let draining = self.draining.then(|| "draining: told to stop".to_owned());
        draining
            .into_iter()
            .chain(died)
            .chain(self.disputes.iter().cloned())
            .chain(issuers)
            .chain(others)
            .collect()
    }

    fn export(&self, gate: &Gate) {
        let flag = |ok: bool| if ok { 1.0 } else { 0.0 };
        gate.metrics.whole("pact_sidecar_ready", flag(self.ready));
        let version = u32::try_from(self.configuration.version).unwrap_or(u32::MAX);
        gate.metrics.whole("pact_sidecar_configuration_version", f64::from(version));
        gate.metrics.whole("pact_sidecar_receipts_ok", flag(self.receipts.ok));
        gate.metrics.whole("pact_sidecar_components_died", count(self.died.len()));
        gate.metrics.whole("pact_sidecar_sessions", count(gate.sessions.count()));
        gate.metrics.whole("pact_sidecar_keys_disputed", count(self.disputes.len()));
        gate.upstream.export(&gate.metrics);
        self.replay.export(gate);
        for (name, issuer) in &self.issuers {
            gate.metrics.issuer("pact_sidecar_list_fresh", name, flag(issuer.list.ok));
            let alarms = f64::from(u32::try_from(issuer.list.alarms).unwrap_or(u32::MAX));
            gate.metrics.issuer("pact_sidecar_list_alarms", name, alarms);
            gate.metrics.issuer("pact_sidecar_bearer_allowed", name, flag(issuer.bearer));
            gate.metrics.issuer("pact_sidecar_root_keys", name, count(issuer.roots.count));
            let seconds = [
                ("pact_sidecar_list_age_seconds", issuer.list.age_seconds),
                ("pact_sidecar_key_set_age_seconds", issuer.roots.fetched_seconds_ago),
                (
                    "pact_sidecar_list_version",
                    issuer.list.version.as_ref().and_then(|version| version.parse().ok()),
                ),
            ];
            for (metric, value) in seconds {
                let Some(value) = value else { continue };
                gate.metrics.issuer(metric, name, f64::from(u32::try_from(value).unwrap_or(u32::MAX)));
            }
        }
    }
}

impl ConfigurationHealth {
    fn look(gate: &Gate, rules: &Rules) -> ConfigurationHealth {
        let reason = gate.last_change.fault();
        ConfigurationHealth { ok: reason.is_none(), version: rules.version, reason }
    }
}

impl IssuerHealth {
    fn look(gate: &Gate, verifier: &Verifier, keys: IssuerKeys, now: Now) -> IssuerHealth {
        let lists = gate.lists.lists();
        let mut list = ListHealth::before(gate, &keys.issuer);
        let trusted = verifier.trust().issuer(&keys.issuer);
        for format in trusted.iter().flat_map(|issuer| &issuer.speaks.formats).copied() {
            let health = match lists.fresh(&keys.issuer, format, now) {
                Ok(fresh) => {
                    list.ok = true;
                    list.version = Some(fresh.version().to_string());
                    list.age_seconds = Some(fresh.age().as_secs());
                    FormatHealth { ok: true, code: None, reason: None }
                }
                Err(stale) => FormatHealth::stale(&stale),
            };
            list.formats.insert(Format::name(format), health);
        }
        let roots = RootsHealth {
            count: trusted.map_or(0, |issuer| issuer.roots.len()),
            list_keys: keys.list_keys,
            fetched_seconds_ago: keys.age.map(|age| age.as_secs()),
            fault: keys.fault,
        };
        IssuerHealth {
            ok: roots.count > 0 && list.ok,
            roots,
            list,
            bearer: trusted.is_some_and(|issuer| issuer.bearer),
        }
    }

    fn why_not(&self, name: &str) -> Vec<String> {
        let roots = (self.roots.count == 0).then(|| format!("issuer {name}: no root key counts now"));
        let stale = self.list.formats.iter().filter_map(|(format, health)| {
            health.reason.as_ref().map(|reason| format!("issuer {name}, {format}: {reason}"))
        });
        let keys = self.roots.fault.as_ref().map(|fault| format!("issuer {name}, keys: {fault}"));
        let fetch = self.list.fault.as_ref().map(|fault| format!("issuer {name}, list: {fault}"));
        roots.into_iter().chain(stale).chain(fetch).chain(keys).collect()
    }
}

impl ListHealth {
    fn before(gate: &Gate, issuer: &IssuerId) -> ListHealth {
        let Watched { fault, alarms } = gate.lists.watched(issuer);
        ListHealth { ok: false, version: None, age_seconds: None, formats: BTreeMap::new(), fault, alarms }
    }
}

impl FormatHealth {
    fn stale(stale: &Stale) -> FormatHealth {
        FormatHealth { ok: false, code: Some(stale.code()), reason: Some(stale.to_string()) }
    }
}

impl ReplayView {
    fn of(health: ReplayHealth, shared: Option<&SharedReplay>, policy: &Policy, now: UnixTime) -> ReplayView {
        let full = (health.held >= health.limit).then(|| "full: every proof is refused".to_owned());
        let new = |kind, what| {
            let from = health.counts_from(kind);
            (now < from).then(|| format!("new: {what} count when they are made from {from} on"))
        };
        let stock = || {
            policy.takes_stock_proofs().then(|| new(ProofKind::Stock, "proofs of stock clients")).flatten()
        };
        let new = new(ProofKind::Fresh, "proofs").or_else(stock);
        let reason = health.failed.map(|failure| failure.to_string()).or(full).or(new);
        ReplayView {
            ok: reason.is_none(),
            scope: if shared.is_some() { "shared" } else { "replica" },
            since: health.since.to_string(),
            held: health.held,
            limit: health.limit,
            fault: shared.and_then(|shared| shared.state().fault).map(SharedFault::code),
            reason,
        }
    }
}

impl ReplayView {
    fn export(&self, gate: &Gate) {
        gate.metrics.whole("pact_sidecar_replay_ok", f64::from(u8::from(self.ok)));
        gate.metrics.whole("pact_sidecar_replay_held", count(self.held));
        gate.metrics.whole("pact_sidecar_replay_shared", f64::from(u8::from(gate.shared.is_some())));
        for (fault, met) in gate.shared.iter().flat_map(|shared| shared.state().faults) {
            gate.metrics.replay_faults(fault, met);
        }
    }
}

impl Component {
    /// Tools that are held back because they are not described as the policy says.
    fn of_tools(held_back: &[String]) -> Component {
        let reason = (!held_back.is_empty()).then(|| {
            format!("described otherwise than the policy says, so held back: {}", held_back.join(", "))
        });
        Component { ok: reason.is_none(), reason }
    }

    fn from_result<E: ToString>(result: Result<(), E>) -> Component {
        match result {
            Ok(()) => Component { ok: true, reason: None },
            Err(fault) => Component { ok: false, reason: Some(fault.to_string()) },
        }
    }
}

fn count(number: usize) -> f64 {
    f64::from(u32::try_from(number).unwrap_or(u32::MAX))
}
