//! `pact-holder`: the agent's key on the command line.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
