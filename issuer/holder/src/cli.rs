//! The commands. They alone read the clock and the random source, and print.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::{SystemTime, UNIX_EPOCH},
};

use clap::{Args, Parser, Subcommand};
use pact_holder::{
    Holder, SignError, call, error::FileError, file, limits::MAX_CREDENTIAL_BYTES, sign_dpop, sign_tenuo,
    sign_tenuo_stock,
};
use pact_mandate::{Action, Asked, Json, UnixTime, json::JsonError, key::KeyError, keyfile::KeyFileError};
use pact_verifier::proof::{Audience, FreshProof};
use serde_json::{Value, json};

mod act;
#[cfg(feature = "bridge")]
mod bridge;
mod request;

use request::Request;

const EXAMPLES: &str = "\
Examples:
  pact-holder keygen --key agent.key
      makes a key, keeps it in agent.key (mode 0600) and prints its public half, which the issuer needs

  pact-holder sign --key agent.key --tenuo stack.txt --audience http://127.0.0.1:8080/mcp \\
      --tool refund_order --action order.refund --arguments '{\"project\":\"shop\",\"order\":7,\"amount_usd\":5}'
      prints {\"_meta\":{…}}: put these members into params._meta of that one call

  pact-holder sign --key agent.key --biscuit token.txt --audience http://127.0.0.1:8080/mcp \\
      --tool refund_order --arguments @arguments.json
      prints {\"headers\":{\"Authorization\":…,\"DPoP\":…},\"_meta\":{…}}: use the one or the other, not both

  pact-holder sign … --request | curl --data-binary @- … http://127.0.0.1:8080/mcp
      prints the whole JSON-RPC request tools/call, with credential and proof in it

  pact-holder bridge --config bridge.toml
  pact-holder bridge --upstream https://tools.example.org/mcp --key agent.key --tenuo stack.txt
      is an MCP server on standard input and output, for Claude Code, Claude Desktop, Cursor and the like

  pact-holder bridge --config bridge.toml --listen 127.0.0.1:7777
      is one over HTTP, for this machine alone; the URL to use is shown when it starts

A proof is for one call, once, within a minute. Sign again for the next call.";

/// The agent's side of PACT Gateway: keeps the agent's key, and makes the proof that goes with each call.
#[derive(Parser)]
#[command(name = "pact-holder", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Makes a new key, writes it to a file of mode 0600 and prints the public key.
    Keygen(KeyArgs),
    /// Prints the public key of a key file.
    Public(KeyArgs),
    /// Makes the proof for one call and prints what to send with it, as JSON.
    Sign(Box<SignArgs>),
    /// Makes the proof for one act on a session of the 2025 protocol, and prints the headers that carry it.
    SignAct(Box<act::ActArgs>),
    /// Serves an MCP client on standard input and output, or local HTTP, and passes its calls on with credential and proof.
    #[cfg(feature = "bridge")]
    Bridge(Box<bridge::BridgeArgs>),
}

#[derive(Args)]
struct KeyArgs {
    /// The key file: the seed in base64url, readable by its owner alone.
    #[arg(long, value_name = "FILE")]
    key: PathBuf,
}

#[derive(Args)]
struct SignArgs {
    #[command(flatten)]
    key: KeyArgs,
    /// The file with a Tenuo warrant stack as it was exported; - for standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "biscuit", conflicts_with = "biscuit")]
    tenuo: Option<PathBuf>,
    /// The file with a Biscuit token as it was exported; - for standard input.
    #[arg(long, value_name = "FILE")]
    biscuit: Option<PathBuf>,
    /// The tool's own name, as the tool server lists it.
    #[arg(long, value_name = "NAME")]
    tool: String,
    /// What the credential calls the tool, when that is another name (Tenuo; the sidecar's policy file says it).
    #[arg(long, value_name = "NAME")]
    action: Option<Action>,
    /// The call's arguments: a JSON object, or @FILE.
    #[arg(long, value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// The call's whole params, when they hold more than name, arguments and _meta: a JSON object, or @FILE.
    #[arg(long, value_name = "JSON")]
    params: Option<String>,
    /// The public URL of the sidecar, letter by letter as its configuration has it (`audience`).
    #[arg(long, value_name = "URL", required_unless_present = "stock")]
    audience: Option<Audience>,
    /// Make the proof that any Tenuo verifier takes. It is not bound to a place, and counts for a 30-second window.
    #[arg(long, requires = "tenuo", conflicts_with_all = ["audience", "params"])]
    stock: bool,
    /// Print the whole JSON-RPC request, with credential and proof in its _meta.
    #[arg(long)]
    request: bool,
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
enum CliError {
    #[error(transparent)]
    KeyFile(#[from] KeyFileError),
    #[error(transparent)]
    Key(#[from] KeyError),
    #[error(transparent)]
    Sign(#[from] SignError),
    #[error(transparent)]
    File(#[from] FileError),
    #[error("{what}: {fault}")]
    Json { what: &'static str, fault: JsonError },
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    #[error("the system clock stands before 1970 or after 9999")]
    Clock,
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("the result has no JSON form: {0}")]
    Result(#[from] serde_json::Error),
    #[cfg(feature = "bridge")]
    #[error(transparent)]
    Bridge(#[from] bridge::Broken),
}

pub(crate) fn run() -> ExitCode {
    let written = execute(Cli::parse()).and_then(|text| match text {
        Some(text) => Ok(writeln!(io::stdout(), "{text}")?),
        None => Ok(()),
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Nothing is left to do when standard error is gone as well.
            let _ = writeln!(io::stderr(), "pact-holder: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What is to be printed, if anything.
fn execute(cli: Cli) -> Result<Option<String>, CliError> {
    Ok(Some(match cli.command {
        Command::Keygen(args) => {
            let holder = Holder::from_seed(&random()?)?;
            holder.write_file(&args.key)?;
            holder.public_key().to_string()
        }
        Command::Public(args) => Holder::read_file(&args.key)?.public_key().to_string(),
        Command::Sign(args) if args.request => serde_json::to_string(&request(&args)?)?,
        Command::Sign(args) => sign(&args)?.to_string(),
        Command::SignAct(args) => act::sign(&args)?.to_string(),
        #[cfg(feature = "bridge")]
        Command::Bridge(args) => return Ok(bridge::run(&args)?),
    }))
}

fn sign(args: &SignArgs) -> Result<Value, CliError> {
    let holder = Holder::read_file(&args.key.key)?;
    let asked = asked(args)?;
    if let Some(path) = &args.biscuit {
        let audience = args.audience.as_ref().ok_or(CliError::Missing("--audience"))?;
        let proof = sign_dpop(&holder, read_text(path)?.trim(), &asked, audience, random()?, now()?)?;
        let headers = json!({"Authorization": proof.authorization(), "DPoP": proof.dpop()});
        return Ok(json!({"headers": headers, "_meta": proof.meta()}));
    }
    let stack = read_text(args.tenuo.as_deref().ok_or(CliError::Missing("--tenuo"))?)?;
    let action = match &args.action {
        Some(action) => action.clone(),
        None => args.tool.parse().map_err(|_| CliError::Missing("--action"))?,
    };
    let proof = if args.stock {
        sign_tenuo_stock(&holder, stack.trim(), &action, &asked.arguments, now()?)?
    } else {
        let audience = args.audience.as_ref().ok_or(CliError::Missing("--audience"))?;
        let fresh = FreshProof { id: random()?, issued_at: now()? };
        sign_tenuo(&holder, stack.trim(), &action, &asked, audience, &fresh)?
    };
    Ok(json!({"_meta": serde_json::to_value(proof)?}))
}

fn request(args: &SignArgs) -> Result<Request, CliError> {
    let mut signed = sign(args)?;
    let proof =
        signed.get_mut("_meta").and_then(Value::as_object_mut).map(std::mem::take).unwrap_or_default();
    let params = args.params.as_deref().map(text_of).transpose()?;
    Ok(Request::new(&args.tool, &text_of(&args.arguments)?, params.as_deref(), proof)?)
}

fn asked(args: &SignArgs) -> Result<Asked, CliError> {
    let arguments = read_json("--arguments", &args.arguments)?;
    match &args.params {
        None => Ok(call::tool_call(&args.tool, arguments)?),
        Some(params) => {
            let params = read_json("--params", params)?;
            Ok(call::tool_call_with(&args.tool, arguments, call::TOOLS_CALL, &params)?)
        }
    }
}

fn read_json(what: &'static str, text: &str) -> Result<Json, CliError> {
    Json::parse(text_of(text)?.as_bytes()).map_err(|fault| CliError::Json { what, fault })
}

/// The text itself, or that of the file after an `@`.
fn text_of(text: &str) -> Result<String, CliError> {
    match text.strip_prefix('@') {
        Some(path) => read_text(Path::new(path)),
        None => Ok(text.to_owned()),
    }
}

fn read_text(path: &Path) -> Result<String, CliError> {
    let is_stdin = path == Path::new("-");
    Ok(if is_stdin {
        file::read_stdin(MAX_CREDENTIAL_BYTES)?
    } else {
        file::read_text(path, MAX_CREDENTIAL_BYTES)?
    })
}

fn random<const N: usize>() -> Result<[u8; N], CliError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

#[expect(clippy::disallowed_methods, reason = "a command reads the clock once, here")]
fn now() -> Result<UnixTime, CliError> {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| CliError::Clock)?;
    UnixTime::try_from(passed.as_secs()).map_err(|_| CliError::Clock)
}
