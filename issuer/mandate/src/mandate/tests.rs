use proptest::prelude::*;

use super::*;
use crate::{
    canonical,
    json::{Json, Number},
    samples::{at, call, ceilings, limits, root, root_grant, scope, scopes, sign},
};

#[test]
fn k7_the_signed_form_of_a_root() {
    let text = r#"{"delegations_left":5,"depth":0,"expires_at":1800003600,"holder":"planner","id":"01010101-0101-4101-8101-010101010101","issued_at":1800000000,"issuer":"boss","issuer_kind":"human","limits":{"cost_usd":"2.5"},"parent_id":null,"scope":["task.*@project:web","report.brief@project:web"],"typ":"pact-mandate/2"}"#;
    assert_eq!(String::from_utf8(sign(root()).payload().to_vec()).unwrap(), text);
    assert_eq!(canonical::from_bytes::<Mandate>(text.as_bytes()), Ok(root()));
    for (good, bad) in [
        (r#","parent_id":null"#, ""),
        (r#""depth":0"#, r#""depth":-1"#),
        (r#""depth":0"#, r#""depth":0.0"#),
        (r#""depth":0"#, r#""depth":256"#),
        ("1800003600", "253402300800"),
        ("01010101-0101-4101-8101-01010101010", "01010101-0101-4101-8101-01010101010A"),
        ("human", "Human"),
        (r#""2.5""#, "2.5"),
        ("planner", "Planner"),
        (r#""typ""#, r#""sub":1,"typ""#),
        ("report.brief@project:web", "report brief"),
    ] {
        assert!(canonical::from_bytes::<Mandate>(text.replace(good, bad).as_bytes()).is_err(), "{bad}");
    }
}

#[test]
fn a_root_is_granted_within_bounds() {
    let grant = |change: fn(&mut RootGrant)| {
        let mut grant = root_grant();
        change(&mut grant);
        Mandate::root(grant).unwrap_err()
    };
    assert_eq!(grant(|g| g.scope = Scope::default()), GrantError::EmptyScope);
    assert_eq!(grant(|g| g.delegations = 6), GrantError::TooManyDelegations(6));
    let (issued_at, expires_at) = (at(0), at(0));
    assert_eq!(grant(|g| g.validity.expires_at = at(0)), GrantError::EmptyValidity { issued_at, expires_at });
    let long = MAX_LIFETIME_SECONDS + 1;
    assert_eq!(grant(|g| g.validity.expires_at = at(MAX_LIFETIME_SECONDS + 1)), GrantError::TooLong(long));
    let mut longest = root_grant();
    longest.validity.expires_at = at(MAX_LIFETIME_SECONDS);
    assert_eq!(Mandate::root(longest).unwrap().validity().seconds(), MAX_LIFETIME_SECONDS);
}

#[test]
fn a_call_is_permitted_inside_scope_and_limits() {
    let mandate = root();
    let judge = |action, project, cost: &str| mandate.permits(&call(action, project, &[("cost_usd", cost)]));
    let name: LimitName = "cost_usd".parse().unwrap();
    for cost in ["0", "-0", "2.5", "2.500000", "25e-1", "1e-400"] {
        assert_eq!(judge("task.read", "web", cost), Ok(()), "{cost}");
    }
    let over = Denial::OverLimit { name: name.clone(), most: "2.5".parse().unwrap() };
    for cost in ["2.500001", "2.5000004", "2.50000000000000000000001", "1e400", "9223372036854775807"] {
        assert_eq!(judge("task.read", "web", cost), Err(over.clone()), "{cost}");
    }
    assert_eq!(judge("task.read", "web", "-1"), Err(Denial::NotAnAmount(name.clone())));
    assert!(matches!(judge("task.read", "app", "1"), Err(Denial::OutOfScope(_))));
    assert!(matches!(judge("note", "web", "1"), Err(Denial::OutOfScope(_))));
    let missing = mandate.permits(&call("task.read", "web", &[]));
    assert_eq!(missing, Err(Denial::LimitedArgumentMissing(name.clone())));
    let mut text = call("task.read", "web", &[]);
    for other in [Json::String("1".to_owned()), Json::Null, Json::Bool(false), Json::Array(vec![])] {
        text.arguments.insert("cost_usd".to_owned(), other);
        assert_eq!(mandate.permits(&text), Err(Denial::NotAnAmount(name.clone())));
    }
}

#[test]
fn a_call_without_a_project_is_denied() {
    let mut without = call("task.read", "web", &[("cost_usd", "1")]);
    for other in [
        Json::Null,
        Json::String("Web".to_owned()),
        Json::String(String::new()),
        Json::Number(Number::from_u64(1)),
        Json::Array(vec![Json::String("web".to_owned())]),
    ] {
        without.arguments.insert("project".to_owned(), other);
        assert_eq!(root().permits(&without), Err(Denial::NoProject));
    }
    without.arguments.remove("project");
    assert_eq!(root().permits(&without), Err(Denial::NoProject));
}

#[test]
fn an_opaque_scope_permits_no_call() {
    let opaque = Mandate { scope: scope(&["*", "task.read"]), limits: ceilings(&[]), ..root() };
    assert!(matches!(opaque.permits(&call("task.read", "web", &[])), Err(Denial::OutOfScope(_))));
}

proptest! {
    #[test]
    fn decoding_undoes_encoding(scope in scopes(), limits in limits(), left in 0_u8..=5, byte: u8, life in 1_u64..1000) {
        let validity = Validity { not_before: at(0), expires_at: at(life) };
        let grant = RootGrant { id: MandateId::from_random([byte; 16]), scope, limits, delegations: left, validity, ..root_grant() };
        let mandate = Mandate::root(grant).unwrap();
        let bytes = canonical::to_bytes(&mandate).unwrap();
        let back: Mandate = canonical::from_bytes(&bytes).unwrap();
        prop_assert_eq!(canonical::to_bytes(&back).unwrap(), bytes);
        prop_assert_eq!(back, mandate);
    }

    #[test]
    fn any_text_is_answered(text in r#"[{}\[\]",:a-z0-9/@\-. ]{0,80}"#) {
        prop_assert!(canonical::from_bytes::<Mandate>(text.as_bytes()).is_err());
    }
}
