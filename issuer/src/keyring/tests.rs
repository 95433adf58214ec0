use pact_mandate::{SecretKey, Signer, UnixTime};

use super::*;

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

fn first(seed: u8, role: Role) -> KeyEntry {
    let key = secret(seed);
    KeyEntry::first(key.key_id().clone(), role, *key.public_key(), at(100))
}

fn next(seed: u8, role: Role, now: u64) -> KeyEntry {
    let key = secret(seed);
    KeyEntry::next(key.key_id().clone(), role, *key.public_key(), at(now))
}

#[test]
fn board_keys_are_read_newest_first() {
    // Board rule 13.1.
    let derived = derived_key("0123456789abcdef0123456789abcdef").unwrap();
    assert_eq!(derived.key_id().as_str(), "derived-1");
    assert_eq!(derived.public_key().to_string(), "D5T2moudqkmPooUqXJ5ASZvejmYNA4yB3RD12LinPzQ");
    assert_eq!(biscuit_key_id(derived.key_id(), derived.public_key()), 948_595_392);
    assert!(matches!(derived_key("short"), Err(BoardKeysError::SigningKeyTooShort)));

    let seed = pact_mandate::hex::encode(derived.seed().as_slice());
    assert_eq!(seed, "5c2af3405cb8a250467a23a59612eb6efff87de87b88e7a9ca0b9b46a84d71eb");

    let keys = parse_board_keys(&format!("new={}A, old={}=", "B".repeat(42), "A".repeat(43))).unwrap();
    let names: Vec<&str> = keys.iter().map(|key| key.key_id().as_str()).collect();
    assert_eq!(names, ["new", "old"]);
}

#[test]
fn malformed_board_keys_are_refused_without_showing_them() {
    let seed = "A".repeat(43);
    let cases = [
        (String::new(), BoardKeysError::Empty),
        (format!("a={seed},"), BoardKeysError::NotAnEntry(2)),
        (seed.clone(), BoardKeysError::NotAnEntry(1)),
        (format!("={seed}"), BoardKeysError::NotAKeyId(1)),
        (format!("a:b={seed}"), BoardKeysError::NotAKeyId(1)),
        ("a=secretsecret".to_owned(), BoardKeysError::NotASeed(1)),
        (format!("a={seed},a={seed}"), BoardKeysError::RepeatedKeyId(2)),
    ];
    for (text, error) in cases {
        assert_eq!(parse_board_keys(&text).map(|keys| keys.len()), Err(error), "{text}");
        assert!(!format!("{error} {error:?}").contains("secretsecret"));
    }
}

#[test]
fn k1_a_key_has_one_role_and_a_name_is_used_once() {
    let mut keyring = Keyring::new(vec![first(1, Role::Mandate)]).unwrap();
    let kid = secret(1).key_id().clone();
    assert_eq!(keyring.insert(first(1, Role::List)), Err(KeyringError::Duplicate(kid.clone())));
    let other = KeyEntry { kid: kid.clone(), ..first(2, Role::List) };
    assert_eq!(keyring.insert(other), Err(KeyringError::Duplicate(kid)));
    assert_eq!(keyring.insert(first(2, Role::Mandate)), Err(KeyringError::TwoActive(Role::Mandate)));
    assert_eq!(keyring.insert(first(2, Role::List)), Ok(()));
}

#[test]
fn k1_sets_hold_the_keys_of_one_role() {
    let keyring = Keyring::new(vec![first(1, Role::Mandate), first(2, Role::List)]).unwrap();
    let mandate = keyring.published(Role::Mandate, at(200)).unwrap();
    assert!(mandate.contains(secret(1).public_key()) && !mandate.contains(secret(2).public_key()));
    let list = keyring.published(Role::List, at(200)).unwrap();
    assert!(list.contains(secret(2).public_key()) && !list.contains(secret(1).public_key()));
}

