use pact_mandate::SecretKey;

use std::collections::BTreeSet;

use pact_mandate::{Format, ScopeItem, hex};

use super::*;

fn key(seed: u8) -> PublicKey {
    *pact_mandate::Signer::public_key(&SecretKey::from_seed(&[seed; 32]).unwrap())
}

fn root(id: &str, seed: u8) -> RootKey {
    RootKey::Ed25519 { id: id.parse().unwrap(), key: key(seed) }
}

fn issuer(name: &str, roots: Vec<RootKey>) -> TrustedIssuer {
    TrustedIssuer { id: name.parse().unwrap(), roots, speaks: Speaks::nothing(), bearer: false }
}

/// The generator of P-256 (SEC 2, 2.4.2), compressed.
const POINT: [u8; 33] = [
    0x03, 0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
    0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
];

#[test]
fn k3_a_public_key_belongs_to_one_issuer() {
    let both = vec![issuer("a", vec![root("k", 1)]), issuer("b", vec![root("other", 1)])];
    let Err(TrustError::SharedKey { first, second, .. }) = TrustSnapshot::new(both) else { panic!() };
    assert_eq!((first.as_str(), second.as_str()), ("a", "b"));
    let point = |name: &str| RootKey::P256 { id: name.parse().unwrap(), sec1: POINT };
    let both = vec![issuer("a", vec![point("p")]), issuer("b", vec![point("q")])];
    assert!(matches!(TrustSnapshot::new(both), Err(TrustError::SharedKey { .. })));
}

#[test]
fn k3_duplicate_names_and_repeated_keys_are_refused_whole() {
    let twice = vec![issuer("a", vec![root("k", 1), root("k", 2)])];
    assert!(matches!(TrustSnapshot::new(twice), Err(TrustError::DuplicateKeyId { .. })));
    let twice = vec![issuer("a", vec![root("k", 1), root("l", 1)])];
    assert!(matches!(TrustSnapshot::new(twice), Err(TrustError::RepeatedKey { .. })));
    let twice = vec![issuer("a", vec![]), issuer("a", vec![])];
    assert!(matches!(TrustSnapshot::new(twice), Err(TrustError::DuplicateIssuer(_))));
}

#[test]
fn k5_a_p256_root_must_be_a_point() {
    let mut compact = POINT;
    compact[0] = 5;
    for sec1 in [[4; 33], compact] {
        let off_curve = RootKey::P256 { id: "p".parse().unwrap(), sec1 };
        let refused = TrustSnapshot::new(vec![issuer("a", vec![off_curve])]);
        assert!(matches!(refused, Err(TrustError::NotAPoint { .. })));
    }
}

/// One key, one text, one name: what reads differently elsewhere is no key here.
#[test]
fn k3_k5_a_p256_root_has_one_spelling() {
    let digits = hex::encode(&POINT);
    let named = RootKey::p256(Some("p".parse().unwrap()), &digits).unwrap();
    assert_eq!(named, RootKey::P256 { id: "p".parse().unwrap(), sec1: POINT });
    let unnamed = RootKey::p256(None, &digits).unwrap();
    assert_eq!(unnamed.id().to_string(), RootKey::p256_thumbprint(&POINT).unwrap().to_string());
    assert_eq!(named.thumbprint(), unnamed.thumbprint());
    // SEC 1's compact form of the other point with this x, and a hybrid that is too short.
    let other_forms = [5, 4, 6, 0].map(|tag| format!("{tag:02}{}", &digits[2..]));
    let wrong = [digits.to_uppercase(), digits[2..].to_owned(), format!("{digits}00"), format!(" {digits}")];
    for text in wrong.iter().chain(&other_forms) {
        assert_eq!(RootKey::p256(None, text), Err(NotAPoint), "{text}");
    }
}

#[test]
fn k2_every_project_is_meant_only_by_an_asterisk_alone() {
    let all = Projects::from_texts(&["*"]);
    assert_eq!(all.unwrap(), Projects::All);
    let only = |names: &[&str]| Projects::Only(names.iter().map(|name| name.parse().unwrap()).collect());
    for names in [&[][..], &["web"], &["web", "shop"]] {
        assert_eq!(Projects::from_texts(names).unwrap(), only(names));
    }
    for slip in [&["*", "web"][..], &["web", "*"], &["*", "*"], &["**"], &[""], &["web*"]] {
        assert!(Projects::from_texts(slip).is_err(), "{slip:?}");
    }
}

