//! `cargo quickstart`: the whole product at work on real parts.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use pact_examples::{
    invitation::{self, InvitationError},
    report::{Form, Report},
    stage::{Stage, StageError},
    story::{Ending, Story, StoryError},
};

/// Starts an issuer, an MCP tool server and a sidecar in front of it, on free loopback ports and in a temporary folder,
/// and plays a story with them: calls that are allowed, calls that are refused with the reason, a key rotation, a
/// revocation, and an issuer that falls silent. One line a step, with what was expected and what happened.
#[derive(Parser)]
#[command(name = "quickstart")]
struct Options {
    /// End after the story, with a non-zero exit code when any step went otherwise than expected. Without it everything
    /// stays up, and commands to try are printed.
    #[arg(long)]
    exit: bool,
    /// Write one JSON object a line.
    #[arg(long)]
    json: bool,
}

/// Why the quickstart breaks off.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("the parts do not start: {0}")]
    Stage(#[from] StageError),
    #[error("the story breaks off: {0}")]
    Story(#[from] StoryError),
    #[error("what is left to try: {0}")]
    Invitation(#[from] InvitationError),
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

#[tokio::main]
async fn main() -> ExitCode {
    // Another provider cannot have been installed: this is the first thing that runs.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match play(&Options::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(broken) => {
            // Nothing is left to do when standard error is gone as well.
            let _ = writeln!(io::stderr(), "quickstart: {broken}");
            ExitCode::FAILURE
        }
    }
}

async fn play(options: &Options) -> Result<bool, Broken> {
    let form = if options.json { Form::Json } else { Form::Text };
    let mut report = Report::new(io::stdout(), form);
    report.note(
        "starting issuer, tool server and sidecar; the sidecar says that it is ready once its memory of used proofs is older \
         than any proof may be (some seconds)",
    )?;
    let mut stage = Stage::set().await?;
    let ending = if options.exit { Ending::IssuerStops } else { Ending::StaysUp };
    let remaining = Story::play(&mut stage, &mut report, ending).await?;
    let right = report.finish()?;
    if !options.exit {
        report.note(&invitation::prepare(&stage, &remaining).await?)?;
        tokio::select! {
            // A signal that cannot be waited for ends the program at once, which is what it would do anyway.
            _ = tokio::signal::ctrl_c() => {}
            () = invitation::keep_fresh(&stage) => {}
        }
    }
    Ok(right)
}
