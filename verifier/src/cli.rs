//! The command line: what is asked, and the exit code of the answer.

use std::{
    fmt,
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use clap::{Args, Parser, Subcommand};
use pact_mandate::{Monotonic, Now, UnixTime};

mod climb;
mod inputs;
mod list_files;
mod receipts;
mod request;
mod trust_file;
mod verdict;
mod words;

use inputs::Inputs;

/// Judge a call of an AI agent offline: credential, proof, revocation list and policy, all from files.
#[derive(Parser)]
#[command(name = "pact-verify", version, after_long_help = AFTER_HELP)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Exit codes: 0 permitted, 1 refused, 2 could not be judged (a file that cannot be read, or no --state).
For receipts: 0 they hold, 1 they do not, 2 could not be judged (a file that cannot be read, or no key).

The trust file (TOML; paths are relative to it):
  [[issuers]]
  id = \"https://issuer.example.org\"
  formats = [\"tenuo\", \"biscuit\"]      # what its credentials may be
  actions = [\"task.*\"]                # for which actions, in which projects
  projects = [\"web\"]                  # [\"*\"] alone for every project
  keys = \"pact-keys.json\"             # its published keys, or pinned ones:
  # roots = [{ id = \"k1\", ed25519 = \"base64url\" }, { id = \"k2\", p256 = \"66 lower-case hex digits\" }]
  [issuers.list]
  keys = \"pact-list-keys.json\"        # its published list keys
  head = \"pact\"                       # /.well-known/pact-revocations/pact
  bodies = \"pact.d\"                   # the body, or the folder that holds it under its hash

The policy file (TOML) says what each tool amounts to:
  [tools.read_file]
  action = \"task.read\"
  project = { const = \"web\" }
  args = { cost_usd = { arg = \"cost\", default = 0 } }
  unjudged = [\"path\"]

Example:
  pact-verify check --trust trust.toml --policy policy.toml \\
    --audience https://tools.example.org/mcp --request call.json --state /var/lib/pact-verify
  curl -s http://127.0.0.1:9090/.well-known/pact-receipt-keys.json > receipt-keys.json
  pact-verify receipt --keys receipt-keys.json state/receipts";

#[derive(Subcommand)]
enum Command {
    /// Judge one call and print the verdict as JSON.
    Check(Question),
    /// Judge one call and tell, rung by rung, what was found.
    Explain(Question),
    /// Check a sidecar's receipts: whether any line was changed, moved or taken out, who signed, and what they amount to.
    Receipt(receipts::Arguments),
}

/// What is judged, and by what.
#[derive(Args)]
pub(crate) struct Question {
    /// Whom to believe and for what (TOML; see below).
    #[arg(long, value_name = "FILE")]
    trust: PathBuf,
    /// What each tool amounts to (TOML). Without it each tool is judged by its own name and arguments.
    #[arg(long, value_name = "FILE")]
    policy: Option<PathBuf>,
    /// Without a policy file: take proofs of stock Tenuo clients.
    #[arg(long, conflicts_with = "policy")]
    stock_proofs: bool,
    /// The public URL that proofs must be made for.
    #[arg(long, value_name = "URL")]
    audience: String,
    /// The call: a JSON-RPC request `tools/call`, with its `_meta`; `-` is standard input.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["tool", "args", "credential", "proof"])]
    request: Option<PathBuf>,
    /// Headers that came with the request, one `Name: value` a line (Authorization and DPoP are read).
    #[arg(long, value_name = "FILE", requires = "request")]
    headers: Option<PathBuf>,
    /// Instead of --request: the credential's text; `-` is standard input.
    #[arg(long, value_name = "FILE", required_unless_present = "request", requires_all = ["format", "tool"])]
    credential: Option<PathBuf>,
    /// The credential's format: tenuo or biscuit.
    #[arg(long, value_name = "FORMAT", requires = "credential")]
    format: Option<String>,
    /// The proof (JSON): {"signature", "id", "iat"} of Tenuo, or {"dpop"} of a Biscuit.
    #[arg(long, value_name = "FILE", requires = "credential")]
    proof: Option<PathBuf>,
    /// The tool's name.
    #[arg(long, requires = "credential")]
    tool: Option<String>,
    /// The tool's arguments (a JSON object).
    #[arg(long, value_name = "JSON", default_value = "{}", requires = "tool")]
    args: String,
    /// The moment to judge for: RFC 3339, or seconds since 1970. Now, unless given.
    #[arg(long, value_name = "TIME", value_parser = read_time)]
    now: Option<UnixTime>,
    /// Where used proofs and the floors of lists are kept from one run to the next.
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Judge without single use of proofs; the verdict says so.
    #[arg(long, conflicts_with = "state")]
    without_replay: bool,
}

/// Why nothing could be judged.
#[derive(Debug)]
pub(crate) struct Unjudged {
    /// What was needed.
    what: String,
    /// What happened.
    why: String,
}

impl Unjudged {
    pub(crate) fn new(what: impl fmt::Display, why: impl fmt::Display) -> Unjudged {
        Unjudged { what: what.to_string(), why: why.to_string() }
    }
}

impl fmt::Display for Unjudged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.what, self.why)
    }
}

/// Answers on standard output; a pipe that is closed early changes no verdict.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let (question, explain) = match &arguments.command {
        Command::Check(question) => (question, false),
        Command::Explain(question) => (question, true),
        Command::Receipt(arguments) => return receipts::run(arguments),
    };
    let now = question.now.map_or_else(clock, at);
    let verdict = match Inputs::read(question, now) {
        Ok(inputs) => climb::judge(inputs, now),
        Err(unjudged) => verdict::Verdict::unjudged(&unjudged, now),
    };
    let text = if explain { verdict.in_words() } else { verdict.as_json() };
    let _ = writeln!(io::stdout(), "{text}");
    ExitCode::from(verdict.exit_code())
}

/// A moment of the wall clock alone: one run judges once, so nothing passes between two readings.
fn at(wall: UnixTime) -> Now {
    Now::new(wall, Monotonic::from_origin(Duration::ZERO))
}

#[expect(clippy::disallowed_methods, reason = "the one reading of the clock, at the edge of the command")]
fn clock() -> Now {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |passed| passed.as_secs());
    at(UnixTime::try_from(seconds).unwrap_or(UnixTime::MAX))
}

fn read_time(text: &str) -> Result<UnixTime, String> {
    let seconds = text.parse::<u64>().ok().and_then(|seconds| UnixTime::try_from(seconds).ok());
    seconds
        .or_else(|| UnixTime::from_rfc3339(text))
        .ok_or_else(|| "a time such as 2027-01-02T03:04:05Z, or seconds since 1970".to_owned())
}
