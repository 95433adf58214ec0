use pact_mandate::{Signer, limits::MAX_STATEMENT_BYTES};

use super::*;
use crate::{
    Content, FloorInMemory, Keeper,
    plan::Step,
    published::ReopenError,
    testing::{T0, at, first, issuer, key, listed, next, now, pinned, stored},
};

#[test]
fn r1_the_version_rises_exactly_when_the_set_changes() {
    let signer = key(1);
    let one = first(&signer, [1]);
    assert_eq!(one.version(), ListVersion::FIRST);
    let same = next(&one, &signer, [1], 10);
    assert_eq!((same.version(), same.body().name()), (one.version(), one.body().name()));
    assert_eq!(same.head().statement().issued_at(), at(T0 + 10));
    let two = next(&same, &signer, [2], 20);
    assert_eq!(two.version().get(), 2);
    assert_eq!(two.head().statement().previous(), Some(one.body().name()));
    assert_eq!(next(&two, &signer, [], 30).head().statement().previous(), Some(one.body().name()));
}

#[test]
fn r3_listing_is_final_and_a_later_expiry_wins() {
    let signer = key(1);
    let one = first(&signer, [1]);
    let sooner = Listed { expires_at: at(T0 + 60), ..listed(1) };
    assert_eq!(Draft::after(&one).revoke([sooner]).sign(&signer, at(T0)).unwrap().version(), one.version());
    let later = Listed { expires_at: at(T0 + 90_000), ..listed(1) };
    let two = Draft::after(&one).revoke([later]).sign(&signer, at(T0)).unwrap();
    assert_eq!((two.version().get(), two.body().count()), (2, 1));
}

#[test]
fn r1_the_last_64_deltas_are_offered_and_each_leads_to_the_body() {
    let signer = key(1);
    let mut lists = vec![first(&signer, 0..3)];
    for number in 1..70u32 {
        lists.push(next(&lists[lists.len() - 1], &signer, [100 + number], u64::from(number)));
    }
    let last = &lists[69];
    let head = last.head().statement();
    assert_eq!(head.deltas().len(), 64);
    assert_eq!(head.deltas()[63].from.get(), 6);
    assert!(last.head_bytes().unwrap().len() < MAX_STATEMENT_BYTES / 4);
    for list in &lists[..69] {
        let mut keeper =
            Keeper::new(issuer(), Format::Pact, pinned(&[&signer]), FloorInMemory::default()).unwrap();
        keeper.accept_whole(&list.head_bytes().unwrap(), list.body_bytes(), now(69)).unwrap();
        let examined = keeper.examine(&last.head_bytes().unwrap(), now(69)).unwrap();
        let files = stored(&[last]);
        match *examined.step() {
            Step::Delta { name, .. } => {
                keeper.accept(&examined, Content::Delta(&files[&name]), now(69)).unwrap();
            }
            Step::Body { name, .. } if list.version().get() < 6 => {
                keeper.accept(&examined, Content::Body(&files[&name]), now(69)).unwrap();
            }
            other => panic!("list {}: {other}", list.version()),
        }
        assert_eq!(keeper.held().unwrap().version(), last.version());
    }
}

#[test]
fn r1_a_delta_also_tells_what_left() {
    let signer = key(1);
    let short = Listed { expires_at: at(T0 + 60), ..listed(1) };
    let one = Draft::first(issuer()).revoke([short, listed(2)]).sign(&signer, at(T0)).unwrap();
    let two = next(&one, &signer, [3], 1);
    let three = next(&two, &signer, [4], 1_000);
    assert_eq!(three.body().count(), 3);
    for list in [&one, &two] {
        let delta = three.stored_deltas().iter().find(|delta| delta.value.from() == list.version()).unwrap();
        let made = Body::encode(delta.value.applied_to(list.body())).0;
        assert_eq!(&made, three.body());
    }
}

#[test]
fn r1_deltas_together_are_not_longer_than_the_body() {
    let signer = key(1);
    let mut list = first(&signer, [1]);
    for number in 0..12u32 {
        list = next(&list, &signer, number * 1_000..(number + 1) * 1_000, 1);
    }
    let total: usize = list.deltas().map(|(_, bytes)| bytes.len()).sum();
    assert!(total <= list.body_bytes().len() && list.deltas().count() >= 3);
}

