use pact_mandate::{Format, SecretKey, Signer};

use super::*;
use crate::{
    Draft, Held, Keeper, ListRefusal, Listed, Published,
    testing::{T0, at, entry, first, issuer, key, next, now, pinned},
};

/// A keeper of its own handle on the folder, as a second process has.
fn keeper(folder: &Path, keys: &[&SecretKey]) -> Keeper {
    Keeper::new(issuer(), Format::Pact, pinned(keys), FloorFolder::open(folder).unwrap()).unwrap()
}

fn offer(keeper: &mut Keeper, list: &Published, seconds: u64) -> Result<Arc<Held>, ListRefusal> {
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(seconds))
}

fn on_disk(folder: &Path) -> Floor {
    FloorFolder::open(folder).unwrap().load(&issuer(), Format::Pact).unwrap().unwrap()
}

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
    // The floor, its body, what is kept, and the lock; nothing of the list before.
    assert_eq!(files(&dir.path().join("floors")).len(), 4);
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
    for name in files(dir.path()).into_iter().filter(|name| name != "lock") {
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
    let beside = format!(".{}.new", floor.file_name().unwrap().to_str().unwrap());
    fs::write(dir.path().join(beside), b"{\"entr").unwrap();
    assert_eq!(store.load(&issuer(), Format::Pact).unwrap().as_ref(), keeper.floor());
    let list = next(&list, &signer, [2], 1);
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(1)).unwrap();
    assert_eq!(store.load(&issuer(), Format::Pact).unwrap().as_ref(), keeper.floor());
}

#[test]
fn r7_a_late_writer_does_not_lower_the_floor() {
    let dir = tempfile::tempdir().unwrap();
    let signer = key(1);
    let (one, two) = (first(&signer, [1]), next(&first(&signer, [1]), &signer, [2], 1));
    let (mut early, mut late) = (keeper(dir.path(), &[&signer]), keeper(dir.path(), &[&signer]));
    offer(&mut early, &two, 2).unwrap();
    // The other process has yet to hear of list 2, and of its floor.
    assert_eq!(offer(&mut late, &one, 2).unwrap_err().code(), "list_lower_version");
    assert_eq!(on_disk(dir.path()).version().get(), 2);
    assert_eq!(late.floor(), early.floor(), "it goes on from what the disk says");
    assert!(late.held().is_none());
    assert_eq!(offer(&mut late, &two, 2).unwrap().version().get(), 2);
}

#[test]
fn r6_what_one_process_saw_is_equivocation_for_the_other() {
    let dir = tempfile::tempdir().unwrap();
    let signer = key(1);
    let (mut here, mut there) = (keeper(dir.path(), &[&signer]), keeper(dir.path(), &[&signer]));
    offer(&mut there, &first(&signer, [1]), 0).unwrap();
    let refused = offer(&mut here, &first(&signer, [2]), 0).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_equivocation", true));
    assert!(on_disk(dir.path()).body.entries().contains(&entry(1)));
}

#[test]
fn r7_no_entry_and_no_mark_that_another_process_saw_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let (old, new) = (key(1), key(2));
    let (mut here, mut there) = (keeper(dir.path(), &[&old]), keeper(dir.path(), &[&old]));
    offer(&mut there, &next(&first(&old, [1]), &old, [2], 1), 1).unwrap();
    // This process pins another key before it has seen anything of the old one.
    here.pin(pinned(&[&new]));
    let held = offer(&mut here, &next(&first(&new, [3]), &new, [], 2), 2).unwrap();
    assert_eq!(held.count(), 3, "the list serves with what the other process saw");
    let floor = on_disk(dir.path());
    assert_eq!((floor.key(), floor.marks().len()), (&new.public_key().thumbprint(), 2));
    for number in [1, 2] {
        assert!(floor.kept.entries().contains(&entry(number)), "{number}");
    }
}

