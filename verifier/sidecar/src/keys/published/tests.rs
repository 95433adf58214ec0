use pact_mandate::jwks::KeySetError;
use pact_verifier::Presented;

use super::*;

fn bounds() -> KeyBounds {
    let seconds = Duration::from_secs;
    KeyBounds { soft: seconds(60), hard: seconds(3600), cooldown: seconds(10) }
}

fn at(seconds: u64) -> Monotonic {
    Monotonic::from_origin(Duration::from_secs(seconds))
}

/// What may be said of some credential.
fn hint(which: u32) -> UnverifiedHint {
    Presented::biscuit(&format!("AAAA{which:08}")).unwrap().unverified_hint()
}

fn set() -> KeySet {
    let key: PublicKey = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo".parse().unwrap();
    KeySet::new(vec![(key.thumbprint().into(), key)]).unwrap()
}

fn held() -> Published {
    let mut published = Published::new(bounds());
    published.trying(at(0));
    published.took(&set(), at(0));
    published
}

#[test]
fn k4_a_set_is_fetched_again_past_the_soft_bound_and_empty_past_the_hard_stop() {
    let published = held();
    assert_eq!(published.next_fetch(at(1)), Duration::from_secs(59));
    assert_eq!(published.next_fetch(at(61)), Duration::ZERO);
    assert_eq!(published.keys(at(3599)).len(), 1);
    assert_eq!(published.until_hard_stop(at(3599)), Some(Duration::from_secs(1)));
    assert_eq!(published.keys(at(3600)), &[]);
    assert_eq!(published.until_hard_stop(at(3600)), None);
    assert_eq!(Published::new(bounds()).keys(at(0)), &[]);
}

#[test]
fn k4_a_failed_fetch_spends_the_cooldown_and_keeps_the_good_keys() {
    let mut published = held();
    published.trying(at(61));
    published.failed(KeysFault::Fetch { code: "fetch_transport", text: "no answer".into() });
    assert_eq!(published.keys(at(61)).len(), 1);
    assert_eq!(published.next_fetch(at(61)), Duration::from_secs(10));
    assert_eq!(published.next_fetch(at(71)), Duration::ZERO);
    assert!(published.fault().is_some());
    published.took(&set(), at(71));
    assert_eq!(published.fault(), None);
}

#[test]
fn k4_the_cooldown_holds_while_the_set_is_empty() {
    let mut published = Published::new(bounds());
    assert_eq!(published.next_fetch(at(0)), Duration::ZERO);
    published.trying(at(0));
    published.failed(KeysFault::Set(KeySetError::NoUsableKey));
    for which in 0..1000 {
        published.missed(hint(which), at(1));
    }
    assert_eq!(published.next_fetch(at(1)), Duration::from_secs(9));
}

#[test]
fn k4_a_miss_asks_for_one_early_fetch_and_is_remembered() {
    let mut published = held();
    assert!(published.missed(hint(7), at(20)));
    assert_eq!(published.next_fetch(at(20)), Duration::ZERO);
    published.trying(at(20));
    published.took(&set(), at(20));
    assert!(!published.missed(hint(7), at(40)));
    assert_eq!(published.next_fetch(at(40)), Duration::from_secs(40));
    assert!(published.missed(hint(7), at(400)));
}

#[test]
fn k4_the_memory_of_misses_is_bounded_and_a_full_one_asks_for_nothing() {
    let mut published = held();
    let asked = (0..10_000).filter(|which| published.missed(hint(*which), at(20))).count();
    assert_eq!(asked, MAX_MISSES);
    assert_eq!(published.misses.len(), MAX_MISSES);
    assert_eq!(published.keys(at(20)).len(), 1);
}
