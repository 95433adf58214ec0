//! The command `pact-issuer`: thin over the library of the same name.

mod cli;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    let asked = cli::Asked::parse();
    let json = asked.json;
    match cli::run(asked) {
        Ok(answer) => cli::output::answer(&answer, json),
        Err(error) => cli::output::refusal(&error, json),
    }
}