#[test]
fn r7_a_folder_that_was_put_back_from_a_copy_is_raised_again() {
    let dir = tempfile::tempdir().unwrap();
    let signer = key(1);
    let mut keeper = keeper(dir.path(), &[&signer]);
    let one = first(&signer, [1]);
    offer(&mut keeper, &one, 0).unwrap();
    let copy: Vec<_> = files(dir.path())
        .into_iter()
        .map(|name| (name.clone(), fs::read(dir.path().join(name)).unwrap()))
        .collect();
    let two = next(&one, &signer, [2], 1);
    offer(&mut keeper, &two, 1).unwrap();
    for (name, bytes) in copy {
        fs::write(dir.path().join(name), bytes).unwrap();
    }
    offer(&mut keeper, &next(&two, &signer, [3], 2), 2).unwrap();
    assert_eq!(on_disk(dir.path()).version().get(), 3);
    // And when it is gone altogether.
    for name in files(dir.path()) {
        fs::remove_file(dir.path().join(name)).unwrap();
    }
    offer(&mut keeper, &next(&next(&two, &signer, [3], 2), &signer, [4], 3), 3).unwrap();
    assert_eq!(on_disk(dir.path()).version().get(), 4);
}

#[test]
fn r7_two_floors_each_below_the_other_are_a_fault() {
    let (a, b) = (key(1), key(2));
    let floor = |of: &SecretKey, marks: [(&SecretKey, u64, u32); 2]| {
        let body = |number: u32| Body::of([Listed { entry: entry(number), expires_at: at(T0) }]);
        let mark = |(key, version, number): (&SecretKey, u64, u32)| {
            let mark = Mark { version: version.try_into().unwrap(), entries: *body(number).name() };
            (key.public_key().thumbprint(), mark)
        };
        let own = marks.iter().find(|(key, ..)| key.public_key() == of.public_key()).unwrap().2;
        Floor {
            key: of.public_key().thumbprint(),
            marks: marks.into_iter().map(mark).collect(),
            body: Arc::new(body(own)),
            kept: Arc::new(Body::of([])),
        }
    };
    let one = floor(&a, [(&a, 1, 1), (&b, 2, 2)]);
    let other = floor(&b, [(&a, 2, 3), (&b, 1, 4)]);
    assert!(matches!(one.joined(&other, Format::Pact), Err(FloorError::Diverged)));
    let higher = floor(&a, [(&a, 2, 3), (&b, 2, 2)]);
    assert_eq!(one.joined(&higher, Format::Pact).unwrap().body, higher.body);
    assert_eq!(higher.joined(&one, Format::Pact).unwrap().body, higher.body);
    assert!(higher.joined(&one, Format::Pact).unwrap().kept.entries().contains(&entry(1)));
}

/// Whatever the order of many writers: the floor never falls, and ends at the highest that was offered.
#[test]
fn r7_writers_at_once_leave_the_highest_floor() {
    let dir = tempfile::tempdir().unwrap();
    let signer = key(1);
    let mut lists = vec![first(&signer, [0])];
    for number in 1..12 {
        let before = lists.last().unwrap();
        lists.push(next(before, &signer, [number], u64::from(number)));
    }
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (lists, folder, signer) = (&lists, dir.path(), &signer);
            scope.spawn(move || {
                let mut seen = 0;
                for (at, list) in lists.iter().enumerate().skip(thread) {
                    // A process that starts, judges one list, and ends.
                    let accepted = offer(&mut keeper(folder, &[signer]), list, 20);
                    let floor = on_disk(folder).version().get();
                    let offered = u64::try_from(at).unwrap() + 1;
                    assert!(floor >= seen && (accepted.is_err() || floor >= offered));
                    seen = floor;
                }
            });
        }
    });
    let floor = on_disk(dir.path());
    assert_eq!(floor.version().get(), 12);
    assert_eq!(floor.body.entries().len(), 12);
}

#[test]
fn r7_what_a_killed_writer_left_goes_with_the_next_floor() {
    let dir = tempfile::tempdir().unwrap();
    let signer = key(1);
    let mut keeper = keeper(dir.path(), &[&signer]);
    let list = first(&signer, [1]);
    offer(&mut keeper, &list, 0).unwrap();
    let stem = FloorFolder::stem(&issuer(), Format::Pact);
    let (mine, others) = (format!(".{stem}.0f.body.new"), ".pact-other.0f.body.new".to_owned());
    for name in [&mine, &others] {
        fs::write(dir.path().join(name), "half").unwrap();
    }
    offer(&mut keeper, &next(&list, &signer, [2], 1), 1).unwrap();
    let left = files(dir.path());
    assert!(!left.contains(&mine) && left.contains(&others), "{left:?}");
}
