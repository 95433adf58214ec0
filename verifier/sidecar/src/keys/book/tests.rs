use std::path::Path;

use pact_mandate::SecretKey;
use pact_mandate::Signer;

use super::*;

fn key(seed: u8) -> PublicKey {
    *SecretKey::from_seed(&[seed; 32]).unwrap().public_key()
}

fn set(seeds: &[u8]) -> KeySet {
    KeySet::new(seeds.iter().map(|seed| (key(*seed).thumbprint().into(), key(*seed))).collect()).unwrap()
}

fn issuer(id: &str, roots: &str) -> String {
    format!(
        "[[issuers]]\nid = \"{id}\"\n{roots}\nkeys_url = \"https://{id}/k\"\nlist_keys_url = \"https://{id}/l\"\n\
         lists_url = \"https://{id}/r\"\nspeaks = {{ formats = [], actions = [], projects = [] }}\n"
    )
}

/// The issuers `a` and `b`, which both publish everything; `b` has these roots pinned.
fn config(pinned: &[&str]) -> Config {
    let pinned: Vec<String> = pinned.iter().map(|key| format!("\"{key}\"")).collect();
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\naudience = \"https://t/mcp\"\npolicy = \"p\"\n\
         state_dir = \"s\"\nupstream = {{ url = \"http://127.0.0.1:1/\" }}\n{}{}",
        issuer("a", ""),
        issuer("b", &format!("roots = [{}]", pinned.join(", ")))
    );
    Config::from_toml(&text, Path::new("/")).unwrap()
}

/// `a` publishes everything, `b` has the root 1 pinned and publishes more.
fn book() -> KeyBook {
    KeyBook::new(&config(&[&format!("ours:{}", key(1))]))
}

const A_ROOT: KeyPlace = KeyPlace { issuer: 0, role: KeyRole::Root };
const A_LIST: KeyPlace = KeyPlace { issuer: 0, role: KeyRole::List };
const B_ROOT: KeyPlace = KeyPlace { issuer: 1, role: KeyRole::Root };
const B_LIST: KeyPlace = KeyPlace { issuer: 1, role: KeyRole::List };

fn at(seconds: u64) -> Monotonic {
    Monotonic::from_origin(Duration::from_secs(seconds))
}

fn now() -> Monotonic {
    at(1)
}

fn roots(book: &KeyBook, place: KeyPlace) -> usize {
    roots_at(book, place, now())
}

fn roots_at(book: &KeyBook, place: KeyPlace, now: Monotonic) -> usize {
    book.trust(now).unwrap().issuers()[place.issuer].roots.len()
}

/// A fetch from its beginning to its end, in no time.
fn fetch(book: &KeyBook, place: KeyPlace, seeds: &[u8], seconds: u64) -> Result<(), KeysFault> {
    book.with(place, |set| set.trying(at(seconds)));
    book.offer(place, Ok(set(seeds)), at(seconds))
}

#[test]
fn k3_a_set_that_holds_another_issuers_key_is_refused_whole() {
    let book = book();
    let foreign = fetch(&book, A_ROOT, &[2, 1], 1);
    assert!(matches!(foreign, Err(KeysFault::Foreign { owner, .. }) if owner.as_str() == "b"));
    assert_eq!(roots(&book, A_ROOT), 0);
    fetch(&book, A_ROOT, &[2], 1).unwrap();
    fetch(&book, B_ROOT, &[3], 2).unwrap();
    assert!(matches!(fetch(&book, B_ROOT, &[3, 2], 3), Err(KeysFault::Foreign { .. })));
    assert_eq!((roots(&book, A_ROOT), roots(&book, B_ROOT)), (1, 2), "b has one pinned root as well");
    assert_eq!(book.disputes(), Vec::<String>::new());
}

#[test]
fn k1_a_key_has_one_role() {
    let book = book();
    fetch(&book, A_LIST, &[4], 1).unwrap();
    assert!(matches!(fetch(&book, A_ROOT, &[2, 4], 2), Err(KeysFault::TwoRoles { .. })));
    assert_eq!(roots(&book, A_ROOT), 0);
    fetch(&book, A_LIST, &[5], 3).unwrap();
    assert!(matches!(fetch(&book, A_ROOT, &[2, 4], 4), Err(KeysFault::TwoRoles { .. })), "nor ever after");
    assert!(matches!(fetch(&book, B_LIST, &[1], 4), Err(KeysFault::TwoRoles { .. })), "nor a pinned one");
}

#[test]
fn k3_a_pinned_id_stays_with_its_key_and_a_pinned_key_may_be_published() {
    let book = book();
    let taken = KeySet::new(vec![("ours".parse().unwrap(), key(5))]).unwrap();
    assert!(matches!(book.offer(B_ROOT, Ok(taken), now()), Err(KeysFault::IdTaken { .. })));
    book.offer(B_ROOT, Ok(set(&[1, 5])), now()).unwrap();
    assert_eq!(roots(&book, B_ROOT), 2);
    assert!(book.trust(now()).is_ok());
}

