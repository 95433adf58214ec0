//! Which list may take the place of the held one (protocol R6).

use super::*;

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
