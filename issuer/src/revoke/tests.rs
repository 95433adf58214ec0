use pact_mandate::{Format, SecretKey, Signer};

use super::*;
use crate::{
    export::tests::{id, issuer, records as chain_records},
    record::{CredentialRecord, Minted},
    trace::{self, State},
};

const SCOPE: &[&str] = &["task.read@project:web"];

fn warrant(number: u8) -> CredentialId {
    CredentialId::Warrant([number; 16])
}

fn block(number: u8) -> CredentialId {
    CredentialId::Block([number; 64])
}

/// A root, two hand-offs below it, and credentials of the last one in both formats.
fn world() -> (Records, UnixTime) {
    let mut records = Records::default();
    let chain = chain_records(&[(SCOPE, &[], 2), (SCOPE, &[], 1), (SCOPE, &[], 0)], 3_600);
    let end = chain[0].expires_at;
    for record in chain {
        records.add_mandate(record).unwrap();
    }
    let holder = *SecretKey::from_seed(&[2; 32]).unwrap().public_key();
    let credential = |format, minted: Vec<(u8, CredentialId)>| CredentialRecord {
        format,
        mandate: id(3),
        holder,
        key: issuer().key_id().clone(),
        issued_at: end.minus(3_600),
        expires_at: end,
        minted: minted
            .into_iter()
            .map(|(of, id_)| Minted { mandate: id(of), id: id_, expires_at: end })
            .collect(),
    };
    let warrants = vec![(1, warrant(1)), (2, warrant(2)), (3, warrant(3)), (3, warrant(4))];
    records.add_credential(credential(Format::Tenuo, warrants)).unwrap();
    let blocks = vec![(1, block(1)), (2, block(2)), (3, block(3))];
    records.add_credential(credential(Format::Biscuit, blocks)).unwrap();
    (records, end)
}

fn names(revocation: &Revocation) -> HashSet<Name> {
    revocation.listed.iter().map(|listed| listed.name).collect()
}

#[test]
fn r8_a_mandate_takes_everything_below_it_along_in_every_format() {
    let (mut records, end) = world();
    let now = end.minus(100);
    let revocation = mandate(&records, id(2), now).unwrap();
    let expected = [
        Name::Mandate(id(2)),
        Name::Mandate(id(3)),
        Name::Credential(warrant(2)),
        Name::Credential(warrant(3)),
        Name::Credential(warrant(4)),
        Name::Credential(block(2)),
        Name::Credential(block(3)),
    ];
    assert_eq!(names(&revocation), expected.into_iter().collect());
    assert_eq!(revocation.descendants, 1);
    records.add_revocation(&revocation).unwrap();
    // What is listed already is not listed again; what was left is the root's own.
    let rest = mandate(&records, id(1), now).unwrap();
    let expected = [Name::Mandate(id(1)), Name::Credential(warrant(1)), Name::Credential(block(1))];
    assert_eq!(names(&rest), expected.into_iter().collect());
    assert_eq!(mandate(&records, id(1), end).unwrap().listed, [], "what has expired needs no list");
}

#[test]
fn r8_a_link_takes_those_below_it_along() {
    let (records, end) = world();
    let revocation = credential(&records, warrant(3), end.minus(1)).unwrap();
    let expected = [Name::Credential(warrant(3)), Name::Credential(warrant(4))];
    assert_eq!(names(&revocation), expected.into_iter().collect());
    assert!(matches!(credential(&records, warrant(9), end), Err(RecordsError::UnknownCredential(_))));
}

#[test]
fn r3_a_key_is_listed_for_good_with_every_credential_that_it_holds_or_signed() {
    let (records, end) = world();
    let holder = *SecretKey::from_seed(&[2; 32]).unwrap().public_key();
    let revocation = key(&records, holder, None, end.minus(1)).unwrap();
    let last = [Name::Credential(warrant(4)), Name::Credential(block(3))];
    assert_eq!(names(&revocation), last.into_iter().chain([Name::Key(holder)]).collect());
    assert_eq!((revocation.listed[0].expires_at, revocation.descendants), (UnixTime::MAX, 0));

    // A mandate key takes along what it signed, in every format.
    let revocation = key(&records, *issuer().public_key(), Some(issuer().key_id()), end.minus(1)).unwrap();
    let mandates = (1..=3).map(|number| Name::Mandate(id(number)));
    let links = (1..=4).map(warrant).chain((1..=3).map(block)).map(Name::Credential);
    let all = mandates.chain(links).chain([Name::Key(*issuer().public_key())]);
    assert_eq!(names(&revocation), all.collect());
    assert_eq!((revocation.listed[0].expires_at, revocation.descendants), (UnixTime::MAX, 3));
    let stranger = *SecretKey::from_seed(&[9; 32]).unwrap().public_key();
    assert_eq!(names(&key(&records, stranger, None, end).unwrap()).len(), 1);
}

#[test]
fn a_trace_shows_the_person_and_every_state() {
    let (mut records, end) = world();
    let now = end.minus(100);
    let revocation = mandate(&records, id(2), now).unwrap();
    records.add_revocation(&revocation).unwrap();
    let trace = trace::credential(&records, &crate::export::tests::ring(), block(3), now).unwrap();
    assert_eq!(trace.human.as_str(), "boss");
    let states: Vec<&State> = trace.chain.iter().map(|link| &link.state).collect();
    assert_eq!(states, [&State::Live, &State::Revoked { at: now }, &State::DeadAbove { mandate: id(2) }]);
    let [credential] = trace.credentials.as_slice() else { panic!("one credential was asked for") };
    let states: Vec<(bool, &State)> =
        credential.minted.iter().map(|minted| (minted.asked, &minted.state)).collect();
    let listed = State::Listed { at: now };
    assert_eq!(states, [(false, &State::Live), (false, &listed), (true, &listed)]);
    let whole = trace::mandate(&records, &crate::export::tests::ring(), id(3), now).unwrap();
    assert_eq!(whole.credentials.len(), 2);
    let trace = trace::mandate(&records, &pact_mandate::jwks::KeySet::default(), id(1), now).unwrap();
    assert!(matches!(trace.chain[0].state, State::Unreadable { .. }));
}