#[test]
fn k4_a_refused_set_leaves_the_held_one() {
    let book = book();
    fetch(&book, A_ROOT, &[2], 1).unwrap();
    assert!(fetch(&book, A_ROOT, &[1], 2).is_err());
    assert_eq!(roots(&book, A_ROOT), 1);
    assert!(book.report(now())[0].fault.as_ref().unwrap().contains("belongs to b"));
}

/// What a has shown is a's, also when nothing of a's counts any more.
#[test]
fn k3_a_key_stays_its_issuers_past_the_hard_stop_and_after_it_was_withdrawn() {
    let book = book();
    fetch(&book, A_ROOT, &[2], 1).unwrap();
    fetch(&book, B_ROOT, &[3], 2).unwrap();
    let late = 1 + 3600;
    assert_eq!(roots_at(&book, A_ROOT, at(late)), 0, "past the hard stop");
    for place in [B_ROOT, B_LIST] {
        fetch(&book, place, &[if place == B_ROOT { 3 } else { 6 }], late).unwrap();
        assert!(matches!(fetch(&book, place, &[7, 2], late + 10), Err(KeysFault::Foreign { .. })));
    }
    fetch(&book, A_ROOT, &[8], late + 20).unwrap();
    fetch(&book, B_ROOT, &[3], late + 30).unwrap();
    assert!(matches!(fetch(&book, B_ROOT, &[2], late + 40), Err(KeysFault::Foreign { .. })));
    fetch(&book, A_ROOT, &[2], late + 50).unwrap();
    assert_eq!(roots_at(&book, A_ROOT, at(late + 50)), 1);
}

/// Before a's first fetch b can publish a's root. Nobody can know which of them lies, so nobody is believed for it.
#[test]
fn k3_a_key_that_two_issuers_show_before_either_could_be_known_to_be_first_counts_for_neither() {
    for role in [KeyRole::Root, KeyRole::List] {
        let book = book();
        let thief = KeyPlace { issuer: 1, role };
        fetch(&book, thief, &[2, 3], 1).unwrap();
        let disputed = fetch(&book, A_ROOT, &[2, 4], 2);
        assert!(matches!(disputed, Err(KeysFault::Disputed(_))), "{disputed:?}");
        assert_eq!(roots(&book, A_ROOT), 0);
        assert_eq!(roots(&book, B_ROOT), 1, "only the pinned one");
        assert_eq!(book.list_keys(&"b".parse().unwrap(), now()), Vec::new());
        let told = book.disputes().concat();
        assert!(told.contains("by b and by a") && told.contains("pin it"), "{told}");
        for fault in book.report(now()).into_iter().map(|keys| keys.fault.unwrap()) {
            assert!(fault.contains("cannot be known"), "{fault}");
        }
        // It stays so, whoever comes back with it; what else they publish counts.
        assert!(matches!(fetch(&book, thief, &[2], 20), Err(KeysFault::Disputed(_))));
        assert!(matches!(fetch(&book, A_ROOT, &[2], 20), Err(KeysFault::Disputed(_))));
        fetch(&book, A_ROOT, &[4], 30).unwrap();
        fetch(&book, thief, &[3], 30).unwrap();
        assert_eq!(roots(&book, A_ROOT), 1);
    }
}

/// The same at every rotation: between two fetches of a's set, b can copy a's new key and be fetched first.
#[test]
fn k3_a_key_that_was_copied_between_two_fetches_of_its_owner_counts_for_neither() {
    let book = book();
    fetch(&book, A_ROOT, &[2], 10).unwrap();
    fetch(&book, B_ROOT, &[3, 4], 20).unwrap();
    assert!(matches!(fetch(&book, A_ROOT, &[2, 4], 30), Err(KeysFault::Disputed(_))));
    assert_eq!((roots_at(&book, A_ROOT, at(30)), roots_at(&book, B_ROOT, at(30))), (1, 1));
    // Whoever was seen without it since another had it is the later one, and harms nobody but itself.
    let book = self::book();
    fetch(&book, B_ROOT, &[4], 10).unwrap();
    fetch(&book, A_ROOT, &[2], 20).unwrap();
    assert!(matches!(fetch(&book, A_ROOT, &[2, 4], 30), Err(KeysFault::Foreign { .. })));
    assert_eq!(roots_at(&book, B_ROOT, at(30)), 2);
}

/// A fetch that began before the other's key was seen may have been answered before it, too.
#[test]
fn k3_what_counts_is_when_a_fetch_began() {
    let book = book();
    book.with(A_ROOT, |set| set.trying(at(10)));
    fetch(&book, B_ROOT, &[4], 11).unwrap();
    book.offer(A_ROOT, Ok(set(&[2])), at(12)).unwrap();
    assert!(matches!(fetch(&book, A_ROOT, &[2, 4], 22), Err(KeysFault::Disputed(_))));
}

