//! The laws of a log: what was written is read, and whatever else is told.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::samples::{at, key, keys};

fn entry(content: &Value) -> Entry {
    Entry::new(content).unwrap()
}

fn log() -> ChainLog {
    ChainLog::begin(LogId::from_random([7; 16]))
}

/// A log of those entries, with a checkpoint wherever there is none.
fn written(entries: &[Option<Value>]) -> Vec<Vec<u8>> {
    let mut log = log();
    entries
        .iter()
        .map(|content| {
            let line = match content {
                Some(content) => log.entry(&entry(content)).unwrap(),
                None => log.checkpoint(at(0), &key(1)).unwrap(),
            };
            log.written(&line);
            line.bytes().strip_suffix(b"\n").unwrap().to_vec()
        })
        .collect()
}

fn read(lines: &[Vec<u8>]) -> Result<(Vec<Option<Value>>, Standing), Broken> {
    let mut reader = ChainReader::new();
    let mut entries = Vec::new();
    for line in lines {
        entries.push(match reader.read(line, &keys())? {
            Read::Entry(entry) => Some(entry),
            Read::Checkpoint(_) => None,
        });
    }
    Ok((entries, reader.standing().unwrap()))
}

fn sample() -> Vec<Vec<u8>> {
    written(&[Some(json!({"n": 1})), Some(json!({"n": 2})), None, Some(json!({"n": 3}))])
}

