//! Every sentence of protocol R4 to R7 for our own list, with a fixed clock.

use pact_mandate::{SecretKey, signed::SignedError};

use super::*;
use crate::{
    Draft, FloorInMemory, Listed, Lists, Published, SourceTime, Stale,
    testing::{T0, at, clocks, entry, first, issuer, key, listed, next, now, pinned},
};

fn keeper(signer: &SecretKey) -> Keeper {
    Keeper::new(issuer(), Format::Pact, pinned(&[signer]), FloorInMemory::default()).unwrap()
}

fn offer(keeper: &mut Keeper, list: &Published, now: Now) -> Result<Arc<Held>, ListRefusal> {
    keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now)
}

fn code(outcome: Result<Arc<Held>, ListRefusal>) -> &'static str {
    outcome.map_or_else(|refusal| refusal.code(), |_| "accepted")
}

fn lists(keeper: &Keeper) -> Lists {
    keeper.held().map_or(Lists::none(), |held| Lists::none().with(Arc::clone(held)))
}

fn stale(keeper: &Keeper, now: Now) -> &'static str {
    lists(keeper).fresh(&issuer(), Format::Tenuo, now).map_or_else(|stale| stale.code(), |_| "fresh")
}

#[test]
fn r5_nothing_is_fresh_before_the_first_list() {
    assert_eq!(Lists::none().fresh(&issuer(), Format::Tenuo, now(0)).unwrap_err(), Stale::NoList);
}

#[test]
fn r5_a_list_is_believed_by_the_signature_of_a_pinned_key_alone() {
    let (good, other) = (key(1), key(2));
    let mut keeper = keeper(&good);
    let forged = offer(&mut keeper, &first(&other, [1]), now(0)).unwrap_err();
    assert!(matches!(forged, ListRefusal::Head(SignedError::UnknownKey(_))));
    // Under the pinned key's name it is no better.
    let named = key(2).named(good_id(&good));
    let forged = offer(&mut keeper, &first(&named, [1]), now(0)).unwrap_err();
    assert!(matches!(forged, ListRefusal::Head(SignedError::BadSignature(_))));
    assert_eq!(stale(&keeper, now(0)), "list_missing");
    assert_eq!(code(offer(&mut keeper, &first(&good, [1]), now(0))), "accepted");
}

fn good_id(key: &SecretKey) -> pact_mandate::KeyId {
    pact_mandate::Signer::key_id(key).clone()
}

#[test]
fn r4_another_issuers_list_neither_helps_nor_harms() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let partner: IssuerId = "partner".parse().unwrap();
    let theirs = Draft::first(partner.clone()).revoke([listed(1)]).sign(&signer, at(T0)).unwrap();
    assert_eq!(code(offer(&mut keeper, &theirs, now(0))), "list_other_issuer");
    offer(&mut keeper, &first(&signer, [2]), now(0)).unwrap();
    let lists = lists(&keeper);
    assert_eq!(lists.fresh(&partner, Format::Tenuo, now(0)).unwrap_err(), Stale::NoList);
    assert!(!lists.fresh(&issuer(), Format::Tenuo, now(0)).unwrap().contains(&entry(1)));
}

#[test]
fn r4_a_list_speaks_for_the_formats_that_it_covers() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = Draft::first(issuer()).covering([Format::Tenuo]).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    let lists = lists(&keeper);
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(0)).is_ok());
    let refused = lists.fresh(&issuer(), Format::Biscuit, now(0)).unwrap_err();
    assert_eq!(refused, Stale::NotCovered { format: Format::Biscuit });
}

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

#[test]
fn r6_the_same_version_and_entries_signed_later_is_a_refresh() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    offer(&mut keeper, &list, now(0)).unwrap();
    let refreshed = next(&list, &signer, [], 50);
    assert_eq!(refreshed.version(), list.version());
    let examined = keeper.examine(&refreshed.head_bytes().unwrap(), now(50)).unwrap();
    assert_eq!(*examined.step(), Step::Refresh);
    keeper.accept(&examined, Content::Held, now(50)).unwrap();
    assert_eq!(stale(&keeper, now(110)), "fresh");
    // The earlier signing does not come back.
    assert_eq!(code(offer(&mut keeper, &list, now(51))), "list_older");
}

#[test]
fn r6_a_lower_version_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, [1]);
    let two = next(&one, &signer, [2], 1);
    offer(&mut keeper, &two, now(1)).unwrap();
    // Signed anew, so that nothing but the number is old.
    let replayed = next(&one, &signer, [], 10);
    assert_eq!(code(offer(&mut keeper, &replayed, now(10))), "list_lower_version");
}

#[test]
fn r6_the_same_version_with_other_entries_is_refused_and_alarmed() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, [1]);
    offer(&mut keeper, &next(&one, &signer, [2], 1), now(1)).unwrap();
    let refused = offer(&mut keeper, &next(&one, &signer, [3], 2), now(2)).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_equivocation", true));
}

#[test]
fn r6_an_entry_gone_before_its_expiry_and_ten_minutes_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, [1]);
    offer(&mut keeper, &one, now(0)).unwrap();
    let refused = offer(&mut keeper, &following(&one, &signer, [listed(2)], 1), now(1)).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_entry_gone", true));
    // Listed for a shorter time is gone sooner.
    let sooner = Listed { entry: entry(1), expires_at: at(T0 + 60) };
    let refused = offer(&mut keeper, &following(&one, &signer, [sooner, listed(2)], 1), now(1)).unwrap_err();
    assert_eq!(refused.code(), "list_entry_gone");
}

