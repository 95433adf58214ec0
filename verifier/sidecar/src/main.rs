//! `pact-sidecar`: the fail-closed proxy in front of one tool server.

use std::{
    io::{IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Parser, Subcommand};
use pact_mandate::Project;
use pact_sidecar::{
    Config, StartError, Stop, run,
    suggest::{Style, Suggestion},
};
use tracing_subscriber::EnvFilter;

/// The fail-closed proxy in front of one MCP tool server: every tool call needs a credential, a proof of possession and
/// a fresh revocation list, or it is refused.
///
/// The traffic port takes one JSON-RPC message per POST. The admin port answers /livez, /readyz and /metrics.
/// Settings are in one TOML file; README.md explains each. Logs go to standard error; `RUST_LOG` sets their level
/// (info by default).
#[derive(Parser)]
#[command(
    name = "pact-sidecar",
    version,
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The configuration file (TOML).
    #[arg(long, value_name = "FILE", required = true)]
    config: Option<PathBuf>,
    /// Read the configuration and the policy, say what is wrong with them, and stop.
    #[arg(long)]
    check: bool,
    /// Print the configuration in effect, defaults filled in, and stop.
    #[arg(long)]
    print_config: bool,
    /// Write logs as one line of JSON each.
    #[arg(long)]
    log_json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Asks a tool server for its tools and prints a first policy file for it, to be read and changed.
    Suggest {
        /// The tool server, as `upstream.url` will name it.
        #[arg(long, value_name = "URL")]
        upstream: String,
        /// The project that all of its tools belong to.
        #[arg(long)]
        project: Project,
        /// One action a tool, instead of task.read for what only reads and task.work for the rest; prints the command that
        /// mints a mandate for them.
        #[arg(long)]
        own_actions: bool,
        /// Holds each tool back as soon as the server describes it otherwise than now.
        #[arg(long)]
        definitions: bool,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match start(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let causes = std::iter::successors(error.source(), |cause| (*cause).source());
            // Most of our errors say their cause already.
            let unsaid = |text: String, cause: &dyn std::error::Error| match cause.to_string() {
                cause if text.contains(&cause) => text,
                cause => format!("{text}: {cause}"),
            };
            let text = causes.fold(error.to_string(), unsaid);
            let _ = writeln!(std::io::stderr(), "pact-sidecar: {text}");
            ExitCode::FAILURE
        }
    }
}

fn start(arguments: &Arguments) -> Result<(), Box<dyn std::error::Error>> {
    let runtime = || tokio::runtime::Builder::new_multi_thread().enable_all().build();
    if let Some(Command::Suggest { upstream, project, own_actions, definitions }) = &arguments.command {
        let style = Style { own_actions: *own_actions, definitions: *definitions };
        let suggestion = Suggestion::new(upstream, project.clone(), style)?;
        let policy = runtime()?.block_on(suggestion.write())?;
        return Ok(std::io::stdout().write_all(policy.as_bytes())?);
    }
    // The command line was refused without one.
    let file = arguments.config.clone().unwrap_or_default();
    let config = Config::read(&file)?;
    if arguments.print_config {
        return Ok(std::io::stdout().write_all(config.effective().as_bytes())?);
    }
    pact_sidecar::check(&config)?;
    if arguments.check {
        return Ok(writeln!(std::io::stdout(), "{} and its policy are sound", file.display())?);
    }
    log(arguments.log_json);
    // The HTTP clients of this process share one provider of TLS; a second installation would be the same one.
    let _ = rustls::crypto::ring::default_provider().install_default();
    Ok(runtime()?.block_on(serve(config))?)
}

/// Runs until a signal says stop, and then until open answers have ended, or a second signal does not wait for them.
async fn serve(config: Config) -> Result<(), StartError> {
    let (tell, told) = tokio::sync::oneshot::channel();
    let mut stop = Stop::take();
    let twice = async {
        stop.next().await;
        let _ = tell.send(());
        stop.next().await;
    };
    let once = async {
        let _ = told.await;
    };
    tokio::select! {
        ended = run(config, once) => ended,
        () = twice => {
            tracing::warn!("told to stop twice: open answers are cut off");
            Ok(())
        }
    }
}

fn log(json: bool) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("info"));
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    if json {
        subscriber.json().init();
    } else {
        subscriber.init();
    }
}
