//! A folder that is taken, or cannot be written.

use std::os::unix::fs::PermissionsExt;

use super::*;

#[test]
fn p7_two_processes_cannot_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    assert_eq!(FileReplay::open(folder.path(), BOOT, at(START)).unwrap_err(), OpenError::InUse);
    drop(store);
    assert!(FileReplay::open(folder.path(), BOOT, at(START)).is_ok());
}

#[test]
fn p6_a_store_that_cannot_write_refuses() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    // A file that is open for reading alone fails each write, as a full disk does.
    store.state.lock().unwrap().break_for_test(&newest(&folder));
    let refused = store.record(&proof(1, START + 10), at(START + 10)).unwrap_err();
    assert_eq!(
        (refused.code(), refused.class()),
        ("replay_store_failed", crate::refusal::Class::Unavailable)
    );
    assert!(store.health().failed.is_some());
    assert_eq!(store.health().held, 0, "what was not written is not remembered as used");
}

#[test]
fn an_unusable_folder_is_an_error() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(FileReplay::open(&file, BOOT, at(START)), Err(OpenError::Failed(_))));
    assert!(fs::metadata(&file).unwrap().permissions().mode() > 0);
}
