//! What a scraper sees. Every label comes from a closed set: codes, classes, outcomes, the configured issuers. Nothing of
//! a caller's (tools, ids, keys) ever becomes one.

use std::time::Duration;

use metrics::{Counter, Gauge, Histogram, Key, Label, Level, Metadata, Recorder};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle, PrometheusRecorder};

const METADATA: Metadata<'static> = Metadata::new("pact_sidecar", Level::INFO, Some("pact_sidecar"));

/// Bounds of the buckets of both histograms, in seconds.
const BUCKETS: [f64; 10] = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1.0, 10.0];

const REQUESTS: &str = "pact_sidecar_requests_total";
const REFUSALS: &str = "pact_sidecar_refusals_total";
const ENDED: &str = "pact_sidecar_answers_ended_total";
const RELOADS: &str = "pact_sidecar_reloads_total";
const RECEIPTS: &str = "pact_sidecar_receipts_total";
const RECEIPTS_LOST: &str = "pact_sidecar_receipts_lost_total";
const RECEIPTS_LEFT_OUT: &str = "pact_sidecar_receipts_left_out_total";
const REPLAY_FAULTS: &str = "pact_sidecar_replay_faults_total";
const CHILDREN_STARTS: &str = "pact_sidecar_children_starts_total";
const CHILDREN_DROPPED: &str = "pact_sidecar_children_dropped_total";
const TOOL_CHANGES: &str = "pact_sidecar_tool_changes_total";
const JUDGEMENT: &str = "pact_sidecar_judgement_seconds";
const UPSTREAM: &str = "pact_sidecar_upstream_seconds";

/// The metrics of one sidecar; two in one process do not share any.
pub(crate) struct Metrics {
    recorder: PrometheusRecorder,
    handle: PrometheusHandle,
    permitted: Counter,
    open: Counter,
    receipts_permit: Counter,
    acts: Counter,
    judgement: Histogram,
    upstream: Histogram,
    pub(crate) requests_open: Gauge,
    pub(crate) connections: Gauge,
}

/// How a request went that was not refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// By a permit.
    Permitted,
    /// By an open method.
    Open,
    /// By leave for an act on a session.
    Act,
}

/// What became of the receipt of one decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Permit,
    Refuse,
    End,
    /// It should have been written, and could not be.
    Lost,
    /// It was sampled, and counted only (protocol M6).
    LeftOut,
}

/// Why a message of a tool server that the sidecar started reached nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// A line that is not one JSON-RPC message.
    NotAMessage,
    /// An answer, or news of a request, that is not open.
    UnknownId,
    /// Beyond the bound, and no answer to an open request.
    TooLong,
    /// It belongs to no request, and nobody listens.
    Nobodys,
    /// Its reader is too far behind, or takes nothing but the answer.
    SlowReader,
}

impl Dropped {
    pub(crate) const ALL: [Dropped; 5] =
        [Dropped::NotAMessage, Dropped::UnknownId, Dropped::TooLong, Dropped::Nobodys, Dropped::SlowReader];

    fn name(self) -> &'static str {
        match self {
            Dropped::NotAMessage => "not_a_message",
            Dropped::UnknownId => "unknown_id",
            Dropped::TooLong => "too_long",
            Dropped::Nobodys => "nobodys",
            Dropped::SlowReader => "slow_reader",
        }
    }
}

impl Metrics {
    pub(crate) fn new() -> Metrics {
        // Only an empty list of buckets is refused.
        let builder = PrometheusBuilder::new();
        let recorder = match builder.set_buckets(&BUCKETS) {
            Ok(builder) => builder.build_recorder(),
            Err(_) => PrometheusBuilder::new().build_recorder(),
        };
        describe(&recorder);
        let counter = |outcome| recorder.register_counter(&key(REQUESTS, &[("outcome", outcome)]), &METADATA);
        let gauge = |name: &'static str| recorder.register_gauge(&Key::from_name(name), &METADATA);
        Metrics {
            permitted: counter("permitted"),
            open: counter("open"),
            receipts_permit: recorder.register_counter(&key(RECEIPTS, &[("decision", "permit")]), &METADATA),
            acts: counter("act"),
            judgement: recorder.register_histogram(&Key::from_name(JUDGEMENT), &METADATA),
            upstream: recorder.register_histogram(&Key::from_name(UPSTREAM), &METADATA),
            requests_open: gauge("pact_sidecar_requests_open"),
            connections: gauge("pact_sidecar_connections_open"),
            handle: recorder.handle(),
            recorder,
        }
    }

