//! `pact-verify receipt`: files of receipts, checked offline.

use std::{
    fs::{self, File},
    io::{self, BufReader, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use pact_mandate::{KeyId, PublicKey, jwks::KeySet};
use pact_verifier::receipt::{Keys, Line, Lines, ReceiptReader};

use super::{Unjudged, inputs::read_bytes};

mod report;

use report::{Fault, Report};

/// Which files, by which keys.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Files in the order in which they were written, or the one folder that a sidecar keeps them in.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A receipt key of the sidecar: KEY or KID:KEY, 43 characters of base64url. May be repeated.
    #[arg(long = "key", value_name = "KEY")]
    keys: Vec<String>,
    /// Its published receipt keys (/.well-known/pact-receipt-keys.json on the admin port).
    #[arg(long = "keys", value_name = "FILE", conflicts_with = "keys")]
    key_set: Option<PathBuf>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> ExitCode {
    let report = match check(arguments) {
        Ok(report) => report,
        Err(unjudged) => Report::unjudged(&unjudged),
    };
    let text = if arguments.json { report.as_json() } else { report.in_words() };
    let _ = writeln!(io::stdout(), "{text}");
    ExitCode::from(report.exit_code())
}

fn check(arguments: &Arguments) -> Result<Report, Unjudged> {
    let keys = keys(arguments)?;
    let mut reader = ReceiptReader::new(keys.as_ref().map_or(Keys::Unknown, Keys::Known));
    for path in files(&arguments.files)? {
        if let Some(fault) = read(&mut reader, &path)? {
            return Ok(Report::broken(reader.tally(), fault));
        }
    }
    Ok(Report::whole(reader.tally(), keys.is_some()))
}

/// `None` when none was given: then nothing that is signed can be believed.
fn keys(arguments: &Arguments) -> Result<Option<KeySet>, Unjudged> {
    if let Some(path) = &arguments.key_set {
        let set = KeySet::from_document(&read_bytes(path)?);
        return set.map(Some).map_err(|error| Unjudged::new(path.display(), error));
    }
    if arguments.keys.is_empty() {
        return Ok(None);
    }
    let keys: Vec<(KeyId, PublicKey)> =
        arguments.keys.iter().map(|text| key(text)).collect::<Result<_, _>>()?;
    KeySet::new(keys).map(Some).map_err(|error| Unjudged::new("--key", error))
}

fn key(text: &str) -> Result<(KeyId, PublicKey), Unjudged> {
    let wrong = |error| Unjudged::new("--key", error);
    if let Some((id, key)) = text.split_once(':') {
        return Ok((id.parse().map_err(wrong)?, key.parse().map_err(wrong)?));
    }
    let key: PublicKey = text.parse().map_err(wrong)?;
    Ok((key.thumbprint().into(), key))
}

/// Of a folder, those with a sidecar's names, by their numbers.
fn files(given: &[PathBuf]) -> Result<Vec<PathBuf>, Unjudged> {
    let [folder] = given else { return Ok(given.to_vec()) };
    if !folder.is_dir() {
        return Ok(given.to_vec());
    }
    let unreadable = |error: io::Error| Unjudged::new(folder.display(), error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        let number = name.and_then(|name| name.strip_suffix(".jsonl"));
        found.extend(number.and_then(|number| number.parse::<u64>().ok()).map(|number| (number, path)));
    }
    found.sort();
    if found.is_empty() {
        return Err(Unjudged::new(folder.display(), "there are no receipts in it"));
    }
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

/// Reads one file to its end, or to the first line that does not hold.
fn read(reader: &mut ReceiptReader<'_>, path: &Path) -> Result<Option<Fault>, Unjudged> {
    let unreadable = |error: io::Error| Unjudged::new(path.display(), error);
    let mut lines = Lines::new(BufReader::new(File::open(path).map_err(unreadable)?));
    reader.file();
    loop {
        match lines.next().map_err(unreadable)? {
            Line::Whole(line) => {
                if let Err(fault) = reader.line(line) {
                    return Ok(Some(Fault::new(path, &fault)));
                }
            }
            Line::Torn(bytes) => reader.torn(bytes),
            Line::End => return Ok(None),
        }
    }
}
