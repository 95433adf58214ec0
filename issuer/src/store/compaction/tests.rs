use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::{
    keyring::{KeyEntry, Role},
    record::{CredentialRecord, MandateRecord, Minted},
    revoke,
    store::{
        ListSigner,
        tests::{at, create, journal, keys, secret},
    },
};
use pact_mandate::{Ceilings, Signer, Validity, mandate::RootGrant};

fn id(number: u8) -> MandateId {
    MandateId::from_random([number; 16])
}

fn mandate(number: u8, expires_at: u64) -> MandateRecord {
    let grant = RootGrant {
        id: id(number),
        human: "boss".parse().unwrap(),
        holder: "agent-a".parse().unwrap(),
        scope: vec!["task.read@project:web".parse().unwrap()].try_into().unwrap(),
        limits: Ceilings::default(),
        delegations: 1,
        validity: Validity { not_before: at(1_000), expires_at: at(expires_at) },
    };
    crate::mint::mint(grant, &secret(1)).unwrap()
}

/// Two links: the first ends with the mandate, the second with the credential.
fn credential(number: u8, ends: [u64; 2]) -> CredentialRecord {
    let minted = |link: u8| Minted {
        mandate: id(number),
        id: warrant(number, link),
        expires_at: at(ends[usize::from(link)]),
    };
    CredentialRecord {
        format: Format::Tenuo,
        mandate: id(number),
        holder: *secret(3).public_key(),
        key: secret(1).key_id().clone(),
        issued_at: at(1_000),
        expires_at: at(ends[1]),
        minted: vec![minted(0), minted(1)],
    }
}

fn warrant(number: u8, link: u8) -> CredentialId {
    CredentialId::Warrant([number * 16 + link; 16])
}

/// Mandate 1 ends at 2 000, 2 and 3 at 9 000; each has a credential that ends at 1 500, and mandate 2 another one. Mandate
/// 1 is revoked, link 0 of mandate 3's credential, and the second credential of mandate 2.
fn world(dir: &Path) -> Store {
    let mut store = create(dir);
    let mut writer = store.write().unwrap();
    let mut commit = |event| writer.commit(at(1_001), event).unwrap();
    for (number, end) in [(1, 2_000), (2, 9_000), (3, 9_000)] {
        commit(Event::Mandate(mandate(number, end)));
        commit(Event::Credential(credential(number, [end, 1_500])));
    }
    let second = CredentialRecord {
        minted: vec![Minted { mandate: id(2), id: warrant(4, 0), expires_at: at(8_000) }],
        expires_at: at(8_000),
        ..credential(2, [9_000, 8_000])
    };
    commit(Event::Credential(second));
    let next = secret(5);
    commit(Event::Key(KeyEntry::next(next.key_id().clone(), Role::Mandate, *next.public_key(), at(1_001))));
    for target in [Name::Mandate(id(1)), Name::Credential(warrant(3, 0)), Name::Credential(warrant(4, 0))] {
        revoke_one(&mut writer, target, 1_100);
    }
    drop(writer);
    store
}

fn revoke_one(writer: &mut Writer<'_>, target: Name, now: u64) {
    let records = writer.state().records();
    let revocation = match target {
        Name::Mandate(id) => revoke::mandate(records, id, at(now)),
        Name::Credential(id) => revoke::credential(records, id, at(now)),
        Name::Key(key) => revoke::key(records, key, Some(secret(1).key_id()), at(now)),
    };
    writer.commit(at(now), Event::Revocation(revocation.unwrap())).unwrap();
}

/// What both compatible lists and ours would hold.
fn published(store: &Store, now: u64) -> (u64, Vec<CredentialId>, Vec<pact_revocation::Listed>) {
    let state = store.state();
    let tenuo = state.compatible().of(Format::Tenuo).unwrap();
    let listed = state.listed().iter().filter(|listed| listed.expires_at > at(now)).copied().collect();
    (tenuo.version(), tenuo.unexpired(at(now)).collect(), listed)
}

