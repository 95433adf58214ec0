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

/// `a` publishes everything, `b` has the root 1 pinned and publishes more.
fn book() -> KeyBook {
    let issuer = |id: &str, roots: &str| {
        format!(
            "[[issuers]]\nid = \"{id}\"\n{roots}\nkeys_url = \"https://{id}/k\"\nlist_keys_url = \"https://{id}/l\"\n\
             lists_url = \"https://{id}/r\"\nspeaks = {{ formats = [], actions = [], projects = [] }}\n"
        )
    };
    let text = format!(
        "listen = \"127.0.0.1:0\"\nadmin_listen = \"127.0.0.1:0\"\naudience = \"https://t/mcp\"\npolicy = \"p\"\n\
         state_dir = \"s\"\nupstream = {{ url = \"http://127.0.0.1:1/\" }}\n{}{}",
        issuer("a", ""),
        issuer("b", &format!("roots = [\"ours:{}\"]", key(1)))
    );
    KeyBook::new(&Config::from_toml(&text, Path::new("/")).unwrap())
}

const A_ROOT: KeyPlace = KeyPlace { issuer: 0, role: Role::Root };
const A_LIST: KeyPlace = KeyPlace { issuer: 0, role: Role::List };
const B_ROOT: KeyPlace = KeyPlace { issuer: 1, role: Role::Root };

fn now() -> Monotonic {
    Monotonic::from_origin(Duration::from_secs(1))
}

fn roots(book: &KeyBook, place: KeyPlace) -> usize {
    book.report(now())[place.issuer].roots
}

#[test]
fn k3_a_set_that_holds_another_issuers_key_is_refused_whole() {
    let book = book();
    let foreign = book.offer(A_ROOT, Ok(set(&[2, 1])), now());
    assert!(matches!(foreign, Err(KeysFault::Foreign { owner, .. }) if owner.as_str() == "b"));
    assert_eq!(roots(&book, A_ROOT), 0);
    book.offer(A_ROOT, Ok(set(&[2])), now()).unwrap();
    assert!(matches!(book.offer(B_ROOT, Ok(set(&[3, 2])), now()), Err(KeysFault::Foreign { .. })));
    assert_eq!((roots(&book, A_ROOT), roots(&book, B_ROOT)), (1, 1));
    assert!(book.trust(now()).is_ok());
}

#[test]
fn k1_a_key_has_one_role() {
    let book = book();
    book.offer(A_LIST, Ok(set(&[4])), now()).unwrap();
    assert!(matches!(book.offer(A_ROOT, Ok(set(&[2, 4])), now()), Err(KeysFault::TwoRoles { .. })));
    assert!(matches!(book.offer(B_ROOT, Ok(set(&[4])), now()), Err(KeysFault::Foreign { .. })));
    assert_eq!(roots(&book, A_ROOT), 0);
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
    book.offer(A_ROOT, Ok(set(&[2])), now()).unwrap();
    assert!(book.offer(A_ROOT, Ok(set(&[1])), now()).is_err());
    assert_eq!(roots(&book, A_ROOT), 1);
    assert!(book.report(now())[0].fault.as_ref().unwrap().contains("belongs to b"));
}