    pub(crate) fn passed(&self, how: Passed) {
        match how {
            Passed::Permitted => self.permitted.increment(1),
            Passed::Open => self.open.increment(1),
            Passed::Act => self.acts.increment(1),
        }
    }

    pub(crate) fn refused(&self, code: &'static str, class: &'static str) {
        self.count(REQUESTS, &[("outcome", "refused")]);
        self.count(REFUSALS, &[("code", code), ("class", class)]);
    }

    /// A changed configuration was taken into force, or refused.
    pub(crate) fn reloaded(&self, in_force: bool) {
        self.count(RELOADS, &[("outcome", if in_force { "in_force" } else { "refused" })]);
    }

    /// How often questions to the shared record of used proofs have failed in this way.
    pub(crate) fn replay_faults(&self, fault: &'static str, met: u64) {
        self.recorder.register_counter(&key(REPLAY_FAULTS, &[("fault", fault)]), &METADATA).absolute(met);
    }

    /// How often a process of the tool server was started, or could not be.
    pub(crate) fn children_started(&self, outcome: &'static str, count: u64) {
        let key = key(CHILDREN_STARTS, &[("outcome", outcome)]);
        self.recorder.register_counter(&key, &METADATA).absolute(count);
    }

    /// How many of its messages reached nobody.
    pub(crate) fn children_dropped(&self, why: Dropped, count: u64) {
        let key = key(CHILDREN_DROPPED, &[("why", why.name())]);
        self.recorder.register_counter(&key, &METADATA).absolute(count);
    }

    /// A tool was described otherwise than before, or than the policy says.
    pub(crate) fn tool_changed(&self) {
        self.count(TOOL_CHANGES, &[]);
    }

    pub(crate) fn answer_ended(&self, code: &'static str) {
        self.count(ENDED, &[("code", code)]);
    }

    pub(crate) fn receipt(&self, written: Written) {
        match written {
            Written::Permit => self.receipts_permit.increment(1),
            Written::Refuse => self.count(RECEIPTS, &[("decision", "refuse")]),
            Written::End => self.count(RECEIPTS, &[("decision", "end")]),
            Written::Lost => self.count(RECEIPTS_LOST, &[]),
            Written::LeftOut => self.count(RECEIPTS_LEFT_OUT, &[]),
        }
    }

    pub(crate) fn judged_in(&self, time: Duration) {
        self.judgement.record(time.as_secs_f64());
    }

    pub(crate) fn answered_in(&self, time: Duration) {
        self.upstream.record(time.as_secs_f64());
    }

    /// A value of one configured issuer, set when somebody looks.
    pub(crate) fn issuer(&self, name: &'static str, issuer: &str, value: f64) {
        let label = Label::new("issuer", issuer.to_owned());
        self.recorder.register_gauge(&Key::from_parts(name, vec![label]), &METADATA).set(value);
    }

    /// A value of the whole, set when somebody looks.
    pub(crate) fn whole(&self, name: &'static str, value: f64) {
        self.recorder.register_gauge(&Key::from_name(name), &METADATA).set(value);
    }

    /// The Prometheus text.
    pub(crate) fn render(&self) -> String {
        self.handle.run_upkeep();
        self.handle.render()
    }

    /// Moves what was recorded into the buckets; without it, memory grows between two looks.
    pub(crate) fn upkeep(&self) {
        self.handle.run_upkeep();
    }

    fn count(&self, name: &'static str, labels: &[(&'static str, &'static str)]) {
        self.recorder.register_counter(&key(name, labels), &METADATA).increment(1);
    }
}

