//! Whose list is believed, and for what (protocol R4, R5, C6).

use super::*;

#[test]
fn r5_nothing_is_fresh_before_the_first_list() {
    assert_eq!(Lists::none().fresh(&issuer(), Format::Tenuo, now(0)).unwrap_err(), Stale::NoList);
}

#[test]
fn r5_a_list_is_believed_by_the_signature_of_a_pinned_key_alone() {
    let (good, other) = (key(1), key(2));
    let mut keeper = keeper(&good);
    let forged = offer(&mut keeper, &first(&other, [1]), now(0)).unwrap_err();
    assert!(matches!(forged, ListRefusal::Head(SignedError::UnknownKey(_))));
    // Under the pinned key's name it is no better.
    let named = key(2).named(good_id(&good));
    let forged = offer(&mut keeper, &first(&named, [1]), now(0)).unwrap_err();
    assert!(matches!(forged, ListRefusal::Head(SignedError::BadSignature(_))));
    assert_eq!(stale(&keeper, now(0)), "list_missing");
    assert_eq!(code(offer(&mut keeper, &first(&good, [1]), now(0))), "accepted");
}

fn good_id(key: &SecretKey) -> pact_mandate::KeyId {
    pact_mandate::Signer::key_id(key).clone()
}

#[test]
fn r4_another_issuers_list_neither_helps_nor_harms() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let partner: IssuerId = "partner".parse().unwrap();
    let theirs = Draft::first(partner.clone()).revoke([listed(1)]).sign(&signer, at(T0)).unwrap();
    assert_eq!(code(offer(&mut keeper, &theirs, now(0))), "list_other_issuer");
    offer(&mut keeper, &first(&signer, [2]), now(0)).unwrap();
    let lists = lists(&keeper);
    assert_eq!(lists.fresh(&partner, Format::Tenuo, now(0)).unwrap_err(), Stale::NoList);
    assert!(!lists.fresh(&issuer(), Format::Tenuo, now(0)).unwrap().contains(&entry(1)));
}

#[test]
fn r4_a_list_speaks_for_the_formats_that_it_covers() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = Draft::first(issuer()).covering([Format::Tenuo]).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    let lists = lists(&keeper);
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(0)).is_ok());
    let refused = lists.fresh(&issuer(), Format::Biscuit, now(0)).unwrap_err();
    assert_eq!(refused, Stale::NotCovered { format: Format::Biscuit });
}

#[test]
fn c6_a_source_must_be_named_and_young() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let [young, none, unnamed]: [IssuerId; 3] = ["young", "none", "unnamed"].map(|id| id.parse().unwrap());
    let sources = [(young.clone(), SourceTime::At(at(T0 - 20))), (none.clone(), SourceTime::None)];
    let list = Draft::first(issuer()).with_sources(sources).sign(&signer, at(T0)).unwrap();
    offer(&mut keeper, &list, now(0)).unwrap();
    let lists = lists(&keeper);
    let fresh = lists.fresh(&issuer(), Format::Tenuo, now(0)).unwrap();
    assert_eq!(fresh.check_source(&none, now(40)), Ok(()));
    assert_eq!(fresh.check_source(&young, now(40)), Ok(()));
    assert_eq!(fresh.check_source(&young, now(41)).unwrap_err().code(), "source_stale");
    // By the monotonic clock too (T1).
    assert_eq!(fresh.check_source(&young, clocks(0, 41)).unwrap_err().code(), "source_stale");
    assert_eq!(fresh.check_source(&unnamed, now(0)).unwrap_err().code(), "source_missing");
}