#[test]
fn r6_an_entry_leaves_ten_minutes_after_its_expiry() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let short = Listed { entry: entry(1), expires_at: at(T0 + 55) };
    let one = Draft::first(issuer()).revoke([short, listed(2)]).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &one, now(0)).unwrap();
    let still = next(&one, &signer, [], 654);
    assert_eq!((still.version(), still.body().count()), (one.version(), 2));
    let two = next(&one, &signer, [], 655);
    assert_eq!((two.version().get(), two.body().count()), (2, 1));
    assert_eq!(code(offer(&mut keeper, &two, now(655))), "accepted");
    assert!(!lists(&keeper).fresh(&issuer(), Format::Tenuo, now(655)).unwrap().contains(&entry(1)));
}

/// A list 2 that says it follows `one` but holds only these.
fn following(
    one: &Published,
    signer: &SecretKey,
    listed: impl IntoIterator<Item = Listed>,
    seconds: u64,
) -> Published {
    let honest = Draft::first(issuer()).revoke(listed).sign(signer, at(T0)).unwrap();
    honest.signed_as(signer, one.version().next().unwrap(), Some(*one.body().name()), at(T0 + seconds))
}

#[test]
fn r6_a_list_that_does_not_follow_the_held_one_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, [1]);
    offer(&mut keeper, &one, now(0)).unwrap();
    // Another list 1, and the list 2 that follows it.
    let two = next(&first(&signer, [1, 9]), &signer, [2], 1);
    let refused = offer(&mut keeper, &two, now(1)).unwrap_err();
    assert_eq!((refused.code(), refused.is_alarm()), ("list_previous_mismatch", true));
}

#[test]
fn r6_a_body_that_does_not_hash_to_its_name_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    let head = list.head_bytes().unwrap();
    let mut bytes = list.body_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(code(keeper.accept_whole(&head, &bytes, now(0))), "list_not_its_name");
    assert_eq!(code(keeper.accept_whole(&head, b"", now(0))), "list_not_its_name");
}

#[test]
fn r1_a_delta_leads_from_the_held_list_to_the_new_one() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, 0..50);
    offer(&mut keeper, &one, now(0)).unwrap();
    let three = next(&next(&one, &signer, [60], 1), &signer, [61], 2);
    let examined = keeper.examine(&three.head_bytes().unwrap(), now(2)).unwrap();
    let Step::Delta { name, from, .. } = *examined.step() else { panic!("no delta was planned") };
    assert_eq!(from, one.version());
    let delta = three.deltas().find(|(offered, _)| **offered == name).unwrap().1;
    assert!(delta.len() < 150);
    keeper.accept(&examined, Content::Delta(delta), now(2)).unwrap();
    assert_eq!(keeper.held().unwrap().body.name(), three.body().name());
}

#[test]
fn r6_a_delta_on_another_base_is_refused_and_the_body_still_does() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, 0..50);
    offer(&mut keeper, &one, now(0)).unwrap();
    let three = next(&next(&one, &signer, [60], 1), &signer, [61], 2);
    let examined = keeper.examine(&three.head_bytes().unwrap(), now(2)).unwrap();
    let from_two = three.deltas().next().unwrap().1;
    let refused = keeper.accept(&examined, Content::Delta(from_two), now(2)).unwrap_err();
    assert_eq!((refused.code(), refused.concerns_content()), ("list_delta_base", true));
    let bent = [&from_two[..], b"x"].concat();
    assert_eq!(code(keeper.accept(&examined, Content::Delta(&bent), now(2))), "list_not_its_name");
    assert_eq!(code(keeper.accept(&examined, Content::Body(three.body_bytes()), now(2))), "accepted");
}

#[test]
fn r6_a_refused_list_leaves_the_held_one_which_ages_on() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, [1]);
    let two = next(&one, &signer, [2], 10);
    offer(&mut keeper, &two, now(10)).unwrap();
    for seconds in [30, 50, 70] {
        assert!(offer(&mut keeper, &next(&one, &signer, [3], seconds), now(seconds)).is_err());
    }
    assert_eq!(stale(&keeper, now(70)), "fresh");
    assert!(lists(&keeper).fresh(&issuer(), Format::Tenuo, now(70)).unwrap().contains(&entry(2)));
    assert_eq!(stale(&keeper, now(71)), "list_stale");
}

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

#[test]
fn c6_a_source_must_be_named_and_young() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let [young, none, unnamed]: [IssuerId; 3] = ["young", "none", "unnamed"].map(|id| id.parse().unwrap());
    let sources = [(young.clone(), SourceTime::At(at(T0 - 20))), (none.clone(), SourceTime::None)];
    let list = Draft::first(issuer()).with_sources(sources).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    let lists = lists(&keeper);
    let fresh = lists.fresh(&issuer(), Format::Tenuo, now(0)).unwrap();
    assert_eq!(fresh.check_source(&none, now(40)), Ok(()));
    assert_eq!(fresh.check_source(&young, now(40)), Ok(()));
    assert_eq!(fresh.check_source(&young, now(41)).unwrap_err().code(), "source_stale");
    // By the monotonic clock too (T1).
    assert_eq!(fresh.check_source(&young, clocks(0, 41)).unwrap_err().code(), "source_stale");
    assert_eq!(fresh.check_source(&unnamed, now(0)).unwrap_err().code(), "source_missing");
}
