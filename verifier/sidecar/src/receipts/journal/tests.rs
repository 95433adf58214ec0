//! What happens to receipts when the disk, the clock, other people or a kill get between.

use std::{
    fs,
    io::{BufReader, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use pact_mandate::{Signer, jwks::KeySet};
use pact_verifier::receipt::{Keys, Line, Lines, ReceiptFault, ReceiptReader, Tally, WhyNoReceipt};
use tempfile::TempDir;

use super::*;
use crate::{
    config::{OnFull, ReceiptsConfig, ReceiptsTo},
    receipts::{FolderError, folder::Folder},
};

struct Desk {
    place: TempDir,
    config: ReceiptsConfig,
    key: SecretKey,
    runs: u8,
}

fn now(seconds: u64) -> Now {
    let wall = UnixTime::try_from(1_800_000_000 + seconds).unwrap();
    Now::new(wall, Monotonic::from_origin(Duration::from_secs(seconds)))
}

/// Something to write; what a receipt holds does not matter to the log.
fn entry() -> chainlog::Entry {
    chainlog::Entry::new(&Gap { at: now(5).wall, lost: 0, typ: <_>::default() }).unwrap()
}

impl Desk {
    fn new() -> Desk {
        let place = tempfile::tempdir().unwrap();
        let config = ReceiptsConfig {
            to: ReceiptsTo::File,
            folder: place.path().join("receipts"),
            rotate_bytes: 1 << 20,
            rotate_after: Duration::from_hours(1),
            keep: 32,
            on_full: OnFull::Refuse,
        };
        Desk { place, config, key: SecretKey::from_seed(&[7; 32]).unwrap(), runs: 0 }
    }

    fn start(&mut self, now: Now) -> Journal {
        self.runs += 1;
        let found = Folder::open(&self.config, now).unwrap();
        let log = LogId::from_random([self.runs; 16]);
        Journal::begin(log, Place::Folder(Box::new(found.folder)), found.after, now, &self.key).unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> =
            fs::read_dir(&self.config.folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
        files.sort();
        files
    }

    fn names(&self) -> Vec<String> {
        self.files().iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    fn read(&self) -> Result<Tally, ReceiptFault> {
        read(&self.files(), &self.key)
    }
}

fn read(files: &[PathBuf], key: &SecretKey) -> Result<Tally, ReceiptFault> {
    let keys = KeySet::new(vec![(key.key_id().clone(), *key.public_key())]).unwrap();
    let mut reader = ReceiptReader::new(Keys::Known(&keys));
    for file in files {
        reader.file();
        let mut lines = Lines::new(BufReader::new(File::open(file).unwrap()));
        loop {
            match lines.next().unwrap() {
                Line::Whole(line) => reader.line(line)?,
                Line::Torn(bytes) => reader.torn(bytes),
                Line::End => break,
            }
        }
    }
    Ok(reader.tally().clone())
}

fn folder(journal: &mut Journal) -> &mut Folder {
    let Place::Folder(folder) = &mut journal.place else { panic!("no folder") };
    folder
}

#[test]
fn m7_no_line_waits_for_its_checkpoint_for_more_than_256_lines() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    for _ in 0..600 {
        journal.write(&entry(), now(1), &desk.key).unwrap();
        assert!(journal.log.unsealed() < 256);
    }
    let tally = desk.read().unwrap();
    assert_eq!((tally.lines, tally.checkpoints), (604, 3), "one behind the first line, one after each 255");
    assert!(!journal.tend(now(2), &desk.key).is_empty(), "there is something to sync");
    assert_eq!(desk.read().unwrap().unsealed, 0);
    assert!(journal.tend(now(3), &desk.key).is_empty(), "nothing is written when nothing happened");
    assert_eq!(desk.read().unwrap().checkpoints, 4);
}

#[test]
fn m7_a_run_that_is_stopped_says_so_and_the_next_one_goes_on_in_its_file() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.write(&entry(), now(1), &desk.key).unwrap();
    journal.close(3, now(2), &desk.key);
    drop(journal);
    let tally = desk.read().unwrap();
    assert!(tally.closed && tally.unsealed == 0 && tally.left_out == 3);
    let mut journal = desk.start(now(9));
    journal.write(&entry(), now(9), &desk.key).unwrap();
    let tally = desk.read().unwrap();
    assert_eq!((desk.names(), tally.logs, tally.killed), (vec!["00000001.jsonl".to_owned()], 2, 0));
}

#[test]
fn m7_a_run_that_was_killed_between_two_lines_is_told_from_one_that_was_stopped() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.write(&entry(), now(1), &desk.key).unwrap();
    drop(journal);
    drop(desk.start(now(2)));
    let tally = desk.read().unwrap();
    assert_eq!((tally.logs, tally.killed, tally.unsealed_before), (2, 1, 1));
}

#[test]
fn m7_an_unfinished_line_stays_where_it_is_and_the_next_file_tells_of_it() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.write(&entry(), now(1), &desk.key).unwrap();
    drop(journal);
    let torn = b"{\"entry\":{\"at\":18000";
    fs::OpenOptions::new().append(true).open(&desk.files()[0]).unwrap().write_all(torn).unwrap();
    drop(desk.start(now(2)));
    assert_eq!(desk.names(), ["00000001.jsonl", "00000002.jsonl"]);
    let tally = desk.read().unwrap();
    assert_eq!((tally.logs, tally.killed, tally.torn), (2, 1, 0));
    assert!(fs::read(&desk.files()[0]).unwrap().ends_with(torn));
}

