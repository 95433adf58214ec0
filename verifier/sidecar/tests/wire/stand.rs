//! A sidecar between an issuer and a tool server, all on loopback.

use std::{
    net::SocketAddr,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use pact_mandate::{Monotonic, Now};
use pact_sidecar::{Clock, Config, Sidecar};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::{
    client::{self, Answer},
    issuer::{Issuer, now},
    upstream::Upstream,
};

pub(crate) const AUDIENCE: &str = "https://tools.example.org/mcp";

pub(crate) struct Stand {
    pub(crate) traffic: SocketAddr,
    pub(crate) admin: SocketAddr,
    pub(crate) upstream: Upstream,
    pub(crate) issuer: Issuer,
    pub(crate) folder: TempDir,
    /// Seconds by which the sidecar's wall clock is behind.
    pub(crate) behind: Arc<AtomicU64>,
    /// Whether the sidecar's clock panics when it is asked next.
    pub(crate) panics: Arc<AtomicBool>,
    stop: Option<oneshot::Sender<()>>,
    pub(crate) ended: tokio::task::JoinHandle<()>,
}

/// What a test wants otherwise than usual.
pub(crate) struct Wish {
    /// More lines at the end of the configuration.
    pub(crate) more: &'static str,
    /// Where the list is said to be, below the issuer.
    pub(crate) list: &'static str,
    /// Whether the root is pinned, or published.
    pub(crate) pinned: bool,
    /// Whether the list key is pinned, or published.
    pub(crate) list_key_pinned: bool,
    /// The policy file.
    pub(crate) policy: &'static str,
    /// The section on the tool server, where that is another than the one that records what reaches it.
    pub(crate) tool_server: Option<String>,
}

impl Default for Wish {
    fn default() -> Wish {
        Wish {
            more: "",
            list: "pact-revocations/pact",
            pinned: true,
            list_key_pinned: true,
            policy: POLICY,
            tool_server: None,
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a test against the machine's own clock")]
fn clock(behind: Arc<AtomicU64>, panics: Arc<AtomicBool>) -> Clock {
    let started = Instant::now();
    Clock::from_fn(move || {
        assert!(!panics.swap(false, Ordering::SeqCst), "the clock was told to");
        let passed = Monotonic::from_origin(started.elapsed());
        Now::new(now().minus(behind.load(Ordering::SeqCst)), passed)
    })
}

impl Stand {
    pub(crate) async fn start() -> Stand {
        Stand::with(Wish::default()).await
    }

    pub(crate) async fn with(wish: Wish) -> Stand {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (issuer, upstream) = (Issuer::start().await, Upstream::start().await);
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("policy.toml"), wish.policy).unwrap();
        std::fs::write(folder.path().join("sidecar.toml"), config(&issuer, &upstream, &wish)).unwrap();
        // P7: a new store refuses proofs of its first seconds, so it is opened by a clock that is behind.
        let behind = Arc::new(AtomicU64::new(30));
        let panics = Arc::default();
        let (traffic, admin, stop, ended) = serve(folder.path(), &behind, &panics).await;
        behind.store(0, Ordering::SeqCst);
        Stand { traffic, admin, upstream, issuer, folder, behind, panics, stop: Some(stop), ended }
    }

    /// Starts another sidecar on the same folder.
    pub(crate) async fn restart(&mut self) {
        let (traffic, admin, stop, ended) = serve(self.folder.path(), &self.behind, &self.panics).await;
        (self.traffic, self.admin, self.stop, self.ended) = (traffic, admin, Some(stop), ended);
    }

    /// The same, with a list that has arrived.
    pub(crate) async fn ready() -> Stand {
        let stand = Stand::start().await;
        stand.until_ready().await;
        stand
    }

    pub(crate) async fn until_ready(&self) {
        self.until_status(200).await;
    }

    pub(crate) async fn until_status(&self, status: u16) -> Answer {
        for _ in 0..400 {
            let answer = client::get(self.admin, "/readyz").await;
            if answer.status == status {
                return answer;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("never {status}: {:?}", client::get(self.admin, "/readyz").await);
    }

    pub(crate) async fn post(&self, body: &str) -> Answer {
        self.post_with("", body.as_bytes()).await
    }

    pub(crate) async fn post_with(&self, headers: &str, body: &[u8]) -> Answer {
        client::raw(self.traffic, &client::post(headers, body)).await
    }

    pub(crate) fn stop(&mut self) {
        drop(self.stop.take());
    }
}

async fn serve(
    folder: &Path,
    behind: &Arc<AtomicU64>,
    panics: &Arc<AtomicBool>,
) -> (SocketAddr, SocketAddr, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let config = Config::read(&folder.join("sidecar.toml")).unwrap();
    let sidecar = Sidecar::bind_by(config, clock(Arc::clone(behind), Arc::clone(panics))).await.unwrap();
    let (traffic, admin) = (sidecar.traffic_address().unwrap(), sidecar.admin_address().unwrap());
    let (stop, stopped) = oneshot::channel();
    let ended = tokio::spawn(sidecar.serve(async {
        let _ = stopped.await;
    }));
    (traffic, admin, stop, ended)
}

pub(crate) const POLICY: &str = r#"
[tools.echo]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { arg = "cost" } }
unjudged = ["text"]
"#;

fn config(issuer: &Issuer, upstream: &Upstream, wish: &Wish) -> String {
    let roots = if wish.pinned {
        format!("roots = [\"{}\"]", issuer.root_key())
    } else {
        format!("keys_url = \"{}\"", issuer.url("pact-keys.json"))
    };
    let list_keys = if wish.list_key_pinned {
        format!("list_keys = [\"{}\"]", issuer.list_key())
    } else {
        format!("list_keys_url = \"{}\"", issuer.url("pact-list-keys.json"))
    };
    let tool_server = wish.tool_server.clone();
    let tool_server = tool_server.unwrap_or_else(|| format!("url = \"http://{}/tool\"", upstream.address));
    format!(
        r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
audience = "{AUDIENCE}"
policy = "policy.toml"
state_dir = "state"

[upstream]
{tool_server}

[[issuers]]
id = "acme"
{roots}
{list_keys}
lists_url = "{}"

[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = ["task.*"]
projects = ["web"]

{}
"#,
        issuer.url(wish.list),
        wish.more
    )
}