#[test]
fn m7_a_line_is_canonical_and_names_the_one_before() {
    let lines = sample();
    let first = String::from_utf8(lines[0].clone()).unwrap();
    let zeros = "A".repeat(43);
    assert_eq!(
        first,
        format!(r#"{{"entry":{{"n":1}},"log":"BwcHBwcHBwcHBwcHBwcHBw","previous":"{zeros}","seq":0}}"#)
    );
    let second: Value = serde_json::from_slice(&lines[1]).unwrap();
    assert_eq!(second["previous"], URL_SAFE_NO_PAD.encode(Sha256::digest(&lines[0])));
}

#[test]
fn m7_lines_after_the_last_checkpoint_are_told_apart() {
    let (_, standing) = read(&sample()).unwrap();
    assert_eq!((standing.first, standing.lines, standing.unsealed), (0, 4, 1));
    assert_eq!(standing.sealed_at, Some(at(0)));
    let (_, standing) = read(&sample()[2..]).unwrap();
    assert_eq!((standing.first, standing.lines), (2, 2), "a later file of a log is read from its first line");
}

#[test]
fn m7_a_line_that_was_not_written_does_not_count() {
    let mut log = log();
    drop(log.entry(&entry(&json!(1))).unwrap());
    let line = log.entry(&entry(&json!(2))).unwrap();
    log.written(&line);
    assert!(String::from_utf8_lossy(line.bytes()).contains(r#""seq":0"#));
    assert_eq!(log.unsealed(), 1);
}

#[test]
fn m7_a_removed_doubled_or_exchanged_line_is_told() {
    let lines = sample();
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
    for at in 1..3 {
        let why = read(&without(at)).unwrap_err().why;
        assert!(matches!(why, WhyBroken::OutOfPlace { .. }), "{why}");
    }
    let doubled = [&lines[..1], &lines[..]].concat();
    assert!(matches!(read(&doubled).unwrap_err().why, WhyBroken::OutOfPlace { .. }));
    let mut exchanged = lines.clone();
    exchanged.swap(0, 1);
    assert!(read(&exchanged).is_err());
}

#[test]
fn m7_a_line_of_another_log_is_told() {
    let mut other = ChainLog::begin(LogId::from_random([8; 16]));
    let line = other.entry(&entry(&json!({"n": 1}))).unwrap();
    other.written(&line);
    let line = other.entry(&entry(&json!({"n": 2}))).unwrap();
    let mut lines = sample();
    lines[1] = line.bytes().strip_suffix(b"\n").unwrap().to_vec();
    assert!(matches!(read(&lines).unwrap_err().why, WhyBroken::OtherLog { .. }));
}

#[test]
fn m7_a_history_that_was_written_anew_fails_at_the_next_checkpoint() {
    let honest = sample();
    let forged = written(&[Some(json!({"n": 1})), Some(json!({"n": 9}))]);
    let lines = [&forged[..], &honest[2..]].concat();
    assert_eq!(read(&lines).unwrap_err(), Broken { line: 3, why: WhyBroken::Unlinked });
}

#[test]
fn k1_a_checkpoint_by_a_key_outside_the_ring_is_refused() {
    let line = log().checkpoint(at(0), &key(2)).unwrap();
    let line = line.bytes().strip_suffix(b"\n").unwrap().to_vec();
    assert!(matches!(read(&[line]).unwrap_err().why, WhyBroken::Checkpoint(SignedError::UnknownKey(_))));
}

#[test]
fn m7_a_signed_checkpoint_does_not_serve_at_another_place() {
    let elsewhere = written(&[Some(json!(1)), None]);
    let signed: Value = serde_json::from_slice(&elsewhere[1]).unwrap();
    let zeros = "A".repeat(43);
    let moved =
        json!({"checkpoint": signed["checkpoint"], "log": signed["log"], "previous": zeros, "seq": 0});
    let moved = crate::canonical::to_bytes(&moved).unwrap();
    assert_eq!(read(&[moved]).unwrap_err().why, WhyBroken::Misplaced);
}

#[test]
fn m7_a_line_holds_one_thing() {
    let zeros = "A".repeat(43);
    let empty = format!(r#"{{"log":"BwcHBwcHBwcHBwcHBwcHBw","previous":"{zeros}","seq":0}}"#);
    assert_eq!(read(&[empty.into_bytes()]).unwrap_err().why, WhyBroken::NotOne);
    let long = vec![b' '; crate::limits::MAX_LOG_LINE_BYTES + 1];
    assert_eq!(read(&[long]).unwrap_err().why, WhyBroken::TooLong);
}

#[test]
fn m7_a_line_that_no_reader_takes_is_not_made() {
    let long = entry(&json!("x".repeat(crate::limits::MAX_LOG_LINE_BYTES)));
    assert_eq!(log().entry(&long).unwrap_err(), ChainLogError::TooLong);
}

#[test]
fn m7_a_checkpoint_that_was_not_opened_seals_nothing() {
    let lines = written(&[Some(json!(1)), None]);
    let mut reader = ChainReader::new();
    reader.link::<Value>(&lines[0]).unwrap();
    let Linked::Checkpoint(checkpoint) = reader.link::<Value>(&lines[1]).unwrap() else { panic!() };
    assert_eq!(reader.standing().unwrap().unsealed, 2);
    let mut elsewhere = ChainReader::new();
    assert_eq!(elsewhere.seal(checkpoint.clone(), &keys()).unwrap_err().why, WhyBroken::Misplaced);
    assert_eq!(*reader.seal(checkpoint, &keys()).unwrap().key(), *crate::Signer::public_key(&key(1)));
    assert_eq!(reader.standing().unwrap().unsealed, 0);
}

fn entries() -> impl Strategy<Value = Vec<Option<Value>>> {
    let entry = prop_oneof![
        1 => Just(None),
        4 => (any::<u32>(), "\\PC{0,8}").prop_map(|(n, text)| Some(json!({"n": n, "text": text}))),
    ];
    proptest::collection::vec(entry, 1..12)
}

proptest! {
    #[test]
    fn m7_what_was_written_is_read(entries in entries()) {
        let (read, standing) = read(&written(&entries)).unwrap();
        prop_assert_eq!(&read, &entries);
        prop_assert_eq!(standing.lines, u64::try_from(entries.len()).unwrap());
    }

    /// Any changed byte is told by its own line or by the one after it; of the last line, by nobody, unless it is a
    /// checkpoint: it is unsealed.
    #[test]
    fn m7_any_changed_byte_before_a_checkpoint_is_told(
        entries in entries(),
        line: prop::sample::Index,
        byte: prop::sample::Index,
        mask in 1..=255u8,
    ) {
        let mut lines = written(&entries);
        lines.extend(written(&entries.iter().cloned().chain([None]).collect::<Vec<_>>()).pop());
        let line = line.index(lines.len());
        let byte = byte.index(lines[line].len());
        lines[line][byte] ^= mask;
        prop_assert!(read(&lines).is_err());
    }

    #[test]
    fn m7_any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        prop_assert!(read(&[bytes]).is_err());
    }
}