/// Killed before the first line of a file was whole, or there at all.
#[test]
fn m7_a_file_that_came_to_nothing_is_followed_by_the_next() {
    for torn in ["", "{\"ent"] {
        let mut desk = Desk::new();
        drop(desk.start(now(0)));
        fs::write(desk.config.folder.join("00000002.jsonl"), torn).unwrap();
        drop(desk.start(now(2)));
        assert_eq!(desk.names().len(), 3);
        assert_eq!(desk.read().unwrap().logs, 2, "{torn:?}");
    }
}

#[test]
fn m7_a_disk_that_is_full_loses_no_line_that_was_written_and_what_is_lost_is_counted() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.write(&entry(), now(1), &desk.key).unwrap();
    folder(&mut journal).full = true;
    for _ in 0..3 {
        journal.write(&entry(), now(2), &desk.key).unwrap_err();
    }
    journal.tend(now(3), &desk.key);
    assert!(journal.failed().is_some() && journal.lost() == 3);
    folder(&mut journal).full = false;
    journal.write(&entry(), now(3), &desk.key).unwrap_err();
    journal.tend(now(4), &desk.key);
    assert!(journal.failed().is_none() && journal.lost() == 0);
    journal.write(&entry(), now(5), &desk.key).unwrap();
    let tally = desk.read().unwrap();
    assert_eq!(
        (tally.files, tally.lost, tally.logs, tally.torn),
        (1, 4, 1, 0),
        "what went in of a line was cut off"
    );
}

#[test]
fn m7_a_file_that_is_removed_is_not_written_into() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    fs::remove_file(&desk.files()[0]).unwrap();
    journal.write(&entry(), now(1), &desk.key).unwrap();
    assert_eq!(desk.names(), ["00000002.jsonl"]);
    assert_eq!(desk.read().unwrap().missing_before, Some(1));
    // With its folder, too.
    fs::remove_dir_all(&desk.config.folder).unwrap();
    journal.write(&entry(), now(2), &desk.key).unwrap();
    assert_eq!(desk.names(), ["00000003.jsonl"]);
}

#[test]
fn m7_a_file_that_somebody_moved_or_cut_is_left() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    fs::rename(&desk.files()[0], desk.place.path().join("moved")).unwrap();
    journal.tend(now(1), &desk.key);
    journal.write(&entry(), now(1), &desk.key).unwrap();
    let moved = [desk.place.path().join("moved"), desk.files()[0].clone()];
    assert_eq!(read(&moved, &desk.key).unwrap().logs, 1, "nothing is missing when both are read");
    let second = fs::OpenOptions::new().write(true).open(&desk.files()[0]).unwrap();
    second.set_len(10).unwrap();
    journal.write(&entry(), now(2), &desk.key).unwrap();
    assert_eq!(desk.names().len(), 2);
    assert!(desk.read().is_err(), "what was cut is missed");
}

#[test]
fn m7_a_file_that_cannot_be_synced_is_left() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.not_synced();
    journal.write(&entry(), now(1), &desk.key).unwrap_err();
    journal.tend(now(2), &desk.key);
    journal.write(&entry(), now(2), &desk.key).unwrap();
    assert_eq!(desk.names().len(), 2);
    assert_eq!(desk.read().unwrap().lost, 1);
}

#[test]
fn m7_files_turn_by_size_end_in_a_checkpoint_and_the_oldest_go() {
    let mut desk = Desk::new();
    (desk.config.rotate_bytes, desk.config.keep) = (4096, 3);
    let mut journal = desk.start(now(0));
    for _ in 0..200 {
        journal.write(&entry(), now(1), &desk.key).unwrap();
    }
    let files = desk.files();
    assert_eq!(files.len(), 3);
    for file in &files[..2] {
        let text = fs::read_to_string(file).unwrap();
        assert!(text.lines().last().unwrap().starts_with("{\"checkpoint\":"));
        assert!(text.len() < 4096 + 2048);
    }
    let tally = desk.read().unwrap();
    assert_eq!(tally.logs, 1);
    assert!(tally.missing_before.is_some());
}

#[test]
fn t1_files_turn_by_age_and_a_clock_that_is_set_back_makes_none_younger() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    let back = |seconds| Now::new(now(0).wall.minus(3600), now(seconds).monotonic);
    journal.write(&entry(), back(3599), &desk.key).unwrap();
    assert_eq!(desk.names().len(), 1);
    journal.tend(back(3600), &desk.key);
    assert_eq!(desk.names().len(), 2);
    journal.close(0, back(3601), &desk.key);
    drop(journal);
    assert!(desk.read().unwrap().clock_set_back > 0, "the clock went back, and it is told");
    // By its first line, after a restart, too.
    let later = Now::new(now(3700).wall, now(1).monotonic);
    drop(desk.start(later));
    assert_eq!(desk.names().len(), 3);
    desk.read().unwrap();
}

#[test]
fn two_processes_cannot_share_a_folder() {
    let mut desk = Desk::new();
    let _running = desk.start(now(0));
    assert!(matches!(Folder::open(&desk.config, now(1)), Err(FolderError::InUse(_))));
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let mut desk = Desk::new();
    let file = desk.place.path().join("a file");
    fs::write(&file, "").unwrap();
    desk.config.folder = file.join("below");
    assert!(matches!(Folder::open(&desk.config, now(0)), Err(FolderError::Io { .. })));
}

#[test]
fn m7_what_was_changed_before_a_restart_is_told() {
    let mut desk = Desk::new();
    let mut journal = desk.start(now(0));
    journal.write(&entry(), now(1), &desk.key).unwrap();
    journal.close(0, now(2), &desk.key);
    drop(journal);
    drop(desk.start(now(3)));
    let file = desk.files().remove(0);
    let text = fs::read_to_string(&file).unwrap();
    rewrite(&file, &text.replacen("\"lost\":0", "\"lost\":9", 1));
    assert!(matches!(desk.read().unwrap_err().why, WhyNoReceipt::Chain(_)));
}

fn rewrite(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}
