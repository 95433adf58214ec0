//! Putting the parts together, and running them until told to stop.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use arc_swap::ArcSwap;
use pact_verifier::{
    Verifier,
    cache::ChainCache,
    policy::{Policy, PolicyError},
    proof::Audience,
    trust::TrustError,
};
use tokio::{net::TcpListener, sync::Semaphore, task::JoinSet};

use crate::{
    admin,
    clock::Clock,
    config::{Config, ConfigError, read_bounded},
    gate::{Gate, ListSource},
    keys::{self, KeyBook},
    limits::{ADMIN_CONNECTIONS, MAX_POLICY_BYTES},
    listener::{ConnectionBounds, serve},
    metrics::Metrics,
    request_id::RequestIds,
    sampler::Sampler,
    upstream::{Upstream, tls},
};

/// Both ports are bound and the watchers run; nothing is answered before [`Sidecar::serve`].
pub struct Sidecar {
    gate: Arc<Gate>,
    traffic: TcpListener,
    admin: TcpListener,
    bounds: ConnectionBounds,
    watchers: JoinSet<()>,
}

/// Why a sidecar does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration, or a file that it names.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy file.
    #[error("the policy file does not do: {0}")]
    Policy(#[from] PolicyError),
    /// The audience.
    #[error("`audience` does not do: {0}")]
    Audience(#[from] pact_verifier::proof::NotAnAudience),
    /// Issuers that cannot be trusted together.
    #[error("the issuers of the configuration cannot be trusted together: {0}")]
    Trust(#[from] TrustError),
    /// The replay store.
    #[error("the replay store in `state_dir` does not open: {0}")]
    Replay(#[source] io::Error),
    /// TLS towards tool servers.
    #[error("TLS cannot be set up: {0}")]
    Tls(#[from] rustls::Error),
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(getrandom::Error),
    /// A port.
    #[error("{address} cannot be listened on: {fault}")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// What the system said.
        fault: io::Error,
    },
}

/// Reads the policy and judges the issuers together, as a start would, and starts nothing.
pub fn check(config: &Config) -> Result<(), StartError> {
    let book = KeyBook::new(config);
    book.trust(Clock::system().now().monotonic)?;
    read_policy(config)?;
    config.audience.to_string().parse::<Audience>()?;
    Ok(())
}

/// Runs a sidecar until `shutdown` is done, then lets open answers finish within the drain.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
    Sidecar::bind(config).await?.serve(shutdown).await;
    Ok(())
}
