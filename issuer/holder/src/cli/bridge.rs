//! `pact-holder bridge`.

use std::{
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use clap::Args;
use pact_holder::bridge::{Bridge, BridgeError, Clock, Config, ConfigError};
use pact_mandate::{Monotonic, Now, UnixTime};
use tokio::signal::unix::{SignalKind, signal};
use toml::{Table, Value};
use tracing_subscriber::EnvFilter;

/// Either a file, or the few words that do for one sidecar and one credential.
#[derive(Args)]
pub(super) struct BridgeArgs {
    /// The configuration: key, sidecars and credentials. Instead of all that follows.
    #[arg(
        long,
        value_name = "FILE",
        required_unless_present = "upstream",
        conflicts_with_all = ["upstream", "key", "tenuo", "biscuit", "audience", "action"]
    )]
    config: Option<PathBuf>,
    /// The sidecar: https, or http to a loopback address.
    #[arg(long, value_name = "URL", requires = "key")]
    upstream: Option<String>,
    /// The agent's key file, as `keygen` makes it.
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// The file with a Tenuo warrant stack; read again when it changes.
    #[arg(long, value_name = "FILE", conflicts_with = "biscuit")]
    tenuo: Option<PathBuf>,
    /// The file with a Biscuit token; read again when it changes.
    #[arg(long, value_name = "FILE")]
    biscuit: Option<PathBuf>,
    /// The sidecar's public URL as its configuration has it (`audience`), where that is not the URL above.
    #[arg(long, value_name = "URL")]
    audience: Option<String>,
    /// What the credential calls a tool, where the sidecar does not say it; as often as needed.
    #[arg(long, value_name = "TOOL=ACTION")]
    action: Vec<String>,
    /// Serve local clients over HTTP instead of standard input and output: at a loopback address such as 127.0.0.1:7777 (or
    /// port 0 for a free one), under the URL with a secret in it that is shown once on standard error; or at a socket, a path
    /// with a '/'.
    #[arg(long, value_name = "ADDRESS|SOCKET")]
    listen: Option<String>,
    /// Print the configuration in effect, and end.
    #[arg(long)]
    print_config: bool,
    /// Log more: what is refused, and why. Logs go to standard error; `RUST_LOG` is understood.
    #[arg(long)]
    verbose: bool,
}

/// Why the bridge does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    #[error("the configuration: {0}")]
    Config(#[from] ConfigError),
    #[error("--action {0} is not TOOL=ACTION")]
    Action(String),
    #[error(transparent)]
    Bridge(#[from] BridgeError),
    #[error("the runtime does not start: {0}")]
    Runtime(io::Error),
}

/// Serves, or returns what is to be printed.
pub(super) fn run(args: &BridgeArgs) -> Result<Option<String>, Broken> {
    let config = match &args.config {
        Some(path) => Config::read(path)?,
        None => Config::from_toml(&as_toml(args)?, Path::new("."))?,
    };
    let config = match &args.listen {
        Some(place) => config.listening(place)?,
        None => config,
    };
    if args.print_config {
        return Ok(Some(config.effective()));
    }
    let default = if args.verbose { "pact_holder=debug" } else { "pact_holder=warn" };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).init();
    // Another provider cannot have been installed: nothing ran before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bridge = Bridge::new(&config, clock())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.map_err(Broken::Runtime)?;
    let served = runtime.block_on(serve(bridge, &config));
    // A thread may still wait for standard input; nobody waits for it.
    runtime.shutdown_background();
    served?;
    Ok(None)
}

async fn serve(bridge: Bridge, config: &Config) -> Result<(), Broken> {
    if !config.listens() {
        return Ok(bridge.serve(BufReader::new(io::stdin()), io::stdout()).await?);
    }
    let mut terminated = signal(SignalKind::terminate()).map_err(Broken::Runtime)?;
    let listening = bridge.listen(config).await.map_err(BridgeError::from)?;
    let Some(listening) = listening else { return Ok(()) };
    // The one place that ever shows a new secret; without a standard error to read, nobody could call.
    writeln!(io::stderr(), "pact-holder: {}", listening.announcement()).map_err(BridgeError::from)?;
    let stop = async {
        tokio::select! {
            // A signal that cannot be waited for ends the program at once, which is what it would do anyway.
            _ = tokio::signal::ctrl_c() => {}
            _ = terminated.recv() => {}
        }
    };
    listening.serve(stop).await;
    Ok(())
}

/// The options as the file that says the same.
fn as_toml(args: &BridgeArgs) -> Result<String, Broken> {
    let mut upstream = Table::new();
    let url = args.upstream.clone().unwrap_or_default();
    upstream.insert("url".into(), url.clone().into());
    if let Some(audience) = &args.audience {
        upstream.insert("audience".into(), audience.clone().into());
    }
    let mut actions = Table::new();
    for text in &args.action {
        let (tool, action) = text.split_once('=').ok_or_else(|| Broken::Action(text.clone()))?;
        actions.insert(tool.to_owned(), action.into());
    }
    upstream.insert("actions".into(), Value::Table(actions));
    let mut table = Table::new();
    table.insert("key".into(), args.key.clone().unwrap_or_default().display().to_string().into());
    table.insert("upstreams".into(), Value::Array(vec![Value::Table(upstream)]));
    let credentials = [("tenuo", &args.tenuo), ("biscuit", &args.biscuit)].into_iter();
    let credentials = credentials.filter_map(|(format, file)| {
        let mut credential = Table::new();
        credential.insert("format".into(), format.into());
        credential.insert("file".into(), file.as_ref()?.display().to_string().into());
        credential.insert("upstreams".into(), Value::Array(vec![url.clone().into()]));
        Some(Value::Table(credential))
    });
    table.insert("credentials".into(), Value::Array(credentials.collect()));
    // A table of texts always has a form.
    Ok(toml::to_string(&table).unwrap_or_default())
}

#[expect(clippy::disallowed_methods, reason = "the clock that proofs are dated by is read here")]
fn clock() -> Clock {
    let started = Instant::now();
    Clock::new(move || {
        // A clock before 1970 or after 9999 makes proofs that every sidecar refuses for their time.
        let passed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = UnixTime::try_from(passed.as_secs()).unwrap_or(UnixTime::EPOCH);
        Now::new(wall, Monotonic::from_origin(started.elapsed()))
    })
}
