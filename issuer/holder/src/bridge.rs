//! An MCP server for clients of this machine, in front of sidecars (feature `bridge`): it passes the client's messages on, each as it came, with a
//! credential and a proof in the `_meta` of those that are judged, and writes what comes back, each message on its line.

use std::sync::{Arc, MutexGuard};

use tokio::sync::mpsc;

use crate::Holder;

mod acts;
mod answer;
mod biscuit;
mod calls;
mod clock;
pub mod config;
pub(crate) mod credential;
mod events;
mod exchange;
mod hint;
mod line;
mod listen;
mod listing;
mod message;
mod period;
mod refused;
mod reissue;
mod relay;
mod serve;
mod session;
mod sign;
mod source;
mod upstream;
mod url;
mod wallet;

pub use clock::Clock;
pub use config::{Config, ConfigError, NotAPlace};
pub use listen::{ListenError, Listening};
pub use url::{UpstreamUrl, UrlError};

use session::{Open, Session};
use upstream::Upstream;
use wallet::Wallet;

/// A bridge, ready to serve.
pub struct Bridge {
    holder: Arc<Holder>,
    upstreams: Vec<Upstream>,
    wallet: Wallet,
    clock: Clock,
}

/// What serves one client: all that it says, or one of its HTTP requests.
#[derive(Clone)]
struct Relay {
    bridge: Arc<Bridge>,
    session: Arc<Session>,
    /// Lines for the client.
    lines: mpsc::Sender<Vec<u8>>,
}

/// Why a bridge does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The agent's key.
    #[error(transparent)]
    Key(#[from] pact_mandate::keyfile::KeyFileError),
    /// The HTTP client could not be made: no TLS provider is installed, most likely.
    #[error("the HTTP client: {0}")]
    Client(reqwest::Error),
    /// Local clients over HTTP.
    #[error("local HTTP: {0}")]
    Listen(#[from] ListenError),
    /// The client's side.
    #[error("standard input or output: {0}")]
    Io(#[from] std::io::Error),
}

impl Bridge {
    /// Reads the agent's key and prepares; nothing is connected to yet. A provider of TLS must have been installed for the
    /// process (`rustls::crypto::ring::default_provider().install_default()`).
    pub fn new(config: &Config, clock: Clock) -> Result<Bridge, BridgeError> {
        let upstreams = config.upstreams.iter().cloned().map(Upstream::new).collect::<Result<_, _>>();
        let holder = Arc::new(Holder::read_file(&config.key)?);
        Ok(Bridge {
            upstreams: upstreams.map_err(BridgeError::Client)?,
            wallet: Wallet::new(&config.credentials, &holder).map_err(BridgeError::Client)?,
            holder,
            clock,
        })
    }
}

impl Relay {
    fn new(bridge: Arc<Bridge>, session: Arc<Session>, lines: mpsc::Sender<Vec<u8>>) -> Relay {
        Relay { bridge, session, lines }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.session.open()
    }

    /// Writes a line for the client. When nobody reads any more, the loop notices.
    async fn say(&self, line: Vec<u8>) {
        let _ = self.lines.send(line).await;
    }
}