#[test]
fn what_ended_is_left_out_and_what_has_not_is_said_as_before() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    let whole = fs::read(journal(&dir)).unwrap();
    let before = published(&store, 3_000);
    assert_eq!((before.0, before.1.len()), (3, 2));

    // Now is 3 000, and what ended by 2 000 is left out: mandate 1, its credential and revocation, one of mandate 2's.
    let done = store.write().unwrap().compact(1_000, at(3_000)).unwrap();
    assert_eq!((done.before, done.after), (12, 9));
    assert_eq!(fs::read(done.archive.unwrap()).unwrap(), whole, "the old one is kept");
    assert_eq!(published(&store, 3_000), before);
    for open in [store, Store::open(&dir).unwrap()] {
        let records = open.state().records();
        assert!(records.mandate(id(1)).is_err() && records.mandate(id(2)).is_ok());
        assert!(records.credential_with(warrant(2, 1)).is_err(), "it ended and nobody revoked it");
        assert!(
            records.credential_with(warrant(3, 1)).is_ok(),
            "it ended, and its first link is listed still"
        );
        assert_eq!(records.revoked_at(&Name::Credential(warrant(4, 0))), Some(at(1_100)));
        assert_eq!(open.state().keyring().entries().len(), keys().len() + 1);
        assert_eq!(published(&open, 3_000), before);
    }
    let mode = fs::metadata(journal(&dir)).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_list_must_name_what_ended_less_than_ten_minutes_ago() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    store.write().unwrap().compact(0, at(2_599)).unwrap();
    assert!(store.state().records().mandate(id(1)).is_ok());
    store.write().unwrap().compact(0, at(2_600)).unwrap();
    assert!(store.state().records().mandate(id(1)).is_err());
}

#[test]
fn the_number_of_a_list_goes_on_from_where_it_was_each_time() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    let mut archives = BTreeSet::new();
    for round in 1..=4 {
        let ended = mandate(u8::try_from(10 + round).unwrap(), 100_000 * round - 90_000);
        store.write().unwrap().commit(at(1_200), Event::Mandate(ended)).unwrap();
        let done = store.write().unwrap().compact(600, at(100_000 * round)).unwrap();
        assert!(archives.insert(done.archive.unwrap()), "no old journal takes the name of another");
        let (text, again) =
            (fs::read(journal(&dir)).unwrap(), store.write().unwrap().compact(600, at(100_000 * round)));
        assert_eq!(again.unwrap().archive, None, "nothing is left out twice");
        assert_eq!(fs::read(journal(&dir)).unwrap(), text);
        assert_eq!(published(&store, 0).0, 3);
    }
    assert_eq!(store.state().records().mandates().count(), 0);
    assert_eq!(Store::open(&dir).unwrap().state().compatible().of(Format::Tenuo).unwrap().version(), 3);
    let mut writer = store.write().unwrap();
    writer.commit(at(500_000), Event::Mandate(mandate(6, 600_000))).unwrap();
    writer.commit(at(500_000), Event::Credential(credential(6, [600_000, 600_000]))).unwrap();
    revoke_one(&mut writer, Name::Mandate(id(6)), 500_001);
    assert_eq!(published(writer.store, 500_001).0, 4);
}

#[test]
fn r8_who_reads_along_misses_no_revocation() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    let mut reader = Store::open(&dir).unwrap();
    let mut signer = ListSigner::take(&reader).unwrap();
    signer.sign(&reader, at(1_200)).unwrap();
    store.write().unwrap().compact(600, at(3_000)).unwrap();
    // Longer than before, so that its length alone shows nothing.
    let mut writer = store.write().unwrap();
    for number in 7..=10 {
        writer.commit(at(3_001), Event::Mandate(mandate(number, 9_000))).unwrap();
    }
    revoke_one(&mut writer, Name::Mandate(id(7)), 3_002);
    drop(writer);
    assert!(reader.refresh().unwrap());
    assert_eq!(published(&reader, 3_002), published(&store, 3_002));
    signer.sign(&reader, at(3_002)).unwrap();
    assert!(signer.published().body().entries().contains(&Name::Mandate(id(7)).entry()));
}

#[test]
fn a_compaction_that_was_killed_leaves_the_old_journal_and_can_be_done_again() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    let whole = fs::read(journal(&dir)).unwrap();
    // Killed while it wrote, and after it gave the old one its second name.
    fs::write(dir.join(".journal.jsonl.new"), &whole[..50]).unwrap();
    fs::hard_link(journal(&dir), dir.join("journal-12.jsonl")).unwrap();
    assert_eq!(published(&Store::open(&dir).unwrap(), 3_000), published(&store, 3_000));
    let done = store.write().unwrap().compact(1_000, at(3_000)).unwrap();
    assert_eq!(fs::read(done.archive.unwrap()).unwrap(), whole);
    assert_eq!(Store::open(&dir).unwrap().state().lines(), done.after);
    // A file of that name that is another one is not written over.
    let ever = store.state().lines_ever();
    fs::write(dir.join(format!("journal-{ever}.jsonl")), "mine").unwrap();
    assert!(matches!(store.write().unwrap().compact(1_000, at(100_000)), Err(StoreError::Io { .. })));
}

