use pact_mandate::{Format, SecretKey, Signer, Validity, mandate::RootGrant, signed::Prepared};

use super::*;
use crate::{
    keyring::{KeyEntry, Role},
    mint::mint,
    record::CredentialRecord,
    records::Name,
    revoke,
    store::Event,
};

/// A time of our own would be refused: the crates that mint read the machine's clock.
#[expect(clippy::disallowed_methods, reason = "see above")]
fn present() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixTime::try_from(since.as_secs()).unwrap()
}

struct Office {
    _dir: tempfile::TempDir,
    store: Store,
    desk: Desk,
    mandate: MandateId,
    now: UnixTime,
}

fn secret(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

/// The agent's key, named by itself.
fn holder(seed: u8) -> SecretKey {
    let key = secret(seed);
    let id = key.public_key().to_string().parse().unwrap();
    key.named(id)
}

impl Office {
    /// With a mandate that was exported to the holder `7`, two minutes ago.
    fn open() -> Office {
        let now = present();
        let before = now.minus(120);
        let dir = tempfile::tempdir().unwrap();
        let entry = |seed, role| {
            let key = secret(seed);
            (KeyEntry::first(key.key_id().clone(), role, *key.public_key(), before), key)
        };
        let keys = vec![entry(1, Role::Mandate), entry(2, Role::List)];
        let mut store =
            Store::create(&dir.path().join("data"), "example".parse().unwrap(), 60, keys, before).unwrap();
        let mandate = MandateId::from_random([3; 16]);
        let grant = RootGrant {
            id: mandate,
            human: "boss".parse().unwrap(),
            holder: "agent-a".parse().unwrap(),
            scope: vec!["task.read@project:web".parse().unwrap()].try_into().unwrap(),
            limits: pact_mandate::Ceilings::default(),
            delegations: 1,
            validity: Validity { not_before: before, expires_at: now.plus(7200) },
        };
        let mut writer = store.write().unwrap();
        writer.commit(before, Event::Mandate(mint(grant, &secret(1)).unwrap())).unwrap();
        let chain = writer.state().unrevoked(mandate, now).unwrap();
        let order = Order { holder: *secret(7).public_key(), lifetime: 900, now };
        let export = crate::export::tenuo::export(&chain, &order, &secret(1)).unwrap();
        let record =
            CredentialRecord { issued_at: before, expires_at: now.plus(780), ..export.record().clone() };
        writer.commit(before, Event::Credential(record)).unwrap();
        drop(writer);
        let desk = Desk::new("example".parse().unwrap(), now.minus(30));
        Office { _dir: dir, store, desk, mandate, now }
    }

    fn request(&self, number: u8) -> Reissue {
        self.request_at(number, self.now)
    }

    fn request_at(&self, number: u8, at: UnixTime) -> Reissue {
        let id = ReissueId::from_random([number; 16]);
        Reissue::new("example".parse().unwrap(), self.mandate, Format::Tenuo, id, at)
    }

    fn ask(&mut self, request: Reissue, key: &SecretKey) -> Result<Credential, ReissueRefusal> {
        let bytes = Prepared::new(request).unwrap().sign(key).unwrap().signed().to_bytes().unwrap();
        self.desk.serve(&mut self.store, &bytes, self.now)
    }
}

#[test]
fn the_holder_gets_it_anew_for_as_long_as_the_last_one_and_each_request_counts_once() {
    let mut office = Office::open();
    let request = office.request(1);
    let credential = office.ask(request.clone(), &holder(7)).unwrap();
    let record = credential.record();
    assert_eq!((record.mandate, record.holder), (office.mandate, *secret(7).public_key()));
    assert_eq!(record.expires_at.since(record.issued_at), 900);
    assert_eq!(office.store.state().records().credentials().last(), Some(record));
    assert!(matches!(office.ask(request, &holder(7)), Err(ReissueRefusal::Replayed)));
    for number in 2..=6 {
        let again = office.request(number);
        assert!(office.ask(again, &holder(7)).is_ok());
    }
    let again = office.request(7);
    let refused = office.ask(again, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::TooMany { seconds: 61 })), "{refused:?}");
}