#[test]
fn r2_a_list_is_continued_from_what_was_stored() {
    let signer = key(1);
    let keys = pinned(&[&signer]);
    let two = next(&first(&signer, 0..9), &signer, [10], 1);
    let mut files = stored(&[&two]);
    let head = two.head_bytes().unwrap();
    let reopened = Published::reopen(&head, &keys, |name| files.get(name).cloned()).unwrap();
    let (three, again) = (next(&two, &signer, [11], 2), next(&reopened, &signer, [11], 2));
    assert_eq!(again.head_bytes().unwrap(), three.head_bytes().unwrap());

    files.remove(two.body().name());
    let missing = Published::reopen(&head, &keys, |name| files.get(name).cloned()).unwrap_err();
    assert_eq!(missing, ReopenError::Missing(*two.body().name()));
    files.insert(*two.body().name(), b"PACTRVB1\0\0\0\0".to_vec());
    let swapped = Published::reopen(&head, &keys, |name| files.get(name).cloned()).unwrap_err();
    assert_eq!(swapped, ReopenError::NotItsName(*two.body().name()));
}

#[test]
fn k7_a_head_may_be_signed_by_a_service_that_sees_only_its_bytes() {
    let signer = key(1);
    let prepared = Draft::first(issuer()).revoke([listed(1)]).prepare(at(T0)).unwrap();
    let signature = signer.sign(prepared.bytes()).unwrap();
    let published = prepared.issue(signer.key_id().clone(), signer.public_key(), signature).unwrap();
    assert_eq!(published.head_bytes().unwrap(), first(&signer, [1]).head_bytes().unwrap());
    let prepared = Draft::first(issuer()).prepare(at(T0)).unwrap();
    assert!(prepared.issue(signer.key_id().clone(), signer.public_key(), signature).is_err());
}

#[test]
fn r1_the_bytes_of_a_head_are_these() {
    let sources = [
        ("partner".parse().unwrap(), SourceTime::At(at(T0 - 3))),
        ("quiet".parse().unwrap(), SourceTime::None),
    ];
    let draft = Draft::first(issuer()).with_sources(sources);
    let prepared = draft.prepare(at(T0)).unwrap();
    let wanted = concat!(
        r#"{"covers":["tenuo","biscuit","pact"],"deltas":[],"#,
        r#""entries":{"bytes":12,"count":0,"sha256":"f9e3fabc8f7b9a3a9ed4d3d3fb1d7ab4ba25ba3bb9c71e7f0a19a9ba4d3fd3ba"},"#,
        r#""issued_at":1798859045,"issuer":"acme","next_update":1798859105,"previous":null,"#,
        r#""sources":{"partner":1798859042,"quiet":"none"},"typ":"pact-revocations-head/1","version":1}"#
    );
    let name = crate::BodyName::of(b"PACTRVB1\0\0\0\0").to_string();
    let wanted = wanted.replace("f9e3fabc8f7b9a3a9ed4d3d3fb1d7ab4ba25ba3bb9c71e7f0a19a9ba4d3fd3ba", &name);
    assert_eq!(String::from_utf8(prepared.bytes().to_vec()).unwrap(), wanted);
}

#[test]
fn a_head_whose_numbers_do_not_fit_is_never_made() {
    let signer = key(1);
    let refused = |draft: Draft| draft.sign(&signer, at(T0)).unwrap_err();
    assert_eq!(refused(Draft::first(issuer()).covering([])), DraftError::Head(HeadFault::CoversNothing));
    assert_eq!(refused(Draft::first(issuer()).good_for(0)), DraftError::Head(HeadFault::NextUpdate));
    let many = (0..129).map(|number| (format!("s{number}").parse().unwrap(), SourceTime::None));
    assert_eq!(
        refused(Draft::first(issuer()).with_sources(many)),
        DraftError::Head(HeadFault::TooManySources)
    );
}
