//! The parts, started for real: an issuer that publishes, a tool server, and the sidecar in front of it, on free loopback
//! ports and in a temporary folder.

use std::{fs, io, net::SocketAddr, time::Duration};

use pact_mandate::UnixTime;
use pact_sidecar::{Clock, Config, ConfigError, Sidecar, StartError};
use pact_verifier::proof::{Audience, NotAnAudience};
use tempfile::TempDir;
use tokio::{net::TcpListener, task::JoinHandle};

use crate::{
    mcp::{Answer, McpClient, McpError},
    shop,
};

mod issuer;

pub use issuer::{Grant, Issuer, IssuerError};

/// The name that the sidecar's configuration gives the issuer.
pub const ISSUER: &str = "quickstart";

/// What each tool of the shop amounts to in the words of mandates. Looking up costs nothing and says so.
const POLICY: &str = r#"
[tools.look_up_order]
action = "order.read"
project = { arg = "project" }
task_id = { arg = "order" }
args = { amount_usd = { const = 0 } }

[tools.refund_order]
action = "order.refund"
project = { arg = "project" }
task_id = { arg = "order" }
args = { amount_usd = { arg = "amount_usd" } }
unjudged = ["note"]
"#;

/// Everything that runs.
pub struct Stage {
    /// Who grants, exports, revokes and publishes.
    pub issuer: Issuer,
    /// The sidecar's public URL, which callers use and proofs name.
    pub url: String,
    /// The sidecar's other port.
    pub admin_url: String,
    /// The same URL, as proofs name it.
    pub audience: Audience,
    /// For calls.
    pub client: McpClient,
    clock: Clock,
    folder: TempDir,
    _tools: Task,
    _sidecar: Task,
}

/// Why the parts do not start.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// A port or a file.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The issuer.
    #[error(transparent)]
    Issuer(#[from] IssuerError),
    /// The sidecar's configuration.
    #[error("the sidecar's configuration: {0}")]
    Config(#[from] ConfigError),
    /// The sidecar.
    #[error("the sidecar: {0}")]
    Sidecar(#[from] StartError),
    /// Its URL.
    #[error(transparent)]
    Audience(#[from] NotAnAudience),
    /// No answer from a part.
    #[error(transparent)]
    Mcp(#[from] McpError),
    /// It never became ready.
    #[error("the sidecar did not become ready within {0:?}: {1}")]
    NotReady(Duration, String),
}

/// A task that ends with whoever started it.
#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Stage {
    /// Starts everything and waits until the sidecar is ready.
    pub async fn set() -> Result<Stage, StageError> {
        let folder = tempfile::Builder::new().prefix("pact-quickstart-").tempdir()?;
        let clock = Clock::system();
        let issuer = Issuer::start(&folder.path().join("issuer")).await?;
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let tools_url = shop::url(listener.local_addr()?);
        let tools = Task(tokio::spawn(async move {
            // The story notices by itself when the tools are gone.
            let _ = shop::serve(listener).await;
        }));
        let address = free_address().await?;
        let url = format!("http://{address}{}", shop::PATH);
        fs::write(folder.path().join("policy.toml"), POLICY)?;
        let config = sidecar_config(address, &url, &tools_url, &issuer);
        fs::write(folder.path().join("sidecar.toml"), &config)?;
        let sidecar = Sidecar::bind(Config::read(&folder.path().join("sidecar.toml"))?).await?;
        let admin_url = format!("http://{}", sidecar.admin_address()?);
        let sidecar = Task(tokio::spawn(sidecar.serve(std::future::pending())));
        let stage = Stage {
            audience: url.parse()?,
            issuer,
            url,
            admin_url,
            client: McpClient::new(),
            clock,
            folder,
            _tools: tools,
            _sidecar: sidecar,
        };
        stage.wait_until_ready(Duration::from_secs(30)).await?;
        Ok(stage)
    }

    /// The time.
    pub fn now(&self) -> UnixTime {
        self.clock.now().wall
    }

    /// The clock, for measuring.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Where keys, configuration and records lie.
    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// What the sidecar says of itself.
    pub async fn readiness(&self) -> Result<Answer, McpError> {
        self.client.get(&format!("{}/readyz", self.admin_url)).await
    }

    async fn wait_until_ready(&self, most: Duration) -> Result<(), StageError> {
        let start = self.clock.now().monotonic;
        loop {
            let answer = self.readiness().await?;
            if answer.status.is_success() {
                return Ok(());
            }
            if self.clock.now().monotonic.since(start) > most {
                return Err(StageError::NotReady(most, answer.body.to_string()));
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// An address that is free now. The sidecar's URL, which proofs name, must be known before it listens.
async fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind("127.0.0.1:0").await?.local_addr()
}

/// The sidecar's configuration as an operator would write it.
fn sidecar_config(address: SocketAddr, url: &str, tools_url: &str, issuer: &Issuer) -> String {
    let published = issuer.url();
    format!(
        r#"listen = "{address}"
admin_listen = "127.0.0.1:0"
audience = "{url}"
policy = "policy.toml"
state_dir = "sidecar"

[upstream]
url = "{tools_url}"

[[issuers]]
id = "{ISSUER}"
keys_url = "{published}/.well-known/pact-keys.json"
list_keys_url = "{published}/.well-known/pact-list-keys.json"
lists_url = "{published}/.well-known/pact-revocations/pact"

[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = ["order.read", "order.refund"]
projects = ["shop", "warehouse"]
"#
    )
}