#[test]
fn whoever_was_never_given_one_gets_none() {
    let mut office = Office::open();
    let request = office.request(1);
    assert!(matches!(office.ask(request.clone(), &holder(8)), Err(ReissueRefusal::NotRegistered)));
    // The name of the right key under a signature of another.
    let other = secret(8).named(holder(7).key_id().clone());
    let payload = Prepared::new(request.clone()).unwrap();
    let signature = other.sign(payload.bytes()).unwrap();
    let honest = Prepared::new(request).unwrap().sign(&holder(7)).unwrap().signed().to_bytes().unwrap();
    let text = String::from_utf8(honest).unwrap();
    let (start, rest) = text.rsplit_once(':').unwrap();
    let forged = format!("{start}:{signature}{}", rest.get(rest.find('"').unwrap()..).unwrap());
    let refused = office.desk.serve(&mut office.store, forged.as_bytes(), office.now);
    assert!(matches!(refused, Err(ReissueRefusal::NotProven)), "{refused:?}");
    let unknown = Reissue::new(
        "example".parse().unwrap(),
        MandateId::from_random([9; 16]),
        Format::Tenuo,
        ReissueId::from_random([4; 16]),
        office.now,
    );
    assert!(matches!(office.ask(unknown, &holder(7)), Err(ReissueRefusal::NotRegistered)));
    assert_eq!(office.store.state().records().credentials().len(), 1);
}

#[test]
fn t1_t2_p7_only_requests_of_the_last_minute_count_and_none_from_before_the_start() {
    let mut office = Office::open();
    let now = office.now;
    for (at, wanted) in [
        (now.minus(61), "too_old"),
        (now.plus(6), "future"),
        (now.minus(25), "start"),
        (now.minus(60), "start"),
    ] {
        let request = office.request_at(1, at);
        let refusal = office.ask(request, &holder(7)).unwrap_err();
        let found = match refusal {
            ReissueRefusal::TooOld { .. } => "too_old",
            ReissueRefusal::FromTheFuture { .. } => "future",
            ReissueRefusal::BeforeStart => "start",
            other => panic!("{other}"),
        };
        assert_eq!(found, wanted);
    }
    // The clock ran ahead for a moment: what was old then stays old.
    let request = office.request(2);
    office.now = now.plus(61);
    assert!(matches!(office.ask(request.clone(), &holder(7)), Err(ReissueRefusal::TooOld { .. })));
    office.now = now.plus(57);
    assert!(matches!(office.ask(request, &holder(7)), Err(ReissueRefusal::TooOld { .. })));
}

#[test]
fn t1_a_clock_that_is_set_back_signs_nothing() {
    let mut office = Office::open();
    let now = office.now;
    office.now = now.plus(60);
    let request = office.request(1);
    assert!(office.ask(request, &holder(8)).is_err());
    office.now = now;
    let request = office.request(2);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::ClockSetBack { behind: 60 })), "{refused:?}");
}

#[test]
fn what_was_exported_in_one_format_is_made_anew_in_that_one_alone() {
    let mut office = Office::open();
    let id = ReissueId::from_random([1; 16]);
    let other = Reissue::new("example".parse().unwrap(), office.mandate, Format::Biscuit, id, office.now);
    assert!(matches!(office.ask(other, &holder(7)), Err(ReissueRefusal::NotRegistered)));
}

#[test]
fn r8_what_was_stopped_is_not_made_anew() {
    let mut office = Office::open();
    let now = office.now;
    let revocation = revoke::mandate(office.store.state().records(), office.mandate, now).unwrap();
    office.store.write().unwrap().commit(now, Event::Revocation(revocation)).unwrap();
    let request = office.request(1);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");

    let mut office = Office::open();
    let key = *secret(7).public_key();
    let revocation = revoke::key(office.store.state().records(), key, None, now).unwrap();
    office.store.write().unwrap().commit(now, Event::Revocation(revocation)).unwrap();
    let request = office.request(1);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");
}

