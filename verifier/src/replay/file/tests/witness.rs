//! The witness: when it is written, and what it is for.

use super::*;
use crate::limits::WITNESS_SECONDS;

#[test]
fn p7_a_witness_that_is_missing_or_damaged_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    drop(store);
    let (missing, damaged) = (as_it_is(&folder), as_it_is(&folder));
    fs::remove_file(witness_file::path(missing.path())).unwrap();
    fs::write(witness_file::path(damaged.path()), "pact-witness/1").unwrap();
    for folder in [missing, damaged] {
        let store = open(&folder, START + 12);
        assert!(store.health().since > at(START + 12).wall, "not before the end of what was used");
        assert_eq!(code(store.record(&used, at(START + 12))), "proof_before_store");
    }
}

#[test]
fn p7_a_process_that_is_killed_between_two_files_leaves_nothing_that_counts_twice() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    let before = fs::read(witness_file::path(folder.path())).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    // The file has begun, the witness does not know of it yet.
    let killed = as_it_is(&folder);
    fs::write(witness_file::path(killed.path()), before).unwrap();
    let store = open(&killed, START + 11);
    assert_eq!(store.health().since, at(START).wall, "unbroken");
    assert_eq!(code(store.record(&used, at(START + 11))), "replayed");
}

#[test]
fn p7_the_witness_is_not_written_with_each_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let mut written = std::collections::HashSet::new();
    for second in 0..=2 * WITNESS_SECONDS {
        let id = u8::try_from(second).unwrap();
        store.record(&proof(id, START + 10 + second), at(START + 10 + second)).unwrap();
        written.insert(fs::read(witness_file::path(folder.path())).unwrap());
    }
    assert_eq!(written.len(), 2);
}

#[test]
fn p6_a_store_whose_witness_cannot_be_written_refuses() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    fs::remove_file(witness_file::path(folder.path())).unwrap();
    fs::create_dir(witness_file::path(folder.path())).unwrap();
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 10))), "replay_store_failed");
    assert_eq!(store.health().held, 0);
    let turn = || store.state.lock().unwrap().turn(folder.path());
    assert!(turn().is_err());
    // Once it can, it goes on as if nothing had been.
    fs::remove_dir(witness_file::path(folder.path())).unwrap();
    assert_eq!(turn(), Ok(()));
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 10))), "recorded");
    drop(store);
    let store = open(&folder, START + 11);
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 11))), "replayed");
}
