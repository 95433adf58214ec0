//! An unchanged MCP client reaches a tool server that knows nothing of trust, through the bridge and a sidecar: both eras of
//! MCP, both formats of credentials.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is a failure, also in what the tests share"
)]

use std::{
    fs,
    io::BufReader,
    os::unix::net::UnixStream,
    path::{Path, PathBuf},
    time::Duration,
};

use pact_examples::{
    agent::Agent,
    stage::{Grant, ISSUER, Stage},
};
use pact_holder::bridge::{Bridge, Clock, Config};
use pact_mandate::{Format, MandateId};
use rmcp::{
    RoleClient,
    model::{CallToolRequestParams, CallToolResult, ProtocolVersion},
    service::{ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const GRANT: Grant<'_> = Grant {
    holder: "agent",
    scope: &["order.refund@project:shop"],
    limits: &[("amount_usd", "20")],
    delegations: 0,
    seconds: 1800,
};

/// A client, and the bridge that it talks to.
struct Line {
    client: RunningService<RoleClient, ()>,
    bridge: JoinHandle<()>,
}

async fn connect(config: &Path, lifecycle: ClientLifecycleMode) -> Line {
    let sidecars = pact_sidecar::Clock::system();
    let clock = Clock::new(move || sidecars.now());
    let bridge = Bridge::new(&Config::read(config).unwrap(), clock).unwrap();
    let (near_in, far_in) = UnixStream::pair().unwrap();
    let (near_out, far_out) = UnixStream::pair().unwrap();
    let bridge = tokio::spawn(async move { bridge.serve(BufReader::new(far_in), far_out).await.unwrap() });
    let asynchronous = |stream: UnixStream| {
        stream.set_nonblocking(true).unwrap();
        tokio::net::UnixStream::from_std(stream).unwrap()
    };
    let transport = (asynchronous(near_out), asynchronous(near_in));
    let client = serve_client_with_lifecycle((), transport, lifecycle).await.unwrap();
    Line { client, bridge }
}

impl Line {
    async fn refund(&self, arguments: Value) -> CallToolResult {
        let Value::Object(arguments) = arguments else { panic!() };
        let call = CallToolRequestParams::new("refund_order").with_arguments(arguments);
        self.client.call_tool(call).await.unwrap()
    }

    async fn end(self) {
        self.client.cancel().await.unwrap();
        self.bridge.await.unwrap();
    }
}

fn text(result: &CallToolResult) -> String {
    serde_json::to_value(result).unwrap()["content"][0]["text"].as_str().unwrap().to_owned()
}

/// What a refusal says in members.
fn told(result: &CallToolResult) -> Value {
    serde_json::to_value(result).unwrap()["_meta"]["pact/refusal"].clone()
}

fn keep(stage: &mut Stage, mandate: MandateId, agent: &Agent, format: Format) -> PathBuf {
    let credential = stage.issuer.export(mandate, format, *agent.public_key()).unwrap();
    let file = stage.folder().join(format!("agent.{format}"));
    fs::write(&file, credential).unwrap();
    let config = stage.folder().join(format!("bridge-{format}.toml"));
    let url = &stage.url;
    let text = format!(
        r#"
key = "agent.key"
[[upstreams]]
url = "{url}"
[upstreams.actions]
refund_order = "order.refund"
[[credentials]]
upstreams = ["{url}"]
format = "{format}"
file = "agent.{format}"
"#
    );
    fs::write(&config, text).unwrap();
    config
}

/// A bridge whose credential comes from the issuer itself.
fn reissued(stage: &Stage, mandate: MandateId) -> PathBuf {
    let (config, url, issuer) = (stage.folder().join("bridge.toml"), &stage.url, stage.issuer.url());
    let text = format!(
        r#"
key = "agent.key"
[[upstreams]]
url = "{url}"
[upstreams.actions]
refund_order = "order.refund"
[[credentials]]
upstreams = ["{url}"]
format = "tenuo"
reissue = "{issuer}/reissue"
issuer = "{ISSUER}"
mandate = "{mandate}"
"#
    );
    fs::write(&config, text).unwrap();
    config
}

/// The first answer that is no refusal for want of a credential: an issuer that has just started takes no request of before.
async fn once_it_has_one(line: &Line, arguments: &Value) -> CallToolResult {
    for _ in 0..30 {
        let answer = line.refund(arguments.clone()).await;
        if told(&answer)["error"] != "credential_unavailable" {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    panic!("the issuer gave no credential");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_holder_gets_its_credential_from_the_issuer_until_the_mandate_is_revoked() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut stage = Stage::set().await.unwrap();
    let agent = Agent::new().unwrap();
    agent.keep(&stage.folder().join("agent.key")).unwrap();
    let mandate = stage.issuer.mint("boss@example.org", &GRANT).unwrap();
    let good = json!({"project": "shop", "order": 1041, "amount_usd": 12.5});
    let config = reissued(&stage, mandate);
    let line = connect(&config, ClientLifecycleMode::Initialize).await;
    let stranger = told(&line.refund(good.clone()).await);
    assert_eq!(stranger["error"], "credential_unavailable", "nothing was ever exported to that key");
    // A person's export registers the key; the text itself is not needed.
    stage.issuer.export(mandate, Format::Tenuo, *agent.public_key()).unwrap();
    let answer = once_it_has_one(&line, &good).await;
    assert_eq!(text(&answer), "refunded 12.5 USD for order 1041 of shop");
    line.end().await;

    stage.issuer.revoke(mandate).unwrap();
    let line = connect(&config, ClientLifecycleMode::Initialize).await;
    let refused = told(&line.refund(good).await);
    assert_eq!(refused["error"], "credential_unavailable");
    assert!(refused["message"].as_str().unwrap().contains("(not_live)"), "{refused}");
    line.end().await;
    stage.issuer.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_unchanged_client_calls_through_in_both_eras_and_formats() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut stage = Stage::set().await.unwrap();
    let agent = Agent::new().unwrap();
    agent.keep(&stage.folder().join("agent.key")).unwrap();
    let mandate = stage.issuer.mint("boss@example.org", &GRANT).unwrap();
    let discover = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    for format in [Format::Tenuo, Format::Biscuit] {
        let config = keep(&mut stage, mandate, &agent, format);
        for lifecycle in [discover.clone(), ClientLifecycleMode::Initialize] {
            let line = connect(&config, lifecycle.clone()).await;
            let good = json!({"project": "shop", "order": 1041, "amount_usd": 12.5});
            for _ in 0..2 {
                let answer = line.refund(good.clone()).await;
                assert_eq!(
                    text(&answer),
                    "refunded 12.5 USD for order 1041 of shop",
                    "{format} {lifecycle:?}"
                );
            }
            let refused = line.refund(json!({"project": "shop", "order": 1041, "amount_usd": 20.01})).await;
            assert_eq!(refused.is_error, Some(true));
            let code =
                if format == Format::Tenuo { "tenuo_outside_constraint" } else { "biscuit_check_failed" };
            assert_eq!(told(&refused)["error"], code);
            assert!(text(&refused).contains("Do not repeat it unchanged"), "{}", text(&refused));
            line.end().await;
        }
    }
    stage.issuer.stop().await;
}