#[test]
fn r3_a_revoked_key_stays_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    revoke_one(&mut store.write().unwrap(), Name::Key(*secret(1).public_key()), 1_200);
    store.write().unwrap().compact(600, at(100_000)).unwrap();
    let again = Store::open(&dir).unwrap();
    assert!(again.state().keyring().active(Role::Mandate).is_err());
    assert_eq!(again.state().listed().len(), 1);
    assert_eq!(again.state().records().mandates().count(), 0);
}

#[test]
fn only_the_second_line_tells_what_was_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = world(&dir);
    let left_out = LeftOut { lines: 0, tenuo: 9, biscuit: 0 };
    let error = store.write().unwrap().commit(at(1_200), Event::LeftOut(left_out)).unwrap_err();
    assert!(matches!(&error, StoreError::Journal { path, .. } if *path == journal(&dir)), "{error}");
}

/// Mandate 3 was revoked, so its links are listed already; then one of them is revoked by its own name.
fn revoked_twice(dir: &Path) -> Store {
    let mut store = world(dir);
    let mut writer = store.write().unwrap();
    revoke_one(&mut writer, Name::Mandate(id(3)), 1_200);
    revoke_one(&mut writer, Name::Credential(warrant(3, 1)), 1_300);
    drop(writer);
    store
}

/// The journal without what ended by 1 200, changed by somebody, as its check finds it.
fn checked(store: &Store, dir: &Path, change: impl Fn(&mut Vec<Line>)) -> Result<(), StoreError> {
    let old = Journal::new(journal(dir)).read_new().unwrap();
    let mut new = Kept::at(store.state(), at(1_200), &old).lines(old, at(3_000));
    change(&mut new);
    for (n, line) in (0..).zip(&mut new) {
        line.n = n;
    }
    check(store.state(), &new, at(1_200))
}

fn is_of(line: &Line, name: Name) -> bool {
    matches!(&line.event, Event::Revocation(revocation) if revocation.target == name)
}

#[test]
fn r3_a_revocation_that_lists_nothing_new_is_missed_when_it_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let store = revoked_twice(&dir);
    let name = Name::Credential(warrant(3, 1));
    checked(&store, &dir, |_| {}).unwrap();
    let lost = checked(&store, &dir, |lines| lines.retain(|line| !is_of(line, name)));
    assert!(matches!(lost, Err(StoreError::Compaction)));
    // Nor is one that happened at another time the same, nor a name that was listed at another time.
    for name in [name, Name::Credential(warrant(4, 0))] {
        let moved = checked(&store, &dir, |lines| {
            for line in lines.iter_mut().filter(|line| is_of(line, name)) {
                if let Event::Revocation(revocation) = &mut line.event {
                    revocation.at = at(1_301);
                }
            }
        });
        assert!(matches!(moved, Err(StoreError::Compaction)), "{name:?}");
    }
}

#[test]
fn r8_what_was_revoked_with_one_that_has_ended_stays_revoked() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().join("data");
    let mut store = create(&dir);
    let mut writer = store.write().unwrap();
    let exported = |link: u8, issued: u64, ends: u64| CredentialRecord {
        issued_at: at(issued),
        expires_at: at(ends),
        minted: vec![Minted { mandate: id(2), id: warrant(2, link), expires_at: at(ends) }],
        ..credential(2, [ends, ends])
    };
    let mut commit = |event| writer.commit(at(1_001), event).unwrap();
    for (number, end) in [(1, 1_500), (2, 9_000), (3, 1_500)] {
        commit(Event::Mandate(mandate(number, end)));
    }
    commit(Event::Credential(exported(0, 1_000, 1_500)));
    commit(Event::Credential(exported(1, 1_000, 8_000)));
    let both = revoke::credential_and_siblings(writer.state().records(), warrant(2, 0), at(1_100)).unwrap();
    assert_eq!(both.listed.len(), 2);
    writer.commit(at(1_100), Event::Revocation(both)).unwrap();
    // With a later one the holder is no longer stopped, so nothing else keeps the one that was named.
    writer.commit(at(1_200), Event::Credential(exported(2, 1_200, 8_000))).unwrap();
    drop(writer);
    let before = published(&store, 3_000);

    let done = store.write().unwrap().compact(1_000, at(3_000)).unwrap();
    assert!(done.archive.is_some(), "mandates 1 and 3 were left out");
    let again = Store::open(&dir).unwrap();
    assert_eq!(published(&again, 3_000), before);
    assert!(again.state().records().listed_at(&Name::Credential(warrant(2, 1))).is_some());
}
