use std::{collections::BTreeSet, fs, os::unix::fs::PermissionsExt, path::Path};

use super::*;
use crate::testing::{T0, at, first, key, next};

fn body_paths(files: &PublishedFiles) -> BTreeSet<String> {
    let bodies = files.in_storing_order().filter(|file| matches!(file.kind(), FileKind::Body { .. }));
    bodies.map(|file| file.url_path().to_owned()).collect()
}

fn all(list: &Published, seconds: u64) -> PublishedFiles {
    let files = PublishedFiles::of(list, at(T0 + seconds)).unwrap();
    files.with_compatible(Format::Tenuo, ListVersion::FIRST, vec![1]).with_keys(
        "z-keys.json",
        "{}".to_owned(),
        60,
    )
}

#[test]
fn r2_bodies_are_stored_before_the_head_that_names_them_and_keys_before_what_they_verify() {
    let one = first(&key(1), 0..20);
    let files = all(&next(&one, &key(1), [99], 1), 1);
    let order: Vec<_> = files.in_storing_order().map(PublishedFile::url_path).collect();
    assert_eq!(order.len(), files.count());
    assert_eq!(
        order[2..],
        [
            ".well-known/z-keys.json",
            ".well-known/pact-revocations/pact",
            ".well-known/pact-revocations/tenuo"
        ]
    );
    assert!(order[..2].iter().all(|path| path.starts_with(".well-known/pact-revocations/pact/")));
}

#[test]
fn r2_the_bodies_of_a_head_are_kept_for_twice_its_life_after_the_last_head_that_names_them() {
    let signer = key(1);
    let one = first(&signer, 0..20);
    let old = all(&one, 0);
    let refreshed = all(&next(&one, &signer, [], 10), 10).keeping_bodies_of(&old, at(T0 + 10));
    assert_eq!(refreshed.count(), old.count());
    let two = next(&one, &signer, [99], 20);
    let now = |seconds| at(T0 + seconds);
    let after = all(&two, 20).keeping_bodies_of(&refreshed, now(20));
    assert!(body_paths(&after).is_superset(&body_paths(&old)));
    // Named last ten seconds after the start. Being kept is not being named.
    let kept = all(&two, 130).keeping_bodies_of(&after, now(130));
    assert!(body_paths(&kept).is_superset(&body_paths(&old)));
    let gone = all(&two, 131).keeping_bodies_of(&kept, now(131));
    assert!(body_paths(&gone).is_disjoint(&body_paths(&old)));
    // A clock that stepped back loses nothing.
    let back = all(&two, 0).keeping_bodies_of(&after, now(0));
    assert_eq!(body_paths(&back), body_paths(&after));
}

fn stored(out: &Path) -> BTreeSet<String> {
    let folder = fs::read_dir(out.join(list_path(Format::Pact))).unwrap();
    folder.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn r2_a_folder_holds_the_same_bytes_readable_for_all_and_keeps_bodies_as_long() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("public");
    let signer = key(1);
    let one = first(&signer, 0..20);
    all(&one, 0).write(&out, at(T0)).unwrap();
    let two = next(&one, &signer, [99], 20);
    let files = all(&two, 20);
    // By a process that does not know of the list before.
    files.write(&out, at(T0 + 20)).unwrap();
    for file in files.in_storing_order() {
        let path = out.join(file.file_path());
        assert_eq!(fs::read(&path).unwrap(), file.bytes().to_vec(), "{path:?}");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o644);
    }
    assert!(out.join(".well-known/pact-revocations/pact/index.html").exists());
    let old = one.body().name().to_string();
    assert!(stored(&out).contains(&old));
    all(&two, 120).write(&out, at(T0 + 120)).unwrap();
    assert!(stored(&out).contains(&old));
    all(&two, 121).write(&out, at(T0 + 121)).unwrap();
    assert!(!stored(&out).contains(&old));
    assert_eq!(stored(&out).len(), body_paths(&files).len() + 1);
}

#[test]
fn a_file_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("taken");
    fs::write(&out, "a file").unwrap();
    let error = all(&first(&key(1), [1]), 0).write(&out, at(T0)).unwrap_err();
    assert!(error.path.starts_with(&out), "{error}");
}
