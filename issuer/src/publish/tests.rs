use pact_mandate::{MandateId, SecretKey, Signer, Validity, hex, jwks::KeySet, mandate::RootGrant};
use pact_revocation::{
    Draft, Entry,
    compat::tenuo,
    files::{FileKind, WELL_KNOWN, list_path},
};

use super::*;
use crate::{
    keyring::KeyEntry,
    mint::mint,
    record::{CredentialRecord, MandateRecord, Minted},
    records::Records,
    revoke,
    store::{Event, Store},
};

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

fn store(dir: &std::path::Path) -> Store {
    let entry = |seed, role| {
        let key = secret(seed);
        (KeyEntry::first(key.key_id().clone(), role, *key.public_key(), at(1_000)), key)
    };
    let keys = vec![entry(1, Role::Mandate), entry(2, Role::List)];
    Store::create(&dir.join("data"), "example".parse().unwrap(), 60, keys, at(1_000)).unwrap()
}

fn mandate(number: u8, now: UnixTime) -> MandateRecord {
    let grant = RootGrant {
        id: MandateId::from_random([number; 16]),
        human: "boss".parse().unwrap(),
        holder: "agent-a".parse().unwrap(),
        scope: vec!["task.read@project:web".parse().unwrap()].try_into().unwrap(),
        limits: pact_mandate::Ceilings::default(),
        delegations: 1,
        validity: Validity { not_before: now, expires_at: now.plus(3_600) },
    };
    mint(grant, &secret(1)).unwrap()
}

fn revoke_one(store: &mut Store, number: u8, now: UnixTime) {
    let record = mandate(number, now);
    let id = record.id;
    let mut writer = store.write().unwrap();
    writer.commit(now, Event::Mandate(record)).unwrap();
    let revocation = revoke::mandate(writer.state().records(), id, now).unwrap();
    writer.commit(now, Event::Revocation(revocation)).unwrap();
}

fn version(files: &PublishedFiles) -> u64 {
    match files.get(&list_path(Format::Pact)).unwrap().kind() {
        FileKind::List { version, .. } => version.get(),
        _ => panic!("not a list"),
    }
}

fn body_paths(files: &PublishedFiles) -> Vec<String> {
    let bodies = files.in_storing_order().filter(|file| matches!(file.kind(), FileKind::Body { .. }));
    bodies.map(|file| file.url_path().to_owned()).collect()
}

fn text(files: &PublishedFiles, name: &str) -> String {
    let file = files.get(&format!("{WELL_KNOWN}/{name}")).unwrap();
    String::from_utf8(file.bytes().to_vec()).unwrap()
}

#[test]
fn k1_each_set_holds_the_keys_of_its_role() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let files = keys(store.state().keyring(), "example", 60, at(1_001)).unwrap();
    let text = |name| text(&files, name);
    let (mandate, list) = (secret(1), secret(2));
    assert!(text("pact-keys.json").contains(&mandate.public_key().to_string()));
    assert!(!text("pact-keys.json").contains(&list.public_key().to_string()));
    assert!(text("pact-list-keys.json").contains(&list.public_key().to_string()));
    assert!(!text("pact-list-keys.json").contains(&mandate.public_key().to_string()));
    assert_eq!(text("jwks.json"), r#"{"keys":[]}"#);
    let hex = hex::encode(mandate.public_key().as_bytes());
    let id = crate::keyring::biscuit_key_id(mandate.key_id(), mandate.public_key());
    let web = format!(
        r#"[{{"algorithm":"ed25519","key_bytes":"{hex}","key_id":{id},"issuer":"example","kid":"{}"}}]"#,
        mandate.key_id()
    );
    assert_eq!(text("biscuit-web-keys"), web);
}

#[test]
fn r2_a_list_is_signed_every_ten_seconds_and_at_once_on_a_change() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = store(dir.path());
    let mut publisher = Publisher::take(Store::open(&dir.path().join("data")).unwrap()).unwrap();
    let head = |files: &PublishedFiles| files.get(&list_path(Format::Pact)).unwrap().bytes().clone();
    let first = publisher.files(at(1_100)).unwrap();
    assert_eq!(head(&publisher.files(at(1_109)).unwrap()), head(&first));
    let refreshed = publisher.files(at(1_110)).unwrap();
    assert_ne!(head(&refreshed), head(&first));
    assert_eq!((version(&refreshed), body_paths(&refreshed)), (1, body_paths(&first)));
    revoke_one(&mut other, 1, at(1_111));
    let changed = publisher.files(at(1_111)).unwrap();
    assert_eq!(version(&changed), 2);
    // A verifier that read the last head still finds its body, for a while.
    let old = &body_paths(&first)[0];
    assert!(changed.get(old).is_some());
    assert!(publisher.files(at(1_300)).unwrap().get(old).is_none());
    // A clock that steps back delays nothing.
    assert_ne!(head(&publisher.files(at(1_000)).unwrap()), head(&changed));
}

#[test]
fn r3_a_revoked_mandate_key_is_listed_although_nothing_signs_the_compatible_lists() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = store(dir.path());
    let mut publisher = Publisher::take(Store::open(&dir.path().join("data")).unwrap()).unwrap();
    publisher.files(at(1_100)).unwrap();
    let key = *secret(1).public_key();
    let mut writer = other.write().unwrap();
    let revocation = revoke::key(writer.state().records(), key, Some(secret(1).key_id()), at(1_101)).unwrap();
    writer.commit(at(1_101), Event::Revocation(revocation)).unwrap();
    drop(writer);
    let files = publisher.files(at(1_101)).unwrap();
    assert_eq!(version(&files), 2);
    assert!(files.get(&list_path(Format::Tenuo)).is_none());
    assert_eq!(text(&files, "pact-keys.json"), r#"{"keys":[]}"#);
}

/// As a board does it, whose records stand in tables.
#[test]
fn r8_records_without_a_data_folder_are_revoked_and_published() {
    let now = at(1_100);
    let (record, signer) = (mandate(1, now), secret(1));
    let mandate = record.id;
    let credential = CredentialRecord {
        format: Format::Tenuo,
        mandate,
        holder: *secret(3).public_key(),
        key: signer.key_id().clone(),
        issued_at: now,
        expires_at: now.plus(600),
        minted: vec![Minted { mandate, id: CredentialId::Warrant([7; 16]), expires_at: now.plus(600) }],
    };
    let mut records = Records::default();
    records.add_mandate(record).unwrap();
    records.add_credential(credential).unwrap();
    let revocation = revoke::mandate(&records, mandate, now).unwrap();

    // Under the number that the table of revocations gives the list.
    let mut compatible = Compatible::numbered(4, 0);
    compatible.add(&revocation);
    let draft = Draft::first("example".parse().unwrap());
    let draft = draft.revoke(revocation.listed.iter().map(revoke::ListedName::listed));
    let published = draft.sign(&secret(2), now).unwrap();
    let files = lists(&published, &compatible, Some(&signer), now).unwrap();
    assert!(published.body().entries().contains(&Entry::of_mandate(mandate)));
    let keys = KeySet::new(vec![(signer.key_id().clone(), *signer.public_key())]).unwrap();
    let list = tenuo::open(files.get(&list_path(Format::Tenuo)).unwrap().bytes(), &keys).unwrap();
    assert_eq!((list.version().get(), list.entries()), (5, &[Entry::of_warrant(&[7; 16])][..]));

    // Or id by id, whose number the table holds.
    let mut by_id = Compatible::numbered(5, 0);
    by_id.list(CredentialId::Warrant([7; 16]), now.plus(600));
    assert_eq!(by_id, compatible);
}
