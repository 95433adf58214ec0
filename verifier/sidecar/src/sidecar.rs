//! Putting the parts together, and running them until told to stop.

use std::{
    fs,
    future::Future,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use arc_swap::ArcSwap;
use pact_revocation::{
    floor::FloorError,
    net::{FetchError, FetchLimits, Fetcher},
};
use pact_verifier::{
    Verifier,
    cache::ChainCache,
    policy::{Policy, PolicyError},
    proof::{Audience, NotAnAudience},
    replay::{BootId, FileReplay, OpenError, ReplayStore},
    trust::TrustError,
};
use tokio::{net::TcpListener, sync::Semaphore};

use crate::{
    admin,
    clock::Clock,
    config::{Config, ConfigError, RedisConfig},
    definitions::Definitions,
    feed::{self, Feeds},
    gate::Gate,
    hosts::Hosts,
    keys::KeyBook,
    limits::{ADMIN_CONNECTIONS, ADMIN_DRAIN, CACHE_BYTES, SAMPLED_REFUSALS_PER_SECOND},
    listener::{ConnectionBounds, serve},
    lists::ListBook,
    metadata::ResourceMetadata,
    metrics::Metrics,
    receipts::{self, Receipts, ReceiptsError},
    reload::{LastChange, Reload},
    replay::SharedReplay,
    request_id::RequestIds,
    rules::Rules,
    sampler::Sampler,
    session::{SessionBook, SessionBounds},
    upstream::{Upstream, tls},
    watchers::{Died, Watchers},
};

/// Both ports are bound and the watchers run; nothing is answered before [`Sidecar::serve`].
pub struct Sidecar {
    gate: Arc<Gate>,
    traffic: TcpListener,
    admin: TcpListener,
    bounds: ConnectionBounds,
    watchers: Watchers,
}

/// Why a sidecar does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The configuration, or a file that it names.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The policy file.
    #[error("the policy {path} does not do: {fault}")]
    Policy {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        fault: PolicyError,
    },
    /// The audience.
    #[error("`audience` does not do: {0}")]
    Audience(#[from] NotAnAudience),
    /// Issuers that cannot be trusted together.
    #[error("the issuers of the configuration cannot be trusted together: {0}")]
    Trust(#[from] TrustError),
    /// The replay store.
    #[error("the replay store in `state_dir` does not open: {0}")]
    Replay(#[from] OpenError),
    /// The thread that speaks to the shared record of used proofs.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
    /// The floors of lists.
    #[error("the floors of lists in `state_dir` cannot be read: {0}")]
    Floor(#[from] FloorError),
    /// The receipts.
    #[error("receipts cannot be written: {0}")]
    Receipts(#[from] ReceiptsError),
    /// The folder for what must survive a restart.
    #[error("{path} cannot be made: {fault}")]
    StateDir {
        /// Which.
        path: PathBuf,
        /// What the system said.
        fault: io::Error,
    },
    /// The client that fetches keys and lists.
    #[error("keys and lists cannot be fetched: {0}")]
    Fetch(#[from] FetchError),
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
    read_policy(config, &config.policy_text()?)?;
    config.audience.to_string().parse::<Audience>()?;
    config.replay.as_ref().map_or(Ok(()), RedisConfig::check)?;
    Ok(())
}

/// Runs a sidecar until `shutdown` is done, then lets open answers finish within the drain.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), StartError> {
    Sidecar::bind(config).await?.serve(shutdown).await;
    Ok(())
}

impl Sidecar {
    /// Binds both ports and starts the watchers of keys and lists.
    pub async fn bind(config: Config) -> Result<Sidecar, StartError> {
        Sidecar::bind_by(config, Clock::system()).await
    }

    /// The same by a clock of the caller's.
    pub async fn bind_by(config: Config, clock: Clock) -> Result<Sidecar, StartError> {
        let traffic = listen(config.listen).await?;
        let admin = listen(config.admin_listen).await?;
        let (gate, watchers) = assemble(&config, clock)?;
        let bounds = ConnectionBounds {
            connections: u32::try_from(config.bounds.connections).unwrap_or(u32::MAX),
            head_bytes: config.bounds.head_bytes,
            head_timeout: config.bounds.head_timeout,
            write_timeout: config.bounds.write_timeout,
            drain: config.bounds.drain,
        };
        Ok(Sidecar { gate, traffic, admin, bounds, watchers })
    }

    /// Where the traffic port really listens.
    pub fn traffic_address(&self) -> io::Result<SocketAddr> {
        self.traffic.local_addr()
    }

    /// Where the admin port really listens.
    pub fn admin_address(&self) -> io::Result<SocketAddr> {
        self.admin.local_addr()
    }

    /// Answers until `shutdown` is done; the admin port for as long as the traffic port drains.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Sidecar { gate, traffic, admin, bounds, watchers } = self;
        if let (Ok(traffic), Ok(admin)) = (traffic.local_addr(), admin.local_addr()) {
            tracing::info!(%traffic, %admin, "the sidecar listens");
        }
        let (drained, is_drained) = tokio::sync::oneshot::channel::<()>();
        let admin_bounds = ConnectionBounds { connections: ADMIN_CONNECTIONS, drain: ADMIN_DRAIN, ..bounds };
        let admin_gate = Arc::clone(&gate);
        let admin_hosts = Arc::new(Hosts::of_admin(is_loopback(&admin)));
        let admin_port = serve(
            admin,
            admin_bounds,
            metrics::Gauge::noop(),
            move |request| admin::answer(Arc::clone(&admin_gate), Arc::clone(&admin_hosts), request),
            async {
                let _ = is_drained.await;
            },
        );
        let leaving = Arc::clone(&gate);
        let leave = async move {
            shutdown.await;
            leaving.stopping.store(true, Ordering::Relaxed);
            // Who sends callers here sees it at /readyz, and sends them elsewhere, before the listener closes.
            if let Some(delay) = leaving.bounds.drain_delay {
                tokio::time::sleep(delay).await;
            }
        };
        let judging = Arc::clone(&gate);
        let traffic_port = async {
            let (gate, open) = (judging, gate.metrics.connections.clone());
            let answer = move |request| Arc::clone(&gate).answer(request);
            serve(traffic, bounds, open, answer, leave).await;
            drop(drained);
        };
        let mut watchers = watchers;
        tokio::select! {
            _ = async { tokio::join!(traffic_port, admin_port) } => {}
            () = watchers.supervise(&gate.died) => {}
        }
        gate.upstream.close().await;
        gate.receipts.close(gate.clock.now());
    }
}

fn assemble(config: &Config, clock: Clock) -> Result<(Arc<Gate>, Watchers), StartError> {
    let now = clock.now();
    let keys = Arc::new(KeyBook::new(config));
    let trust = Arc::new(keys.trust(now.monotonic)?);
    let policy_text = config.policy_text()?;
    let policy = Arc::new(read_policy(config, &policy_text)?);
    let audience: Audience = config.audience.to_string().parse()?;
    let state = |name| make_folder(config.state_dir.join(name));
    let shared = config.replay.clone().map(|server| SharedReplay::start(server, clock.clone()).map(Arc::new));
    let shared = shared.transpose().map_err(StartError::Thread)?;
    let replay: Arc<dyn ReplayStore> = match &shared {
        Some(shared) => Arc::<SharedReplay>::clone(shared),
        None => Arc::new(FileReplay::open(&state("replay")?, BootId::of_this_system(), now)?),
    };
    let receipts = Receipts::open(config, now)?;
    let cache = Arc::new(ChainCache::new(CACHE_BYTES));
    let mut random = [0; 8];
    getrandom::fill(&mut random).map_err(StartError::Random)?;
    let mut watchers = Watchers::default();
    let feeds = Feeds::new(Fetcher::new(FetchLimits::default())?, &state("lists")?)?;
    let verifier = Verifier::new(trust, policy, audience, replay, cache);
    let count = config.bounds.sessions.min(config.upstream.most_sessions());
    let sessions = SessionBounds { count, idle: config.bounds.session_idle };
    let sessions = Arc::new(SessionBook::new(sessions));
    let gate = Arc::new(Gate {
        path: config.path.clone(),
        origin: config.audience.origin(),
        hosts: Hosts::new(&config.audience, &config.allowed_hosts, config.listen.ip().is_loopback()),
        metadata: ResourceMetadata::new(&config.audience, &config.path),
        bounds: config.bounds,
        rules: ArcSwap::from_pointee(Rules::new(keys, verifier)),
        lists: Arc::new(ListBook::new()),
        last_change: LastChange::default(),
        shared,
        upstream: Upstream::new(&config.upstream, tls()?, Arc::clone(&sessions), clock.clone()),
        revisions: config.upstream.revisions.clone(),
        sessions,
        metrics: Metrics::new(),
        ids: RequestIds::new(random),
        requests: Arc::new(Semaphore::new(config.bounds.requests)),
        sampler: Sampler::new(SAMPLED_REFUSALS_PER_SECOND),
        definitions: Definitions::new(),
        receipts,
        died: Died::default(),
        stopping: AtomicBool::new(false),
        clock,
    });
    let reload = Reload::start(Arc::clone(&gate), feeds, config.clone(), policy_text);
    watchers.spawn("the watch of the configuration", reload.run());
    if let Some(upkeep) = gate.upstream.upkeep() {
        watchers.spawn("the upkeep of the tool server", upkeep);
    }
    watchers.spawn("the upkeep", feed::upkeep(Arc::clone(&gate)));
    watchers.spawn("the keeping of receipts", receipts::tend(Arc::clone(&gate)));
    Ok((gate, watchers))
}

pub(crate) fn read_policy(config: &Config, text: &str) -> Result<Policy, StartError> {
    let path = config.policy_file();
    Policy::from_toml(text).map_err(|fault| StartError::Policy { path: path.to_owned(), fault })
}

fn make_folder(path: PathBuf) -> Result<PathBuf, StartError> {
    match fs::create_dir_all(&path) {
        Ok(()) => Ok(path),
        Err(fault) => Err(StartError::StateDir { path, fault }),
    }
}

fn is_loopback(listener: &TcpListener) -> bool {
    listener.local_addr().is_ok_and(|address| address.ip().is_loopback())
}

async fn listen(address: SocketAddr) -> Result<TcpListener, StartError> {
    TcpListener::bind(address).await.map_err(|fault| StartError::Listen { address, fault })
}
