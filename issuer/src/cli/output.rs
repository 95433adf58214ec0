//! Words out: for a person, or one JSON object a line.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use serde_json::{Value, json};

use crate::cli::error::CliError;

/// What a command found or did.
pub(crate) struct Answer {
    /// For a program.
    pub(crate) json: Value,
    /// For a person.
    pub(crate) text: String,
}

impl Answer {
    pub(crate) fn new(json: Value, text: impl Into<String>) -> Answer {
        Answer { json, text: text.into() }
    }
}

/// Prints an answer. A closed pipe is the reader's wish.
pub(crate) fn answer(answer: &Answer, json: bool) -> ExitCode {
    let printed = if json {
        writeln!(io::stdout(), "{}", answer.json)
    } else if answer.text.is_empty() {
        Ok(())
    } else {
        writeln!(io::stdout(), "{}", answer.text)
    };
    match printed.and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Prints why a command did nothing.
pub(crate) fn refusal(error: &CliError, json: bool) -> ExitCode {
    let text = error.to_string();
    let _ = if json {
        writeln!(io::stderr(), "{}", json!({ "error": text }))
    } else {
        writeln!(io::stderr(), "pact-issuer: {text}")
    };
    ExitCode::FAILURE
}
