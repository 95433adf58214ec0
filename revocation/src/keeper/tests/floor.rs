//! What outlives the process, and the keys (protocol R7).

use super::*;

#[test]
fn r7_the_floor_outlives_the_process() {
    let signer = key(1);
    let store = Arc::new(FloorInMemory::default());
    let start = || Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), Arc::clone(&store)).unwrap();
    let one = first(&signer, [1]);
    let two = next(&one, &signer, [2], 1);
    offer(&mut start(), &two, now(1)).unwrap();

    let mut restarted = start();
    assert_eq!(stale(&restarted, now(2)), "list_missing");
    assert_eq!(code(offer(&mut restarted, &next(&one, &signer, [], 2), now(2))), "list_lower_version");
    assert_eq!(code(offer(&mut restarted, &next(&one, &signer, [3], 2), now(2))), "list_equivocation");
    let dropped = following(&two, &signer, [listed(9)], 2);
    assert_eq!(code(offer(&mut restarted, &dropped, now(2))), "list_entry_gone");
    assert_eq!(code(offer(&mut restarted, &next(&two, &signer, [3], 2), now(2))), "accepted");
}

#[test]
fn r7_a_newly_pinned_key_starts_a_new_floor_but_keeps_the_entries() {
    let (stolen, fresh_key) = (key(1), key(2));
    let mut keeper = keeper(&stolen);
    // Whoever stole the key has run the numbers far ahead.
    let ahead = first(&stolen, [1, 2]).signed_as(
        &stolen,
        ListVersion::try_from(1_000_000).unwrap(),
        Some(BodyName::of(b"x")),
        at(T0),
    );
    offer(&mut keeper, &ahead, now(0)).unwrap();
    let honest = first(&fresh_key, [1, 3]);
    let honest = next(&honest, &fresh_key, [], 5);
    assert!(offer(&mut keeper, &honest, now(5)).is_err());

    keeper.pin(pinned(&[&fresh_key]));
    assert_eq!(stale(&keeper, now(5)), "list_missing");
    offer(&mut keeper, &honest, now(5)).unwrap();
    let lists = lists(&keeper);
    let fresh = lists.fresh(&issuer(), Format::Tenuo, now(5)).unwrap();
    assert_eq!(fresh.version().get(), 1);
    for number in [1, 2, 3] {
        assert!(fresh.contains(&entry(number)), "{number}");
    }
}

#[test]
fn r7_kept_entries_go_when_their_time_is_over() {
    let (old, new) = (key(1), key(2));
    let mut keeper = keeper(&old);
    let short = Listed { entry: entry(1), expires_at: at(T0 + 55) };
    let list = Draft::first(issuer()).revoke([short]).sign(&old, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    keeper.pin(pinned(&[&new]));
    let one = next(&first(&new, []), &new, [], 5);
    assert_eq!(offer(&mut keeper, &one, now(5)).unwrap().count(), 1);
    let later = next(&one, &new, [], 654);
    assert_eq!(offer(&mut keeper, &later, now(654)).unwrap().count(), 1);
    let later = next(&one, &new, [], 655);
    assert_eq!(offer(&mut keeper, &later, now(655)).unwrap().count(), 0);
}

#[test]
fn r7_a_list_is_not_used_when_its_floor_cannot_be_written() {
    struct FullDisk;
    impl FloorStore for FullDisk {
        fn load(&self, _: &IssuerId, _: Format) -> Result<Option<Floor>, FloorError> {
            Ok(None)
        }
        fn raise(&self, _: &IssuerId, _: Format, _: Option<&Floor>, _: &Floor) -> Result<Floor, FloorError> {
            Err(FloorError::Unwritable)
        }
    }
    let signer = key(1);
    let mut keeper = Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), FullDisk).unwrap();
    assert_eq!(code(offer(&mut keeper, &first(&signer, [1]), now(0))), "list_floor");
    assert_eq!(stale(&keeper, now(0)), "list_missing");
}
