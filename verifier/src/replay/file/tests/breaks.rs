//! Files that are missing, cut short or altered.

use super::*;

#[test]
fn p7_a_file_that_is_missing_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    drop(store);
    let first = newest(&folder);
    drop(open(&folder, START + 11));
    fs::remove_file(first).unwrap();
    assert_eq!(open(&folder, START + 12).health().since, at(START + 12).wall);
}

#[test]
fn p7_the_newest_file_that_is_missing_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    let used = proof(2, START + 11);
    store.record(&used, at(START + 11)).unwrap();
    for folder in [as_it_is(&folder), {
        drop(store);
        folder
    }] {
        fs::remove_file(newest(&folder)).unwrap();
        let store = open(&folder, START + 12);
        assert!(store.health().since >= at(START + 12).wall);
        assert_eq!(code(store.record(&used, at(START + 12))), "proof_before_store");
    }
}

#[test]
fn p7_a_file_that_is_cut_short_between_two_records_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    let (first, shorter) = (newest(&folder), fs::read(newest(&folder)).unwrap());
    store.record(&proof(2, START + 11), at(START + 11)).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    store.record(&proof(3, START + 12), at(START + 12)).unwrap();
    // Of a file that another one follows, whenever the process is killed …
    let killed = as_it_is(&folder);
    fs::write(killed.path().join(first.file_name().unwrap()), &shorter).unwrap();
    assert!(open(&killed, START + 13).health().since >= at(START + 13).wall);
    // … and of the last one, after an orderly end.
    drop(store);
    let last = newest(&folder);
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() - 48]).unwrap();
    assert!(open(&folder, START + 13).health().since >= at(START + 13).wall);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is cut off or changed in the newest file: no proof that was used counts again.
    #[test]
    fn p7_a_torn_or_altered_file_never_gives_a_used_proof_back(
        count in 1_u8..6,
        cut in any::<prop::sample::Index>(),
        flip in any::<Option<(prop::sample::Index, u8)>>(),
    ) {
        let folder = TempDir::new().unwrap();
        let store = open(&folder, START);
        for id in 0..count {
            store.record(&proof(id, START + 10), at(START + 10)).unwrap();
        }
        drop(store);
        let path = newest(&folder);
        let mut bytes = fs::read(&path).unwrap();
        let whole = bytes.clone();
        match flip {
            Some((place, with)) => { let place = place.index(bytes.len()); bytes[place] ^= with; }
            None => bytes.truncate(cut.index(bytes.len())),
        }
        fs::write(&path, &bytes).unwrap();
        let store = open(&folder, START + 11);
        for id in 0..count {
            let refused = store.record(&proof(id, START + 10), at(START + 11)).unwrap_err();
            prop_assert!(matches!(refused.code(), "replayed" | "proof_before_store"));
        }
        prop_assert_eq!(store.health().since == at(START).wall, bytes == whole);
    }
}
