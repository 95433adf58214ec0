use pact_mandate::Format;

use super::*;
use crate::{
    Draft, Keeper, Listed,
    testing::{T0, at, entry, first, issuer, key, next, now, pinned},
};

fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn r7_the_floor_comes_back_from_the_disk_with_its_entries() {
    let dir = tempfile::tempdir().unwrap();
    let store = FloorFolder::open(dir.path().join("floors")).unwrap();
    assert_eq!(store.load(&issuer(), Format::Pact).unwrap(), None);

    let (old, new) = (key(1), key(2));
    let mut keeper = Keeper::new(issuer(), Format::Pact, pinned(&[&old]), store.clone()).unwrap();
    let list = first(&old, [1, 2]);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(0)).unwrap();
    keeper.pin(pinned(&[&new]));
    let list = next(&first(&new, [2, 3]), &new, [], 1);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(1)).unwrap();

    let floor = store.load(&issuer(), Format::Pact).unwrap().unwrap();
    assert_eq!(Some(&floor), keeper.floor());
    assert_eq!(floor.marks().len(), 2);
    assert!(floor.kept.entries().contains(&entry(1)));
    // The floor, its body and what is kept; nothing of the list before.
    assert_eq!(files(&dir.path().join("floors")).len(), 3);
    assert_eq!(store.load(&"other".parse().unwrap(), Format::Pact).unwrap(), None);
    assert_eq!(store.load(&issuer(), Format::Tenuo).unwrap(), None);
}

#[test]
fn r7_a_damaged_floor_is_a_fault_and_not_a_fresh_start() {
    let dir = tempfile::tempdir().unwrap();
    let store = FloorFolder::open(dir.path()).unwrap();
    let signer = key(1);
    let mut keeper = Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), store.clone()).unwrap();
    let short = Listed { entry: entry(1), expires_at: at(T0 + 60) };
    let list = Draft::first(issuer()).revoke([short]).sign(&signer, at(T0)).unwrap();
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(0)).unwrap();
    for name in files(dir.path()) {
        let path = dir.path().join(&name);
        let good = fs::read(&path).unwrap();
        for bad in [&b""[..], &good[..good.len() - 1], &[&good[..], b"\n"].concat()] {
            fs::write(&path, bad).unwrap();
            assert!(matches!(store.load(&issuer(), Format::Pact), Err(FloorError::Damaged { .. })), "{name}");
        }
        if is_body(&name, &FloorFolder::stem(&issuer(), Format::Pact)) {
            fs::remove_file(&path).unwrap();
            assert!(matches!(store.load(&issuer(), Format::Pact), Err(FloorError::Damaged { .. })));
        }
        fs::write(&path, good).unwrap();
    }
    assert!(store.load(&issuer(), Format::Pact).unwrap().is_some());
}

/// Whatever was written when the power failed, the floor is the old or the new one.
#[test]
fn r7_a_half_written_file_is_not_a_floor() {
    let dir = tempfile::tempdir().unwrap();
    let store = FloorFolder::open(dir.path()).unwrap();
    let signer = key(1);
    let mut keeper = Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), store.clone()).unwrap();
    let list = first(&signer, [1]);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(0)).unwrap();
    let floor = store.floor_path(&issuer(), Format::Pact);
    fs::write(floor.with_extension("new"), b"{\"entr").unwrap();
    assert_eq!(store.load(&issuer(), Format::Pact).unwrap().as_ref(), keeper.floor());
    let list = next(&list, &signer, [2], 1);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(1)).unwrap();
    assert_eq!(store.load(&issuer(), Format::Pact).unwrap().as_ref(), keeper.floor());
}
