//! `pact-verify receipt`, as a process.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Output},
};

use pact_mandate::{
    SecretKey, Signer, UnixTime,
    chainlog::{ChainLog, Entry, LogId},
    jwks::KeySet,
};
use pact_verifier::receipt::{After, Closed, Decision, Hex, Opened, Receipt};
use serde_json::Value;
use tempfile::TempDir;

/// Two files of one run, and what is behind the last checkpoint.
struct Desk {
    place: TempDir,
    key: SecretKey,
}

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(1_800_000_000 + seconds).unwrap()
}

fn refusal(code: &str) -> Receipt {
    Receipt {
        act: None,
        action: None,
        at: at(1),
        call: None,
        code: Some(code.to_owned().try_into().unwrap()),
        credential: None,
        decision: Decision::Refuse,
        left_out: Some(2),
        list: None,
        policy: Hex([1; 32]),
        proof: None,
        request: Hex([2; 16]),
        trace: None,
        trust: Hex([3; 32]),
        typ: <_>::default(),
        unverified_credential: None,
    }
}

impl Desk {
    fn new() -> Desk {
        let desk = Desk { place: TempDir::new().unwrap(), key: SecretKey::from_seed(&[7; 32]).unwrap() };
        let mut log = ChainLog::begin(LogId::from_random([1; 16]));
        let mut text = Vec::new();
        let opened = |after, file| {
            Some(Entry::new(&Opened { after, at: at(0), file: Some(file), typ: <_>::default() }).unwrap())
        };
        desk.put(&mut log, opened(None, 1), &mut text);
        desk.put(&mut log, Some(Entry::new(&refusal("batch")).unwrap()), &mut text);
        desk.put(&mut log, None, &mut text);
        fs::write(desk.file(1), &text).unwrap();
        text.clear();
        let after = After { file: 1, last: log.last(), torn: None };
        desk.put(&mut log, opened(Some(after), 2), &mut text);
        desk.put(&mut log, None, &mut text);
        desk.put(&mut log, Some(Entry::new(&refusal("json_syntax")).unwrap()), &mut text);
        let closed = Closed { at: at(9), left_out: 0, typ: <_>::default() };
        desk.put(&mut log, Some(Entry::new(&closed).unwrap()), &mut text);
        fs::write(desk.file(2), &text).unwrap();
        desk
    }

    /// Writes the line of an entry, or a checkpoint where there is none.
    fn put(&self, log: &mut ChainLog, entry: Option<Entry>, text: &mut Vec<u8>) {
        let line = match entry {
            Some(entry) => log.entry(&entry),
            None => log.checkpoint(at(2), &self.key),
        };
        let line = line.unwrap();
        log.written(&line);
        text.extend_from_slice(line.bytes());
    }

    fn file(&self, number: u8) -> PathBuf {
        self.place.path().join(format!("0000000{number}.jsonl"))
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_pact-verify"))
            .arg("receipt")
            .args(arguments.iter().map(|it| it.replace("DIR", &self.place.path().display().to_string())))
            .output()
            .unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
    }

    fn key(&self) -> String {
        self.key.public_key().to_string()
    }
}

#[test]
fn m7_receipts_are_checked_offline_and_told_in_words_and_as_json() {
    let desk = Desk::new();
    let (exit, words) = desk.run(&["--key", &desk.key(), "DIR/00000001.jsonl", "DIR/00000002.jsonl"]);
    assert_eq!(exit, 0, "{words}");
    for said in [
        "7 lines in 2 files of 1 run: 2 checkpoints",
        "0 permitted (0 to a bearer), 0 acts on sessions, 2 refused, 0 ended",
        "1  batch",
        "4 more refusals of callers nobody knows",
        "2 lines behind the last checkpoint",
        desk.key.key_id().as_str(),
        "verdict: the receipts hold",
    ] {
        assert!(words.contains(said), "{said} in {words}");
    }
    let set = KeySet::new(vec![(desk.key.key_id().clone(), *desk.key.public_key())]).unwrap();
    fs::write(desk.place.path().join("keys.json"), set.to_document()).unwrap();
    let (exit, json) = desk.run(&["--keys", "DIR/keys.json", "--json", "DIR"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((exit, json["verdict"].as_str()), (0, Some("holds")));
    assert_eq!((json["lines"].as_u64(), json["codes"]["json_syntax"].as_u64()), (Some(7), Some(1)));
    assert_eq!((json["unsealed"].as_u64(), json["closed"].as_bool()), (Some(2), Some(true)));
}

#[test]
fn m7_a_changed_line_and_a_missing_file_are_told_with_their_place() {
    let desk = Desk::new();
    let (exit, words) = desk.run(&["--key", &desk.key(), "DIR/00000002.jsonl"]);
    assert!(exit == 0 && words.contains("the file number 1, which comes before, was not given"), "{words}");
    let text = fs::read_to_string(desk.file(1)).unwrap();
    fs::write(desk.file(1), text.replace("\"batch\"", "\"butch\"")).unwrap();
    let (exit, json) = desk.run(&["--key", &desk.key(), "--json", "DIR"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((exit, json["verdict"].as_str()), (1, Some("broken")));
    assert_eq!(json["fault"]["line"], 3);
    assert!(json["fault"]["file"].as_str().unwrap().ends_with("00000001.jsonl"));
    let (exit, words) = desk.run(&["--key", &desk.key(), "DIR"]);
    assert!(exit == 1 && words.contains("verdict: the receipts do not hold"), "{words}");
}

#[test]
fn k1_without_the_key_nothing_is_judged_and_with_another_nothing_holds() {
    let desk = Desk::new();
    let (exit, words) = desk.run(&["DIR"]);
    assert!(
        exit == 2 && words.contains("not judged") && words.contains("checkpoints say to be signed by"),
        "{words}"
    );
    let other = SecretKey::from_seed(&[8; 32]).unwrap().public_key().to_string();
    let (exit, words) = desk.run(&["--key", &other, "DIR"]);
    assert!(exit == 1 && words.contains("no key"), "{words}");
}

#[test]
fn what_cannot_be_read_is_not_judged() {
    let desk = Desk::new();
    for arguments in [
        ["--key", "short", "DIR"],
        ["--key", &desk.key(), "DIR/none.jsonl"],
        ["--keys", "DIR/none.json", "DIR"],
    ] {
        let (exit, words) = desk.run(&arguments);
        assert!(exit == 2 && words.contains("not judged"), "{words}");
    }
}