fn key(name: &'static str, labels: &[(&'static str, &'static str)]) -> Key {
    let labels: Vec<Label> =
        labels.iter().map(|(name, value)| Label::from_static_parts(name, value)).collect();
    Key::from_parts(name, labels)
}

fn describe(recorder: &PrometheusRecorder) {
    for (name, text) in [
        (REQUESTS, "Requests on the traffic port, by outcome"),
        (REFUSALS, "Refused requests, by code and class"),
        (RELOADS, "Changed configurations, by whether they are in force"),
        (REPLAY_FAULTS, "Questions to the shared record of used proofs that failed, by why"),
        (ENDED, "Answers ended because what allowed them ended, by code"),
        (RECEIPTS, "Receipts written, by decision"),
        (CHILDREN_STARTS, "Processes of the tool server that were started, or could not be"),
        (CHILDREN_DROPPED, "Messages of those that reached nobody, by why"),
        (TOOL_CHANGES, "Tools that were described otherwise than before, or than the policy says"),
        (RECEIPTS_LOST, "Decisions whose receipt could not be written"),
        (RECEIPTS_LEFT_OUT, "Refusals before anything was verified that were not sampled for a receipt"),
    ] {
        recorder.describe_counter(name.into(), None, text.into());
    }
    for (name, text) in [
        ("pact_sidecar_ready", "1 when calls can be permitted"),
        (
            "pact_sidecar_configuration_version",
            "Configurations in force since the start, the present one included",
        ),
        ("pact_sidecar_components_died", "Parts of the sidecar that have died: every call is refused"),
        ("pact_sidecar_keys_disputed", "Keys that two issuers claim: they count for neither"),
        ("pact_sidecar_receipts_ok", "1 while receipts are written, or switched off"),
        ("pact_sidecar_replay_ok", "1 when proofs are recorded and count"),
        ("pact_sidecar_replay_held", "Used proofs that are remembered"),
        ("pact_sidecar_replay_shared", "1 when replicas share the record of used proofs"),
        ("pact_sidecar_children", "Processes of the tool server that run"),
        ("pact_sidecar_sessions", "Sessions of the 2025 protocol that are known"),
        ("pact_sidecar_requests_open", "Requests past judgement whose answer has not ended"),
        ("pact_sidecar_connections_open", "Open connections on the traffic port"),
        ("pact_sidecar_list_fresh", "1 when the issuer's list is fresh"),
        ("pact_sidecar_list_version", "Version of the issuer's fresh list"),
        ("pact_sidecar_list_age_seconds", "Age of the issuer's fresh list"),
        ("pact_sidecar_list_alarms", "Lists refused that only a broken or abused list key explains"),
        ("pact_sidecar_root_keys", "Root keys of the issuer that count now"),
        ("pact_sidecar_key_set_age_seconds", "Time since the issuer's published root keys were last fetched"),
        (
            "pact_sidecar_bearer_allowed",
            "1 when Biscuits of the issuer may be used without proof of possession",
        ),
    ] {
        recorder.describe_gauge(name.into(), None, text.into());
    }
    for (name, text) in [
        (JUDGEMENT, "Time to judge one call, from parsed body to permit or refusal"),
        (UPSTREAM, "Time from forwarding a call to the head of its answer"),
    ] {
        recorder.describe_histogram(name.into(), None, text.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_rendered() {
        let metrics = Metrics::new();
        metrics.refused("batch", "malformed");
        metrics.passed(Passed::Permitted);
        metrics.judged_in(Duration::from_micros(200));
        metrics.issuer("pact_sidecar_list_fresh", "acme", 1.0);
        let text = metrics.render();
        for line in [
            "pact_sidecar_refusals_total{code=\"batch\",class=\"malformed\"} 1",
            "pact_sidecar_requests_total{outcome=\"permitted\"} 1",
            "pact_sidecar_judgement_seconds_count 1",
            "pact_sidecar_list_fresh{issuer=\"acme\"} 1",
        ] {
            assert!(text.contains(line), "{line} in\n{text}");
        }
    }
}
