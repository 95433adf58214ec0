use std::fs;

use pact_mandate::{MandateId, SecretKey, Signer, Validity, mandate::RootGrant};

use super::*;
use crate::{
    keyring::KeyEntry,
    mint::mint,
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

fn revoke_one(store: &mut Store, number: u8, now: UnixTime) {
    let grant = RootGrant {
        id: MandateId::from_random([number; 16]),
        human: "boss".parse().unwrap(),
        holder: "agent-a".parse().unwrap(),
        scope: vec!["task.read@project:web".parse().unwrap()].try_into().unwrap(),
        limits: pact_mandate::Ceilings::default(),
        delegations: 1,
        validity: Validity { not_before: now, expires_at: now.plus(3_600) },
    };
    let record = mint(grant, &secret(1)).unwrap();
    let id = record.id;
    let mut writer = store.write().unwrap();
    writer.commit(now, Event::Mandate(record)).unwrap();
    let revocation = revoke::mandate(writer.state().records(), id, now).unwrap();
    writer.commit(now, Event::Revocation(revocation)).unwrap();
}

fn version(documents: &Documents) -> u64 {
    match documents[&list_path(Format::Pact)].kind {
        Kind::List { version, .. } => version.get(),
        _ => panic!("not a list"),
    }
}

fn body_paths(documents: &Documents) -> Vec<&String> {
    documents.iter().filter(|(_, document)| document.kind == Kind::Body).map(|(path, _)| path).collect()
}

#[test]
fn k1_each_set_holds_the_keys_of_its_role() {
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let documents = keys(store.state().keyring(), "example", 60, at(1_001)).unwrap();
    let text =
        |name: &str| String::from_utf8(documents[&format!("{WELL_KNOWN}/{name}")].bytes.to_vec()).unwrap();
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
    let head = |documents: &Documents| documents[&list_path(Format::Pact)].bytes.clone();
    let first = publisher.documents(at(1_100)).unwrap();
    assert_eq!(head(&publisher.documents(at(1_109)).unwrap()), head(&first));
    let refreshed = publisher.documents(at(1_110)).unwrap();
    assert_ne!(head(&refreshed), head(&first));
    assert_eq!((version(&refreshed), body_paths(&refreshed)), (1, body_paths(&first)));
    revoke_one(&mut other, 1, at(1_111));
    let changed = publisher.documents(at(1_111)).unwrap();
    assert_eq!(version(&changed), 2);
    // A verifier that read the last head still finds its body, for a while.
    let old = body_paths(&first)[0];
    assert!(changed.contains_key(old));
    assert!(!publisher.documents(at(1_300)).unwrap().contains_key(old));
    // A clock that steps back delays nothing.
    assert_ne!(head(&publisher.documents(at(1_000)).unwrap()), head(&changed));
}

#[test]
fn a_folder_of_static_files_holds_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("public");
    let mut other = store(dir.path());
    let mut publisher = Publisher::take(Store::open(&dir.path().join("data")).unwrap()).unwrap();
    for now in [1_100, 1_400] {
        revoke_one(&mut other, u8::try_from(now / 100).unwrap(), at(now));
        let documents = publisher.documents(at(now)).unwrap();
        write(&documents, &out, at(now)).unwrap();
        for (path, document) in &documents {
            let file = if *path == list_path(Format::Pact) {
                out.join(path).join("index.html")
            } else {
                out.join(path)
            };
            assert_eq!(fs::read(file).unwrap(), document.bytes.to_vec(), "{path}");
        }
        let files = fs::read_dir(out.join(list_path(Format::Pact))).unwrap().count();
        assert_eq!(files, body_paths(&documents).len() + 1, "bodies that nothing names are removed");
    }
}

#[test]
fn r3_a_revoked_mandate_key_is_listed_although_nothing_signs_the_compatible_lists() {
    let dir = tempfile::tempdir().unwrap();
    let mut other = store(dir.path());
    let mut publisher = Publisher::take(Store::open(&dir.path().join("data")).unwrap()).unwrap();
    publisher.documents(at(1_100)).unwrap();
    let key = *secret(1).public_key();
    let mut writer = other.write().unwrap();
    let revocation = revoke::key(writer.state().records(), key, Some(secret(1).key_id()), at(1_101)).unwrap();
    writer.commit(at(1_101), Event::Revocation(revocation)).unwrap();
    drop(writer);
    let documents = publisher.documents(at(1_101)).unwrap();
    assert_eq!(version(&documents), 2);
    assert!(!documents.contains_key(&list_path(Format::Tenuo)));
    let keys = &documents[&format!("{WELL_KNOWN}/pact-keys.json")];
    assert_eq!(*keys.bytes, *br#"{"keys":[]}"#);
}