#[test]
fn k6_a_key_is_published_before_it_signs_and_until_the_last_thing_it_signed_has_expired() {
    let mut keyring = Keyring::new(vec![first(1, Role::Mandate)]).unwrap();
    keyring.check_announce(Role::Mandate, 60, at(1_000)).unwrap();
    keyring.insert(next(2, Role::Mandate, 1_000)).unwrap();
    let (old, new) = (secret(1), secret(2));
    assert!(keyring.published(Role::Mandate, at(1_000)).unwrap().contains(new.public_key()));
    let verifying = keyring.verifying(Role::Mandate, at(1_000));
    assert!(verifying.values().all(|key| key != new.public_key()), "it signed nothing yet");
    assert!(matches!(
        keyring.check_announce(Role::Mandate, 60, at(1_001)),
        Err(RotationError::AlreadyAnnounced { .. })
    ));

    let too_soon = keyring.take_over(Role::Mandate, 60, at(5_000), at(1_059));
    assert!(matches!(too_soon, Err(RotationError::TooSoon { from, .. }) if from == at(1_060)));
    for entry in keyring.take_over(Role::Mandate, 60, at(5_000), at(1_060)).unwrap() {
        keyring.replace(entry).unwrap();
    }
    assert_eq!(keyring.active(Role::Mandate).unwrap().key, *new.public_key());
    let removed_at = at(5_000).plus(crate::limits::KEY_SKEW_SECONDS);
    let published = keyring.published(Role::Mandate, removed_at.minus(1)).unwrap();
    assert_eq!(
        published.keys().first().map(|(_, key)| *key),
        Some(*new.public_key()),
        "the active key comes first"
    );
    assert!(published.contains(old.public_key()));
    assert!(!keyring.published(Role::Mandate, removed_at).unwrap().contains(old.public_key()));
}

/// One active mandate key and as many retired ones as fill the set; the one of seed 1 leaves at 2 001, the next at 2 002.
fn full() -> Keyring {
    let retired = (1..=u8::try_from(MAX_KEYS - 1).unwrap())
        .map(|seed| first(seed, Role::Mandate).retired(at(150), at(2_000 + u64::from(seed))));
    Keyring::new(retired.chain([first(200, Role::Mandate)]).collect()).unwrap()
}

#[test]
fn k3_a_set_that_no_verifier_takes_is_never_made_and_the_error_says_what_leaves_first() {
    let mut keyring = full();
    assert_eq!(keyring.published(Role::Mandate, at(1_000)).unwrap().keys().len(), MAX_KEYS);
    let announced = keyring.check_announce(Role::Mandate, 60, at(2_000)).unwrap_err();
    let inserted = keyring.insert(next(201, Role::Mandate, 2_000)).unwrap_err();
    assert_eq!(announced, RotationError::Keyring(inserted.clone()));
    let error = inserted.to_string();
    assert!(error.contains("64 mandate keys are published"), "{error}");
    assert!(error.contains(secret(1).key_id().as_str()) && error.contains(&at(2_001).to_string()), "{error}");
    assert!(error.contains("pact-issuer revoke --key"), "{error}");
    assert_eq!(keyring.insert(next(202, Role::List, 2_000)), Ok(()), "each role has a set of its own");

    // Once it has left there is room again; the history holds more than any set.
    keyring.check_announce(Role::Mandate, 60, at(2_001)).unwrap();
    keyring.insert(next(201, Role::Mandate, 2_001)).unwrap();
    assert_eq!(keyring.published(Role::Mandate, at(2_001)).unwrap().keys().len(), MAX_KEYS);
    assert_eq!(keyring.historical(Role::Mandate).len(), MAX_KEYS + 1);
    assert_eq!(keyring.verifying(Role::Mandate, at(2_001)).len(), MAX_KEYS - 1);
    // A clock that steps back must not empty the published set: there is none to publish then, and an error says so.
    let error = keyring.published(Role::Mandate, at(2_000)).unwrap_err();
    assert_eq!(error, KeyringError::NotASet { role: Role::Mandate, fault: KeySetError::TooMany });
}

#[test]
fn k3_a_keyring_that_begins_too_large_is_refused() {
    let retired = (1..=u8::try_from(MAX_KEYS + 1).unwrap())
        .map(|seed| first(seed, Role::Mandate).retired(at(150), at(2_000)));
    assert!(matches!(Keyring::new(retired.collect()), Err(KeyringError::Full { role: Role::Mandate, .. })));
}

#[test]
fn a_revoked_key_neither_signs_nor_is_published() {
    let entry = first(1, Role::Mandate);
    let mut keyring = Keyring::new(vec![entry.clone()]).unwrap();
    keyring.unlock(secret(1)).unwrap();
    assert!(keyring.signer(Role::Mandate).is_ok());
    keyring.replace(KeyEntry { revoked_at: Some(at(300)), ..entry }).unwrap();
    assert!(matches!(keyring.signer(Role::Mandate), Err(KeyringError::NoActive(Role::Mandate))));
    assert!(keyring.published(Role::Mandate, at(300)).unwrap().keys().is_empty());
}

#[test]
fn a_secret_that_is_not_at_hand_is_named_and_never_shown() {
    let keyring = Keyring::new(vec![first(1, Role::Mandate)]).unwrap();
    let error = keyring.signer(Role::Mandate).unwrap_err();
    assert_eq!(error, KeyringError::NoSecret(secret(1).key_id().clone()));
    let mut keyring = keyring;
    keyring.unlock(secret(1)).unwrap();
    assert!(!format!("{keyring:?}").contains("AQEBAQ"));
}
