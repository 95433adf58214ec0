//! `pact-verify`: judges a call offline, from files.

use std::process::ExitCode;

use clap::Parser;

mod cli;

fn main() -> ExitCode {
    cli::run(&cli::Arguments::parse())
}
