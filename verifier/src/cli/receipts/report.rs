//! What was found in files of receipts: as JSON for machines, in words for people.

use std::{collections::BTreeSet, fmt::Write, path::Path};

use pact_mandate::KeyId;
use pact_verifier::receipt::{ReceiptFault, Tally};
use serde::Serialize;

use super::super::Unjudged;

/// The answer.
#[derive(Serialize)]
pub(super) struct Report {
    verdict: Verdict,
    /// Why nothing can be said for sure.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The first line that does not hold; what stands behind it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<Fault>,
    #[serde(flatten)]
    tally: Tally,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Holds,
    Broken,
    NotJudged,
}

/// Where and why it does not hold.
#[derive(Serialize)]
pub(super) struct Fault {
    file: String,
    line: u64,
    why: String,
}

impl Fault {
    pub(super) fn new(path: &Path, fault: &ReceiptFault) -> Fault {
        Fault { file: path.display().to_string(), line: fault.line, why: fault.why.to_string() }
    }
}

impl Report {
    pub(super) fn unjudged(unjudged: &Unjudged) -> Report {
        let reason = Some(unjudged.to_string());
        Report { verdict: Verdict::NotJudged, reason, fault: None, tally: Tally::default() }
    }

    pub(super) fn broken(tally: &Tally, fault: Fault) -> Report {
        Report { verdict: Verdict::Broken, reason: None, fault: Some(fault), tally: tally.clone() }
    }

    /// Everything was read. Without a key nobody knows who wrote it.
    pub(super) fn whole(tally: &Tally, has_key: bool) -> Report {
        let verdict = if has_key { Verdict::Holds } else { Verdict::NotJudged };
        let reason =
            (!has_key).then(|| "no checkpoint was judged: give the receipt key (--key or --keys)".to_owned());
        Report { verdict, reason, fault: None, tally: tally.clone() }
    }

    pub(super) fn exit_code(&self) -> u8 {
        match self.verdict {
            Verdict::Holds => 0,
            Verdict::Broken => 1,
            Verdict::NotJudged => 2,
        }
    }

    pub(super) fn as_json(&self) -> String {
        // Texts and numbers into a string: this cannot fail.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    pub(super) fn in_words(&self) -> String {
        let mut text = String::new();
        if self.tally.lines > 0 {
            self.counts(&mut text);
            self.notes(&mut text);
            self.seals(&mut text);
        }
        if let Some(Fault { file, line, why }) = &self.fault {
            let _ =
                writeln!(text, "{file}, line {line}: {why}. What stands from there on was not looked at.");
        }
        let _ = match (self.verdict, &self.reason) {
            (Verdict::Holds, _) => write!(text, "verdict: the receipts hold"),
            (Verdict::Broken, _) => write!(text, "verdict: the receipts do not hold"),
            (Verdict::NotJudged, reason) => {
                write!(text, "verdict: not judged: {}", reason.as_deref().unwrap_or_default())
            }
        };
        text
    }

    fn counts(&self, text: &mut String) {
        let tally = &self.tally;
        let _ = writeln!(
            text,
            "{} in {} of {}: {}",
            count(tally.lines, "line"),
            count(tally.files, "file"),
            count(tally.logs, "run"),
            count(tally.checkpoints, "checkpoint"),
        );
        if let (Some(first), Some(last)) = (tally.first_at, tally.last_at) {
            let _ = writeln!(text, "from {first} to {last}");
        }
        let _ = writeln!(
            text,
            "{} permitted ({} to a bearer), {} acts on sessions, {} refused, {} ended while the answer ran",
            tally.permitted, tally.bearer, tally.acts, tally.refused, tally.ended
        );
        for (code, number) in &tally.codes {
            let _ = writeln!(text, "  {number:>9}  {code}");
        }
    }

    fn notes(&self, text: &mut String) {
        let tally = &self.tally;
        let mut note = |number: u64, words: &str| {
            if number > 0 {
                let _ = writeln!(text, "{number} {words}");
            }
        };
        note(tally.left_out, "more refusals of callers nobody knows were counted and not written");
        note(tally.lost, "decisions could not be written down");
        note(tally.clock_set_back, "times the clock was set back between two lines");
        note(tally.killed, "runs were killed before they could say that they end");
        note(tally.torn, "bytes at the very end are a line that was never finished, or is being written");
        if let Some(file) = tally.missing_before {
            let _ = writeln!(text, "the file number {file}, which comes before, was not given");
        }
    }

    fn seals(&self, text: &mut String) {
        let tally = &self.tally;
        match tally.sealed_at {
            Some(at) => {
                let _ = writeln!(text, "sealed last at {at}, under {}", names(&tally.keys));
                let _ = writeln!(
                    text,
                    "{} behind the last checkpoint, and {} behind those of earlier runs, which nobody signed for",
                    count(tally.unsealed, "line"),
                    count(tally.unsealed_before, "line")
                );
            }
            None if tally.checkpoints > 0 && !tally.unverified_keys.is_empty() => {
                let _ = writeln!(text, "checkpoints say to be signed by {}", names(&tally.unverified_keys));
            }
            None => {
                let _ = writeln!(text, "no checkpoint: nobody signed for any line");
            }
        }
    }
}

fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

fn names(keys: &BTreeSet<KeyId>) -> String {
    let names: Vec<&str> = keys.iter().map(KeyId::as_str).collect();
    format!("the key {}", names.join(", "))
}