#[test]
fn k2_an_issuer_that_names_nothing_grants_nothing() {
    let speaks = Speaks::nothing();
    let needed = |text: &str| text.parse::<ScopeItem>().unwrap();
    assert!(!speaks.covers(&needed("task.read@project:web")));
    assert!(Format::ALL.into_iter().all(|format| !speaks.covers_format(format)));
    let some = Speaks {
        actions: vec!["task.*".parse().unwrap()],
        projects: Projects::Only(["web".parse().unwrap()].into()),
        ..speaks.clone()
    };
    assert!(some.covers(&needed("task.read@project:web")));
    assert!(!some.covers(&needed("task.read@project:shop")) && !some.covers(&needed("pay@project:web")));
    let every_action = Speaks { actions: vec!["*".parse().unwrap()], ..speaks.clone() };
    assert!(!every_action.covers(&needed("pay@project:web")), "no project is named");
    let every_project = Speaks { projects: Projects::All, ..speaks };
    assert!(!every_project.covers(&needed("pay@project:web")), "no action is named");
}

#[test]
fn a_root_is_found_by_its_bytes_and_by_its_biscuit_id() {
    let point = RootKey::P256 { id: "p".parse().unwrap(), sec1: POINT };
    let trust =
        TrustSnapshot::new(vec![issuer("a", vec![root("k", 1), point]), issuer("b", vec![root("l", 2)])])
            .unwrap();
    let (owner, id, found) = trust.issuer_of_ed25519(key(2).as_bytes()).unwrap();
    assert_eq!((owner.id.as_str(), id.as_str(), found), ("b", "l", &key(2)));
    assert!(trust.issuer_of_ed25519(key(3).as_bytes()).is_none());
    assert_eq!(trust.biscuit_roots(None).count(), 3);
    let wanted = root("k", 1).biscuit_id();
    let found: Vec<_> = trust.biscuit_roots(Some(wanted)).map(|found| found.root.id().as_str()).collect();
    assert_eq!(found, ["k"]);
    assert_eq!(trust.biscuit_roots(Some(wanted.wrapping_add(1))).count(), 0);
}

#[test]
fn c7_the_digest_changes_with_everything_that_matters() {
    let base = || issuer("a", vec![root("k", 1)]);
    let digest = |issuers: Vec<TrustedIssuer>| *TrustSnapshot::new(issuers).unwrap().digest();
    let speaks = |change: fn(&mut Speaks)| {
        let mut changed = base();
        change(&mut changed.speaks);
        digest(vec![changed])
    };
    let digests = [
        digest(vec![]),
        digest(vec![base()]),
        digest(vec![TrustedIssuer { id: "b".parse().unwrap(), ..base() }]),
        digest(vec![issuer("a", vec![])]),
        digest(vec![issuer("a", vec![root("k", 2)])]),
        digest(vec![issuer("a", vec![root("l", 1)])]),
        digest(vec![TrustedIssuer { bearer: true, ..base() }]),
        speaks(|speaks| speaks.formats.extend([Format::Tenuo])),
        speaks(|speaks| speaks.formats.extend([Format::Biscuit])),
        speaks(|speaks| speaks.actions.push("a".parse().unwrap())),
        speaks(|speaks| speaks.projects = Projects::All),
        speaks(|speaks| speaks.projects = Projects::Only(["web".parse().unwrap()].into())),
    ];
    let different: BTreeSet<_> = digests.iter().collect();
    assert_eq!(different.len(), digests.len());
    let (a, b) = (base(), issuer("b", vec![root("l", 2)]));
    assert_eq!(
        digest(vec![a.clone(), b.clone()]),
        digest(vec![b, a]),
        "the order of configuration does not matter"
    );
}

#[test]
fn k1_k3_a_key_has_one_owner_and_one_role() {
    let (acme, beta): (IssuerId, IssuerId) = ("acme".parse().unwrap(), "beta".parse().unwrap());
    let mut owners = KeyOwners::default();
    owners.note(&acme, KeyRole::Root, key(1).thumbprint()).unwrap();
    owners.note(&acme, KeyRole::Root, key(1).thumbprint()).unwrap();
    owners.note(&acme, KeyRole::List, key(2).thumbprint()).unwrap();
    owners.note(&beta, KeyRole::Root, key(3).thumbprint()).unwrap();
    let roles = owners.note(&acme, KeyRole::List, key(1).thumbprint());
    assert!(matches!(roles, Err(TrustError::TwoRoles { .. })));
    for role in [KeyRole::Root, KeyRole::List] {
        let shared = owners.note(&beta, role, key(1).thumbprint());
        assert!(matches!(shared, Err(TrustError::SharedKey { .. })), "{role:?}");
    }
}
