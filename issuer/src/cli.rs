//! The command line: words in, records through the library, words out.

mod args;
mod clock;
mod error;
mod grant;
mod keys;
mod list;
mod mandates;
pub(crate) mod output;
mod publishing;
mod setup;

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use pact_issuer::store::Store;

use crate::cli::{
    args::{
        CompactArgs, DelegateArgs, ExportArgs, InitArgs, KeysArgs, MintArgs, PublishArgs, RevokeArgs,
        ServeArgs, TraceArgs,
    },
    error::CliError,
    output::Answer,
};

const ABOUT: &str = "Grants mandates to agents, exports them as credentials, revokes them, and publishes keys and lists.

A first round:
  pact-issuer init --issuer example
  pact-issuer mint --human boss --holder agent-a --scope task.read@project:web --limit cost_usd=10 --delegations 1
  pact-issuer delegate --parent MANDATE --holder agent-b --scope task.read@project:web --limit cost_usd=2.5
  pact-issuer export MANDATE --format tenuo --holder-key KEY
  pact-issuer serve --listen 127.0.0.1:8780
  pact-issuer revoke MANDATE
  pact-issuer trace ID

MANDATE is the id that mint and delegate print. KEY is the agent's public key (43 characters of base64url), as
`pact-holder keygen` prints it. Everything is kept in the folder that --dir names.";

/// What was asked on the command line.
#[derive(Parser)]
#[command(name = "pact-issuer", version, about = "Issues mandates and credentials", long_about = ABOUT)]
pub(crate) struct Asked {
    /// The data folder; `init` makes it, for its owner alone.
    #[arg(long, global = true, default_value = "pact-issuer-data", value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Answer in JSON, one object a line.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Make a data folder with its first keys and its first, empty, revocation list.
    Init(InitArgs),
    /// Show the keys, or move one role on to its next key.
    Keys(KeysArgs),
    /// Grant a mandate in a person's name: the root of a chain.
    Mint(MintArgs),
    /// Hand a mandate on, narrower, in its holder's name.
    Delegate(DelegateArgs),
    /// Make a credential of a mandate for an agent's key, and print it.
    Export(ExportArgs),
    /// Revoke a mandate, a credential or a key, and everything below it, in every format. This is final.
    Revoke(RevokeArgs),
    /// Show the whole chain of a mandate, warrant or block id up to its human, with every state.
    Trace(TraceArgs),
    /// Show all mandates and credentials, and what is listed.
    List,
    /// Leave out of the journal what ended long ago, so that commands stay fast; the old journal is kept beside it.
    Compact(CompactArgs),
    /// Write keys and lists as static files for any web server.
    Publish(PublishArgs),
    /// Serve keys and lists over HTTP.
    Serve(ServeArgs),
}

/// Does what was asked.
pub(crate) fn run(asked: Asked) -> Result<Answer, CliError> {
    let now = clock::now();
    if let Command::Init(args) = &asked.command {
        return setup::init(&asked.dir, args, now);
    }
    let mut store = Store::open(&asked.dir)?;
    match asked.command {
        Command::Init(args) => setup::init(&asked.dir, &args, now),
        Command::Keys(args) => keys::run(&mut store, &args, now),
        Command::Mint(args) => mandates::mint(&mut store, args, now),
        Command::Delegate(args) => mandates::delegate(&mut store, args, now),
        Command::Export(args) => mandates::export(&mut store, &args, now),
        Command::Revoke(args) => mandates::revoke(&mut store, &args, now),
        Command::Trace(args) => list::trace(&store, &args, now),
        Command::List => list::list(&store, now),
        Command::Compact(args) => list::compact(&mut store, &args, now),
        Command::Publish(args) => publishing::publish(store, &args, asked.json),
        Command::Serve(args) => publishing::serve(store, &asked.dir, &args, asked.json),
    }
}
