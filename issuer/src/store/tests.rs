use std::{
    fs::{self, OpenOptions},
    io::Write,
    os::unix::fs::PermissionsExt,
};

use pact_mandate::{MandateId, SecretKey, Signer, UnixTime, Validity, mandate::RootGrant};

use super::*;
use crate::{mint::mint, record::MandateRecord, revoke};

pub(super) fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

pub(super) fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

pub(super) fn keys() -> Vec<(KeyEntry, SecretKey)> {
    let entry = |seed, role| {
        let key = secret(seed);
        (KeyEntry::first(key.key_id().clone(), role, *key.public_key(), at(1_000)), key)
    };
    vec![entry(1, Role::Mandate), entry(2, Role::List)]
}

pub(super) fn create(dir: &Path) -> Store {
    Store::create(dir, "example".parse().unwrap(), 60, keys(), at(1_000)).unwrap()
}

fn mandate(number: u8) -> MandateRecord {
    let grant = RootGrant {
        id: MandateId::from_random([number; 16]),
        human: "boss".parse().unwrap(),
        holder: "agent-a".parse().unwrap(),
        scope: vec!["task.read@project:web".parse().unwrap()].try_into().unwrap(),
        limits: pact_mandate::Ceilings::default(),
        delegations: 1,
        validity: Validity { not_before: at(1_000), expires_at: at(90_000) },
    };
    mint(grant, &secret(1)).unwrap()
}

pub(super) fn journal(dir: &Path) -> std::path::PathBuf {
    dir.join("journal.jsonl")
}

#[test]
fn what_was_committed_is_there_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    let mut writer = store.write().unwrap();
    let id = mandate(1).id;
    writer.commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    let revocation = revoke::mandate(writer.state().records(), id, at(1_002)).unwrap();
    writer.commit(at(1_002), Event::Revocation(revocation)).unwrap();
    drop(writer);
    let again = Store::open(&dir).unwrap();
    assert_eq!(again.state().records().mandate(id).unwrap().revoked_at, Some(at(1_002)));
    assert_eq!(again.state().listed(), store.state().listed());
    assert_eq!(again.state().listed().len(), 1);
    assert_eq!(again.signer(Role::Mandate).unwrap().public_key(), secret(1).public_key());
}

#[test]
fn a_line_that_was_cut_off_never_happened_and_the_next_one_takes_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    create(&dir).write().unwrap().commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    let whole = fs::read(journal(&dir)).unwrap();
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for cut in second..whole.len() - 1 {
        fs::write(journal(&dir), &whole[..cut]).unwrap();
        let store = Store::open(&dir).unwrap();
        assert_eq!(store.state().records().mandates().count(), 0, "cut at {cut}");
    }
    let mut store = Store::open(&dir).unwrap();
    store.write().unwrap().commit(at(1_003), Event::Mandate(mandate(2))).unwrap();
    let again = Store::open(&dir).unwrap();
    assert!(again.state().records().mandate(mandate(2).id).is_ok());
    assert!(again.state().records().mandate(mandate(1).id).is_err());
}

#[test]
fn a_damaged_line_stops_everything() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    create(&dir).write().unwrap().commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    let whole = fs::read_to_string(journal(&dir)).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let cases = [
        format!("{}\n", lines[1]),
        format!("{}\n{}\n{}\n", lines[0], lines[1], lines[1]),
        format!("{}\n{}\n", lines[0], lines[1].replace("agent-a", "agent-b ")),
        format!("{}\n{} \n", lines[0], lines[1]),
        format!("{}\n\n", lines[0]),
        format!("{}\n{}\n", lines[0], lines[0]),
    ];
    for case in cases {
        fs::write(journal(&dir), &case).unwrap();
        let error = Store::open(&dir).map(|_| ()).unwrap_err();
        assert!(matches!(error, StoreError::Journal { .. }), "{error}");
    }
}

#[test]
fn what_does_not_fit_is_refused_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    let mut writer = store.write().unwrap();
    writer.commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    let before = fs::read(journal(&dir)).unwrap();
    assert!(writer.commit(at(1_002), Event::Mandate(mandate(1))).is_err());
    let (entry, _) = keys().remove(0);
    assert!(writer.commit(at(1_002), Event::Key(entry)).is_err());
    assert_eq!(fs::read(journal(&dir)).unwrap(), before);
    writer.commit(at(1_002), Event::Mandate(mandate(2))).unwrap();
}

#[test]
fn another_process_sees_what_was_added() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut first = create(&dir);
    let mut second = Store::open(&dir).unwrap();
    assert!(!second.refresh().unwrap());
    first.write().unwrap().commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    assert!(second.refresh().unwrap());
    assert!(second.state().records().mandate(mandate(1).id).is_ok());
    // A writer whose disk failed takes its line back; a longer one may stand there at the next look.
    let whole = fs::read_to_string(journal(&dir)).unwrap();
    let opened = whole.lines().next().unwrap();
    fs::write(journal(&dir), format!("{opened}\n")).unwrap();
    assert!(second.refresh().unwrap());
    assert!(second.state().records().mandate(mandate(1).id).is_err());
}

#[test]
fn a_folder_or_key_that_others_may_read_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let store = create(&dir);
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o750)).unwrap();
    assert!(matches!(Store::open(&dir), Err(StoreError::OpenToOthers { mode: 0o750, .. })));
    fs::set_permissions(&dir, fs::Permissions::from_mode(0o700)).unwrap();
    for file in fs::read_dir(dir.join("keys")).unwrap() {
        let path = file.unwrap().path();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    }
    assert!(matches!(store.signer(Role::Mandate), Err(StoreError::KeyFile(_))));
}