/// The order in a set decides nothing: the foreign key is no shield for the disputed one.
#[test]
fn k3_each_key_of_a_refused_set_is_looked_at() {
    for order in [[1, 2], [2, 1]] {
        let book = book();
        fetch(&book, B_LIST, &[2], 1).unwrap();
        assert!(fetch(&book, A_ROOT, &order, 2).is_err());
        assert_eq!(book.list_keys(&"b".parse().unwrap(), now()), Vec::new(), "{order:?}");
    }
}

#[test]
fn k3_a_pinned_key_is_its_owners_whoever_publishes_it_first() {
    let book = book();
    for place in [A_ROOT, A_LIST] {
        assert!(matches!(fetch(&book, place, &[1], 1), Err(KeysFault::Foreign { .. })));
    }
    fetch(&book, B_ROOT, &[1], 2).unwrap();
    assert_eq!((roots(&book, B_ROOT), book.disputes()), (1, Vec::new()));
}

#[test]
fn k3_what_is_remembered_of_an_issuer_is_bounded_and_beyond_the_bound_nothing_new_counts() {
    let book = book();
    let keys = |from: usize, count: usize| {
        let key = |number: usize| {
            let mut seed = [9; 32];
            seed[..8].copy_from_slice(&number.to_be_bytes());
            let public = *SecretKey::from_seed(&seed).unwrap().public_key();
            (public.thumbprint().into(), public)
        };
        KeySet::new((from..from + count).map(key).collect()).unwrap()
    };
    for round in 0..8 {
        book.offer(A_ROOT, Ok(keys(round * 64, 64)), at(1)).unwrap();
    }
    assert_eq!(book.offer(A_ROOT, Ok(keys(1000, 1)), at(1)), Err(KeysFault::TooManyKeysSeen));
    book.offer(A_ROOT, Ok(keys(0, 64)), at(1)).unwrap();
    book.offer(B_ROOT, Ok(keys(2000, 64)), at(1)).unwrap();
}

/// Sets that do not go together are refused where they come in. If one slips through, what is believed shrinks.
#[test]
fn k3_in_doubt_less_is_believed_never_what_was_believed_before() {
    let slip = |book: &KeyBook, place, seeds: &[u8]| book.with(place, |held| held.took(&set(seeds), at(1)));
    let book = book();
    slip(&book, A_ROOT, &[2, 4]);
    slip(&book, B_ROOT, &[3, 4]);
    assert!(matches!(book.trust(now()), Err(TrustError::SharedKey { .. })));
    let believed = book.believed(now()).unwrap();
    let counts = |trust: &TrustSnapshot| trust.issuers().iter().map(|it| it.roots.len()).collect::<Vec<_>>();
    assert_eq!(counts(&believed), [0, 1], "the pinned root is left");
    assert!(book.report(now()).iter().all(|keys| keys.fault.as_ref().unwrap().contains("go together")));
    // Where that does not help, nobody has a root.
    let mut twice = self::book();
    twice.issuers[0].roots = twice.issuers[1].roots.clone();
    assert_eq!(counts(&twice.believed(now()).unwrap()), [0, 0]);
}

#[test]
fn k3_what_a_reload_keeps_must_go_together_with_what_is_pinned_now() {
    let pinned = |seeds: &[u8]| {
        let keys: Vec<String> = seeds.iter().map(|seed| format!("k{seed}:{}", key(*seed))).collect();
        config(&keys.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let book = KeyBook::new(&pinned(&[1]));
    fetch(&book, A_ROOT, &[5, 6], 1).unwrap();
    fetch(&book, B_ROOT, &[7], 1).unwrap();
    // The same again: everything stays, and is as old as it was.
    let same = book.successor(&pinned(&[1]));
    assert_eq!((roots(&same, A_ROOT), roots(&same, B_ROOT)), (2, 2));
    assert_eq!(same.report(at(11))[0].age, Some(Duration::from_secs(10)));
    // A key of a's set is pinned under b: the set does not go together with that, and the next fetch is refused too.
    let taken = book.successor(&pinned(&[1, 5]));
    assert_eq!((roots(&taken, A_ROOT), roots(&taken, B_ROOT)), (0, 3));
    assert!(fetch(&taken, A_ROOT, &[5, 6], 2).is_err());
    // What b let go of stays b's: a cannot take it over.
    let without = book.successor(&pinned(&[1]));
    fetch(&without, B_ROOT, &[8], 2).unwrap();
    fetch(&without, A_ROOT, &[6], 2).unwrap();
    let later = without.successor(&pinned(&[1]));
    assert!(fetch(&later, A_ROOT, &[7], 3).is_err());
}