#[test]
fn r8_a_credential_that_was_revoked_by_its_id_comes_back_by_a_persons_export_alone() {
    let mut office = Office::open();
    let (before, now) = (office.now.minus(60), office.now);
    let first = office.store.state().records().credentials()[0].id().unwrap();
    let revocation = revoke::credential(office.store.state().records(), first, before).unwrap();
    office.store.write().unwrap().commit(before, Event::Revocation(revocation)).unwrap();
    let request = office.request(1);
    let refused = office.ask(request.clone(), &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");
    let order = Order { holder: *secret(7).public_key(), lifetime: 600, now };
    office.store.write().unwrap().export(office.mandate, Format::Tenuo, &order).unwrap();
    let record = office.ask(request, &holder(7)).unwrap().record().clone();
    assert_eq!(record.expires_at.since(record.issued_at), 600);
}

/// A revocation that waited for the writer's lock has the earlier time, and is the later line.
#[test]
fn r8_a_revocation_stops_what_stands_before_it_in_the_journal_whatever_the_clocks_say() {
    let mut office = Office::open();
    let first = office.store.state().records().credentials()[0].id().unwrap();
    let request = office.request(1);
    let anew = office.ask(request, &holder(7)).unwrap().record().clone();
    let earlier = anew.issued_at.minus(30);
    let revocation = revoke::credential(office.store.state().records(), first, earlier).unwrap();
    office.store.write().unwrap().commit(earlier, Event::Revocation(revocation)).unwrap();
    let request = office.request(2);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");
}

/// Each one that was made anew has ids of its own, and lives on when another is revoked by its id.
#[test]
fn r8_whoever_revokes_one_is_told_of_the_others_and_may_revoke_them_with_it() {
    let mut office = Office::open();
    let first = office.store.state().records().credentials()[0].id().unwrap();
    let request = office.request(1);
    let anew = office.ask(request, &holder(7)).unwrap().record().id().unwrap();
    let (records, now) = (office.store.state().records(), office.now);
    let told = revoke::siblings(records, first, now).unwrap();
    assert_eq!(told.iter().map(|listed| listed.name).collect::<Vec<_>>(), [Name::Credential(anew)]);
    let alone = revoke::credential(records, first, now).unwrap();
    assert!(!alone.listed.contains(&told[0]));
    let all = revoke::credential_and_siblings(records, first, now).unwrap();
    assert_eq!(all.target, Name::Credential(first));
    assert!(all.listed.contains(&told[0]) && all.listed.len() == alone.listed.len() + 1);
    office.store.write().unwrap().commit(now, Event::Revocation(all)).unwrap();
    assert!(revoke::siblings(office.store.state().records(), first, now).unwrap().is_empty());
}

#[test]
fn r8_a_shorter_journal_still_knows_who_was_stopped() {
    let mut office = Office::open();
    let record = office.store.state().records().credentials()[0].clone();
    let revocation =
        revoke::credential(office.store.state().records(), record.id().unwrap(), office.now).unwrap();
    office.store.write().unwrap().commit(office.now, Event::Revocation(revocation)).unwrap();
    let later = record.expires_at.plus(pact_revocation::limits::KEEP_AFTER_EXPIRY_SECONDS + 60);
    office.store.write().unwrap().compact(0, later).unwrap();
    let request = office.request(1);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");
}

#[test]
fn r8_a_credential_that_had_ended_when_it_was_revoked_stops_it_too() {
    let mut office = Office::open();
    let record = office.store.state().records().credentials()[0].clone();
    let leaf = record.minted.last().unwrap();
    let after = leaf.expires_at.plus(1);
    let revocation = revoke::credential(office.store.state().records(), leaf.id, after).unwrap();
    assert!(revocation.listed.is_empty(), "it would bind nobody any more");
    office.store.write().unwrap().commit(after, Event::Revocation(revocation)).unwrap();
    let request = office.request(1);
    let refused = office.ask(request, &holder(7));
    assert!(matches!(refused, Err(ReissueRefusal::CredentialRevoked { .. })), "{refused:?}");
}

#[test]
fn c1_k7_what_is_no_request_is_refused_and_bounded() {
    let mut office = Office::open();
    let other = Reissue::new(
        "other".parse().unwrap(),
        office.mandate,
        Format::Tenuo,
        ReissueId::from_random([1; 16]),
        office.now,
    );
    assert!(matches!(office.ask(other, &holder(7)), Err(ReissueRefusal::OtherIssuer(_))));
    let pact = Reissue::new(
        "example".parse().unwrap(),
        office.mandate,
        Format::Pact,
        ReissueId::from_random([1; 16]),
        office.now,
    );
    assert!(matches!(office.ask(pact, &holder(7)), Err(ReissueRefusal::NotRegistered)));
    for bytes in [&b""[..], b"{}", &vec![b' '; MAX_REISSUE_BYTES + 1]] {
        let refused = office.desk.serve(&mut office.store, bytes, office.now);
        assert!(matches!(refused, Err(ReissueRefusal::Malformed(_))), "{refused:?}");
    }
}
