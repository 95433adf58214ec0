//! Clocks that go back.

use super::*;

#[test]
fn t1_p7_a_reboot_with_an_earlier_clock_gives_no_used_proof_back() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 300);
    store.record(&used, at(START + 300)).unwrap();
    let killed = as_it_is(&folder);
    // What the system had not written out yet when it died is gone: the record itself …
    let lost = as_it_is(&folder);
    let bytes = fs::read(newest(&lost)).unwrap();
    fs::write(newest(&lost), &bytes[..bytes.len() - 48]).unwrap();
    // … or the witness, where its folder was copied without it.
    let bare = as_it_is(&folder);
    fs::remove_file(witness_file::path(bare.path())).unwrap();
    drop(store);
    for folder in [folder, killed, lost, bare] {
        let store = open_in(&folder, OTHER_BOOT, START + 100).unwrap();
        assert!(store.health().since >= at(START + 300).wall, "{:?}", store.health());
        assert_eq!(code(store.record(&used, at(START + 299))), "proof_before_store");
        // It lasts as long as the clock is behind, and some seconds.
        let later = START + 300 + 61 + 6;
        assert_eq!(code(store.record(&proof(2, later), at(later))), "recorded");
        drop(store);
        let store = open_in(&folder, BOOT, START + 100).unwrap();
        assert_eq!(store.health().since, at(later).wall, "and is handed on to the next boot");
    }
}

#[test]
fn t1_p7_a_clock_that_is_far_behind_the_record_keeps_the_store_shut() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let far = START + 30 * 365 * 86_400;
    store.record(&proof(1, far), at(far)).unwrap();
    drop(store);
    // In the same boot nothing is lost, so nothing is in doubt.
    assert_eq!(open(&folder, START + 10).health().since, at(START).wall);
    let shut = open_in(&folder, OTHER_BOOT, START + 10).unwrap_err();
    assert_eq!(shut, OpenError::ClockBehind { until: at(far).wall, now: at(START + 10).wall });
    assert!(shut.to_string().contains("set the clock"), "{shut}");
    let most = far - MAX_CLOCK_BEHIND_SECONDS;
    assert!(open_in(&folder, OTHER_BOOT, most - 1).is_err(), "it stays shut, and nothing was changed");
    assert_eq!(open_in(&folder, OTHER_BOOT, most).unwrap().health().since, at(far).wall);
}

#[test]
fn t1_a_clock_that_is_set_back_revives_no_proof() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    // The clock goes on until the proof is forgotten …
    assert_eq!(code(store.record(&proof(2, START + 500), at(START + 500))), "recorded");
    // … and is set back to when it counted.
    assert_eq!(code(store.record(&used, at(START + 20))), "proof_forgotten");
    drop(store);
    let store = open(&folder, START + 20);
    assert_eq!(code(store.record(&used, at(START + 20))), "replayed", "its file is still there");
    assert_eq!(
        code(store.record(&proof(3, START + 498), at(START + 498))),
        "recorded",
        "two seconds harm nobody"
    );
}

#[test]
fn t1_a_forgotten_file_leaves_its_floor_behind() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    assert_eq!(code(store.record(&proof(2, START + 500), at(START + 500))), "recorded");
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    assert_eq!(segment::numbers(folder.path()).unwrap().len(), 2, "the first holds what still counts");
    assert_eq!(code(store.record(&proof(3, START + 900), at(START + 900))), "recorded");
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    assert_eq!(segment::numbers(folder.path()).unwrap().len(), 2, "the first is gone, the second counts");
    drop(store);
    let store = open(&folder, START + 20);
    assert_eq!(code(store.record(&used, at(START + 20))), "proof_forgotten");
}