#[test]
fn a_folder_is_made_once() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    create(&dir);
    let again = Store::create(&dir, "other".parse().unwrap(), 60, keys(), at(2_000));
    assert!(matches!(again, Err(StoreError::Exists(_))));
    assert_eq!(Store::open(&dir).unwrap().state().issuer().unwrap().as_str(), "example");
    assert!(matches!(Store::open(&dir.join("none")), Err(StoreError::NotAStore(_))));
}

#[test]
fn a_folder_whose_making_was_cut_off_can_be_made_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    create(&dir);
    let file = OpenOptions::new().write(true).open(journal(&dir)).unwrap();
    file.set_len(40).unwrap();
    assert!(matches!(Store::open(&dir), Err(StoreError::NotAStore(_))));
    create(&dir);
    assert!(Store::open(&dir).is_ok());
    let mut file = OpenOptions::new().append(true).open(journal(&dir)).unwrap();
    file.write_all(&[0; 100]).unwrap();
    assert!(Store::open(&dir).is_ok(), "zeros that a lost write left behind are a cut-off line");
}

#[test]
fn k6_a_key_goes_when_the_last_thing_that_it_signed_has_expired() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    store.write().unwrap().commit(at(1_001), Event::Mandate(mandate(1))).unwrap();
    let active = store.state().keyring().active(Role::Mandate).unwrap();
    assert_eq!(store.state().last_expiry(active), at(90_000));
}

#[test]
fn r2_one_process_signs() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let store = create(&dir);
    let signer = ListSigner::take(&store).unwrap();
    assert!(matches!(ListSigner::take(&store), Err(StoreError::Locked(_))));
    drop(signer);
    ListSigner::take(&store).unwrap();
}

#[test]
fn r1_a_list_has_a_new_number_exactly_when_its_set_changed_also_after_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    let mut signer = ListSigner::take(&store).unwrap();
    assert_eq!(signer.sign(&store, at(1_010)).unwrap().version().get(), 1);
    let mut writer = store.write().unwrap();
    writer.commit(at(1_011), Event::Mandate(mandate(1))).unwrap();
    let revocation = revoke::mandate(writer.state().records(), mandate(1).id, at(1_012)).unwrap();
    writer.commit(at(1_012), Event::Revocation(revocation)).unwrap();
    drop(writer);
    let head = signer.sign(&store, at(1_013)).unwrap().head().statement().clone();
    assert_eq!((head.version().get(), head.entries().count), (2, 1));
    assert_eq!(signer.sign(&store, at(1_023)).unwrap().version().get(), 2);
    drop(signer);
    let mut signer = ListSigner::take(&store).unwrap();
    let again = signer.sign(&store, at(1_033)).unwrap().head().statement().clone();
    assert_eq!((again.version(), again.entries()), (head.version(), head.entries()));
    let entry = crate::records::Name::Mandate(mandate(1).id).entry();
    assert!(signer.published().body().entries().contains(&entry));
}

#[test]
fn a_list_that_is_gone_is_never_begun_anew() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let store = create(&dir);
    fs::remove_file(dir.join("lists/head")).unwrap();
    let error = ListSigner::take(&store).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("never begun anew"), "{error}");
}

#[test]
fn a_line_that_does_not_fit_stops_everything_until_it_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    let mut other = Store::open(&dir).unwrap();
    let mut writer = other.write().unwrap();
    for number in 1..=3 {
        writer.commit(at(1_001), Event::Mandate(mandate(number))).unwrap();
    }
    drop(writer);
    let whole = fs::read_to_string(journal(&dir)).unwrap();
    let mut lines: Vec<String> = whole.lines().map(str::to_owned).collect();
    // Well-formed and in order, but the mandate of line 1 again.
    lines[2] = lines[1].replace("\"n\":1", "\"n\":2");
    fs::write(journal(&dir), lines.join("\n") + "\n").unwrap();
    for _ in 0..2 {
        assert!(matches!(store.refresh(), Err(StoreError::Records(_))), "what comes after it does not count");
        assert!(matches!(store.write().map(drop), Err(StoreError::Records(_))));
    }
    fs::write(journal(&dir), &whole).unwrap();
    assert!(store.refresh().unwrap());
    assert_eq!(store.state().records().mandates().count(), 3);
    assert!(!store.refresh().unwrap());
}

fn revoke_one(store: &mut Store, number: u8, now: u64) {
    let mut writer = store.write().unwrap();
    let revocation = revoke::mandate(writer.state().records(), mandate(number).id, at(now)).unwrap();
    writer.commit(at(now), Event::Revocation(revocation)).unwrap();
}

#[test]
fn r8_a_revocation_in_the_place_of_one_that_was_taken_back_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut other = create(&dir);
    for number in [1, 2] {
        other.write().unwrap().commit(at(1_001), Event::Mandate(mandate(number))).unwrap();
    }
    let before = fs::read(journal(&dir)).unwrap();
    revoke_one(&mut other, 1, 1_002);
    let mut store = Store::open(&dir).unwrap();
    let mut signer = ListSigner::take(&store).unwrap();
    signer.sign(&store, at(1_003)).unwrap();
    // The writer's disk failed after we read its line; the next revocation takes its place.
    fs::write(journal(&dir), before).unwrap();
    revoke_one(&mut Store::open(&dir).unwrap(), 2, 1_004);
    store.write().map(drop).unwrap();
    signer.sign(&store, at(1_004)).unwrap();
    let entry = crate::records::Name::Mandate(mandate(2).id).entry();
    assert!(signer.published().body().entries().contains(&entry));
}
