//! Until when a list counts, by either clock (protocol R5, T1).

use super::*;

#[test]
fn r5_a_list_is_fresh_for_sixty_seconds_after_it_was_signed() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = Draft::first(issuer()).good_for(3_600).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(40)).unwrap();
    assert_eq!(stale(&keeper, now(60)), "fresh");
    assert_eq!(stale(&keeper, now(61)), "list_stale");
    let fresh = lists(&keeper);
    let fresh = fresh.fresh(&issuer(), Format::Tenuo, now(45)).unwrap();
    assert_eq!((fresh.age().as_secs(), fresh.stays_fresh_for().as_secs()), (45, 15));
}

#[test]
fn r5_a_list_is_not_fresh_past_its_next_update() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = Draft::first(issuer()).good_for(20).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    assert_eq!(stale(&keeper, now(20)), "fresh");
    assert_eq!(stale(&keeper, now(21)), "list_overdue");
    // A wall clock that steps back does not bring the time before it back.
    assert_eq!(stale(&keeper, clocks(5, 21)), "list_overdue");
}

#[test]
fn r5_a_list_signed_more_than_five_seconds_ahead_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    assert_eq!(code(offer(&mut keeper, &list, clocks(0, 0).minus(6))), "list_from_the_future");
    assert_eq!(code(offer(&mut keeper, &list, clocks(0, 0).minus(5))), "accepted");
    assert_eq!(stale(&keeper, clocks(0, 0).minus(6)), "list_from_the_future");
}

trait Earlier {
    fn minus(self, seconds: u64) -> Now;
}

impl Earlier for Now {
    fn minus(self, seconds: u64) -> Now {
        Now::new(self.wall.minus(seconds), self.monotonic)
    }
}

#[test]
fn t1_a_wall_clock_that_steps_back_does_not_make_a_held_list_young() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    offer(&mut keeper, &first(&signer, [1]), now(0)).unwrap();
    assert_eq!(stale(&keeper, clocks(0, 60)), "fresh");
    assert_eq!(stale(&keeper, clocks(0, 61)), "list_stale");
    // Nor does a monotonic clock that stands still.
    assert_eq!(stale(&keeper, clocks(61, 0)), "list_stale");
}

#[test]
fn t1_a_wall_clock_that_steps_back_does_not_make_a_held_back_list_young() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    offer(&mut keeper, &list, now(0)).unwrap();
    // Signed 5 s after the start, held back for 90 s, while the wall clock was set back to 5 s.
    let held_back = next(&list, &signer, [], 5);
    offer(&mut keeper, &held_back, clocks(5, 90)).unwrap();
    assert_eq!(stale(&keeper, clocks(5, 90)), "list_stale");
}

#[test]
fn r5_the_same_head_again_makes_nothing_younger() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    let before = offer(&mut keeper, &list, now(0)).unwrap();
    let again = offer(&mut keeper, &list, clocks(0, 50)).unwrap();
    assert!(Arc::ptr_eq(&before, &again));
    assert_eq!(stale(&keeper, clocks(0, 61)), "list_stale");
}
