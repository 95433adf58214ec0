use proptest::prelude::*;

use super::*;
use crate::{
    canonical::CanonicalError,
    key::Signer,
    mandate::RootGrant,
    samples::{at, call, calls, ceilings, id, key, keys, limits, root, root_grant, scope, scopes, sign},
    signed::Prepared,
    time::Validity,
};

fn verify(mandates: &[Mandate]) -> Result<Chain, ChainError> {
    let links = mandates.iter().map(|mandate| sign(mandate.clone()).signed().clone());
    Chain::verify(links.collect(), &keys(), at(10), 30)
}

/// The fault of a chain whose last link is the one at fault.
fn last_fault(mandates: &[Mandate]) -> LinkFault {
    let error = verify(mandates).unwrap_err();
    assert_eq!(error.link, mandates.len() - 1, "{error}");
    error.fault
}

fn grant() -> ChildGrant {
    ChildGrant {
        id: id(2),
        holder: "reader".parse().unwrap(),
        scope: scope(&["task.read@project:web"]),
        limits: ceilings(&[("cost_usd", "1")]),
        delegations: 4,
        issued_at: at(5),
        expires_at: None,
    }
}

fn child() -> Mandate {
    verify(&[root()]).unwrap().delegate(grant()).unwrap()
}

/// A root and the longest line of hand-offs below it.
fn line(links: u8) -> Vec<Mandate> {
    let mut mandates = vec![root()];
    for depth in 1..links {
        let holder = format!("agent-{depth}").parse().unwrap();
        let grant = ChildGrant { id: id(depth + 1), holder, delegations: 5 - depth, ..grant() };
        mandates.push(verify(&mandates).unwrap().delegate(grant).unwrap());
    }
    mandates
}

#[test]
fn a_chain_tells_who_what_and_how_much() {
    let chain = verify(&[root(), child()]).unwrap();
    assert_eq!(chain.human(), "boss");
    assert_eq!(chain.leaf(), &child());
    assert_eq!(chain.mandates().collect::<Vec<_>>(), [&root(), &child()]);
    assert_eq!(chain.links().count(), 2);
    assert_eq!((chain.ceilings_at(1), chain.ceilings()), (root().limits, child().limits));
    assert_eq!(verify(&[root()]).unwrap().human(), "boss");
}

#[test]
fn a_child_takes_its_parents_end_unless_it_ends_before() {
    let chain = verify(&[root()]).unwrap();
    let end = |expires_at| chain.delegate(ChildGrant { expires_at, ..grant() }).unwrap().expires_at;
    assert_eq!(end(None), at(3600));
    assert_eq!(end(Some(at(9999))), at(3600));
    assert_eq!(end(Some(at(60))), at(60));
}

#[test]
fn nothing_is_no_chain() {
    assert_eq!(verify(&[]).unwrap_err(), ChainError { link: 0, fault: LinkFault::Empty });
}

#[test]
fn c1_a_chain_has_at_most_six_links() {
    let longest = line(6);
    assert!(verify(&longest).is_ok());
    let mut longer = longest;
    longer.push(child());
    assert_eq!(last_fault(&longer), LinkFault::TooLong);
}

#[test]
fn k1_every_link_is_signed_by_a_known_key() {
    let stranger = Prepared::new(child()).unwrap().sign(&key(2)).unwrap();
    let links = vec![sign(root()).signed().clone(), stranger.signed().clone()];
    let refused = Chain::verify(links, &keys(), at(10), 30).unwrap_err();
    let unknown = LinkFault::Signed(SignedError::UnknownKey(key(2).public_key().thumbprint().into()));
    assert_eq!(refused, ChainError { link: 1, fault: unknown });
}

#[test]
fn k7_every_link_is_a_mandate_in_canonical_form() {
    let bytes = String::from_utf8(sign(root()).signed().to_bytes().unwrap()).unwrap();
    let bent = Signed::from_bytes(bytes.replace("boss", "bass").as_bytes()).unwrap();
    let refused = Chain::verify(vec![bent], &keys(), at(10), 30).unwrap_err();
    assert!(matches!(
        refused,
        ChainError { link: 0, fault: LinkFault::Signed(SignedError::BadSignature(_)) }
    ));
    let typed = Mandate { typ: "pact-mandate/3".to_owned(), ..root() };
    assert!(matches!(Prepared::new(typed).err(), Some(SignedError::WrongType { .. })));
    let unsafe_number = Mandate { ext: Extensions::from([("x".to_owned(), 0.5.into())]), ..root() };
    let refused = Prepared::new(unsafe_number).err();
    assert!(matches!(refused, Some(SignedError::Content(CanonicalError::UnsafeNumber(_)))));
}

#[test]
fn a_root_is_a_persons_own_grant() {
    let by_agent = Mandate { issuer_kind: IssuerKind::Agent, ..root() };
    let with_parent = Mandate { parent_id: Some(id(9)), ..root() };
    let by_nobody = Mandate { issuer: "two words".to_owned(), ..root() };
    for wrong in [by_agent, with_parent, by_nobody, child()] {
        assert_eq!(last_fault(&[wrong]), LinkFault::NotARoot);
    }
    let deep = Mandate { depth: 1, ..root() };
    assert_eq!(last_fault(&[deep]), LinkFault::WrongDepth { expected: 0, found: 1 });
    let many = Mandate { delegations_left: 6, ..root() };
    assert_eq!(last_fault(&[many]), LinkFault::DelegationExhausted { left: 5, wanted: 6 });
    let nothing = Mandate { scope: Scope::default(), ..root() };
    assert_eq!(last_fault(&[nothing]), LinkFault::EmptyScope);
}

#[test]
fn a_person_does_not_grant_below_the_root() {
    let by_human = Mandate { issuer_kind: IssuerKind::Human, ..child() };
    assert_eq!(last_fault(&[root(), by_human]), LinkFault::NotAChild);
    assert_eq!(last_fault(&[root(), root()]), LinkFault::NotAChild);
}

#[test]
fn a_child_names_the_link_before_as_its_parent() {
    let expected = id(1);
    for found in [Some(id(9)), Some(id(2)), None] {
        let wrong = Mandate { parent_id: found, ..child() };
        assert_eq!(last_fault(&[root(), wrong]), LinkFault::WrongParent { expected, found });
    }
    // A link left out of the middle.
    let mut mandates = line(3);
    mandates.remove(1);
    assert!(matches!(last_fault(&mandates), LinkFault::WrongParent { .. }));
}

#[test]
fn an_id_stands_once_in_a_chain() {
    let twin = Mandate { id: id(1), ..child() };
    assert_eq!(last_fault(&[root(), twin]), LinkFault::RepeatedId(id(1)));
    let mut mandates = line(3);
    mandates[2].id = id(1);
    assert_eq!(last_fault(&mandates), LinkFault::RepeatedId(id(1)));
    let refused = verify(&[root()]).unwrap().delegate(ChildGrant { id: id(1), ..grant() });
    assert_eq!(refused, Err(LinkFault::RepeatedId(id(1))));
}

#[test]
fn only_the_holder_hands_on() {
    let expected: AgentId = "planner".parse().unwrap();
    for found in ["reader", "boss", "Planner", ""] {
        let wrong = Mandate { issuer: found.to_owned(), ..child() };
        let fault = LinkFault::WrongIssuer { expected: expected.clone(), found: found.to_owned() };
        assert_eq!(last_fault(&[root(), wrong]), fault);
    }
}

#[test]
fn the_depth_counts_up_by_one() {
    for found in [0, 2, 5, 255] {
        let wrong = Mandate { depth: found, ..child() };
        assert_eq!(last_fault(&[root(), wrong]), LinkFault::WrongDepth { expected: 1, found });
    }
}

#[test]
fn hand_offs_are_used_up() {
    for wanted in [5, 6, 255] {
        let fault = LinkFault::DelegationExhausted { left: 5, wanted };
        let wrong = Mandate { delegations_left: wanted, ..child() };
        assert_eq!(last_fault(&[root(), wrong]), fault);
        let chain = verify(&[root()]).unwrap();
        assert_eq!(chain.delegate(ChildGrant { delegations: wanted, ..grant() }), Err(fault));
    }
    let terminal = Mandate { delegations_left: 0, ..root() };
    let refused = verify(&[terminal]).unwrap().delegate(ChildGrant { delegations: 0, ..grant() });
    assert_eq!(refused, Err(LinkFault::DelegationExhausted { left: 0, wanted: 0 }));
    let deepest = verify(&line(6)).unwrap();
    let refused = deepest.delegate(ChildGrant { id: id(9), delegations: 0, ..grant() });
    assert_eq!(refused, Err(LinkFault::DelegationExhausted { left: 0, wanted: 0 }));
}

#[test]
fn a_scope_does_not_widen() {
    let chain = verify(&[root()]).unwrap();
    for item in [
        "task.read@project:app",
        "*@project:web",
        "tasks@project:web",
        "report.*@project:web",
        "task.read",
        "*",
    ] {
        let fault = LinkFault::ScopeExceeded(item.parse().unwrap());
        let wider = scope(&["task.read@project:web", item]);
        let wrong = Mandate { scope: wider.clone(), ..child() };
        assert_eq!(last_fault(&[root(), wrong]), fault);
        assert_eq!(chain.delegate(ChildGrant { scope: wider, ..grant() }), Err(fault));
    }
    let nothing = Mandate { scope: Scope::default(), ..child() };
    assert_eq!(last_fault(&[root(), nothing]), LinkFault::EmptyScope);
    let refused = chain.delegate(ChildGrant { scope: Scope::default(), ..grant() });
    assert_eq!(refused, Err(LinkFault::EmptyScope));
}

#[test]
fn a_limit_is_not_raised() {
    let fault = LinkFault::LimitExceeded("cost_usd".parse().unwrap());
    let higher = ceilings(&[("cost_usd", "2.500001")]);
    let wrong = Mandate { limits: higher.clone(), ..child() };
    assert_eq!(last_fault(&[root(), wrong]), fault);
    let refused = verify(&[root()]).unwrap().delegate(ChildGrant { limits: higher, ..grant() });
    assert_eq!(refused, Err(fault));
}

/// Left out by the parent, the grandparent's limit binds all the same.
#[test]
fn a_limit_holds_against_every_ancestor_not_only_the_parent() {
    let silent = Mandate { limits: ceilings(&[]), ..child() };
    let chain = verify(&[root(), silent.clone()]).unwrap();
    let wanted = |most: &str| ChildGrant {
        id: id(3),
        holder: "third".parse().unwrap(),
        delegations: 0,
        limits: ceilings(&[("cost_usd", most)]),
        ..grant()
    };
    let fault = LinkFault::LimitExceeded("cost_usd".parse().unwrap());
    assert_eq!(chain.delegate(wanted("2.500001")), Err(fault.clone()));
    let third = chain.delegate(wanted("2.5")).unwrap();
    let higher = Mandate { limits: ceilings(&[("cost_usd", "2.500001")]), ..third.clone() };
    assert_eq!(last_fault(&[root(), silent.clone(), higher]), fault);
    let unlimited = Mandate { limits: ceilings(&[]), ..third };
    let chain = verify(&[root(), silent, unlimited]).unwrap();
    assert_eq!(chain.ceilings(), root().limits);
    let dear = call("task.read", "web", &[("cost_usd", "2.500001")]);
    assert_eq!(chain.leaf().permits(&dear), Ok(()), "the leaf alone says nothing about it");
    assert!(matches!(chain.permits(&dear), Err(Denial::OverLimit { .. })));
}

#[test]
fn a_child_does_not_outlive_its_parent() {
    let wrong = Mandate { expires_at: at(3601), ..child() };
    let fault = LinkFault::OutlivesParent { parent: at(3600), found: at(3601) };
    assert_eq!(last_fault(&[root(), wrong]), fault);
}

#[test]
fn a_validity_is_whole_and_inside_the_parents() {
    let too_long = Mandate { expires_at: at(MAX_LIFETIME_SECONDS + 1), ..root() };
    let empty = Mandate { expires_at: at(0), ..root() };
    let reversed = Mandate { expires_at: at(0), issued_at: at(1), ..root() };
    for wrong in [too_long, empty, reversed] {
        assert_eq!(last_fault(&[wrong]), LinkFault::BadValidity);
    }
    let early = Mandate { issued_at: UnixTime::EPOCH, expires_at: at(60), ..child() };
    assert_eq!(last_fault(&[root(), early]), LinkFault::BadValidity);
    let refused = |issued_at| verify(&[root()]).unwrap().delegate(ChildGrant { issued_at, ..grant() });
    assert_eq!(refused(UnixTime::EPOCH), Err(LinkFault::BadValidity));
    assert_eq!(refused(at(3600)), Err(LinkFault::BadValidity));
}

#[test]
fn t2_an_issue_time_may_lie_ahead_by_the_skew_and_no_further() {
    let future = |seconds| Mandate { issued_at: at(seconds), ..root() };
    assert!(verify(&[future(40)]).is_ok());
    assert_eq!(last_fault(&[future(41)]), LinkFault::NotYetValid(at(41)));
}

#[test]
fn t2_expiry_is_strict_for_every_link() {
    let links = || vec![sign(root()).signed().clone(), sign(child()).signed().clone()];
    assert!(Chain::verify(links(), &keys(), at(3599), 0).is_ok());
    let expired = Chain::verify(links(), &keys(), at(3600), 0).unwrap_err();
    assert_eq!(expired, ChainError { link: 0, fault: LinkFault::Expired(at(3600)) });
    let short = Mandate { expires_at: at(10), ..child() };
    assert_eq!(last_fault(&[root(), short]), LinkFault::Expired(at(10)));
}

/// Grants that often fit under each other: few words, few names, small numbers.
fn child_grants() -> impl Strategy<Value = Vec<ChildGrant>> {
    let grant = (scopes(), limits(), 0_u8..5, 0_u64..20, prop::option::of(1_u64..200));
    prop::collection::vec(grant, 0..6).prop_map(|grants| {
        let grants = grants.into_iter().zip(2_u8..);
        grants
            .map(|((scope, limits, delegations, start, end), byte)| ChildGrant {
                id: id(byte),
                holder: format!("agent-{byte}").parse().unwrap(),
                scope,
                limits,
                delegations,
                issued_at: at(start),
                expires_at: end.map(at),
            })
            .collect()
    })
}

/// The chain of a wide root and of those of the grants that fit, each below the one before.
fn grown(scope: Scope, limits: Ceilings, grants: Vec<ChildGrant>) -> Chain {
    let validity = Validity { not_before: at(0), expires_at: at(100) };
    let root = Mandate::root(RootGrant { scope, limits, validity, ..root_grant() }).unwrap();
    let mut links = vec![sign(root).signed().clone()];
    let mut chain = Chain::verify(links.clone(), &keys(), at(0), 30).unwrap();
    for grant in grants {
        if let Ok(child) = chain.delegate(grant) {
            links.push(sign(child).signed().clone());
            // A child that was made by the parent's chain always verifies (its end may have come by now).
            chain = Chain::verify(links.clone(), &keys(), at(0), 30).unwrap();
        }
    }
    chain
}

fn chains() -> impl Strategy<Value = Chain> {
    let wide = prop_oneof![Just(scope(&["*@project:p", "*@project:q", "*"])), scopes()];
    (wide, limits(), child_grants()).prop_map(|(scope, limits, grants)| grown(scope, limits, grants))
}

proptest! {
    #[test]
    fn narrowing_is_reflexive(chain in chains()) {
        let leaf = chain.leaf();
        let same = ChildGrant {
            id: id(200),
            holder: leaf.holder.clone(),
            scope: leaf.scope.clone(),
            limits: leaf.limits.clone(),
            delegations: leaf.delegations_left.saturating_sub(1),
            issued_at: leaf.issued_at,
            expires_at: None,
        };
        let expected = leaf.delegations_left > 0;
        prop_assert_eq!(chain.delegate(same).is_ok(), expected);
    }

    /// What stands anywhere below a link is no wider than it, however many links lie between.
    #[test]
    fn narrowing_is_transitive(chain in chains()) {
        let mandates: Vec<&Mandate> = chain.mandates().collect();
        for (at, above) in mandates.iter().enumerate() {
            for below in &mandates[at..] {
                prop_assert!(below.scope.first_beyond(&above.scope).is_none());
                prop_assert!(below.limits.first_beyond(&above.limits).is_none());
                prop_assert!(below.expires_at <= above.expires_at && below.issued_at >= above.issued_at);
                prop_assert!(below.delegations_left <= above.delegations_left);
            }
        }
    }

    /// Whatever a chain permits, each of its ancestors permits; and what it permits is exactly the leaf's scope inside
    /// the limits of all, the form in which it is exported.
    #[test]
    fn narrowing_is_sound(chain in chains(), call in calls()) {
        let permitted = chain.permits(&call).is_ok();
        for mandate in chain.mandates() {
            prop_assert!(!permitted || mandate.permits(&call).is_ok());
        }
        let compiled = Mandate { limits: chain.ceilings(), ..chain.leaf().clone() };
        prop_assert_eq!(compiled.permits(&call).is_ok(), permitted);
    }

    /// Any chain cut short is a chain, and permits no less.
    #[test]
    fn an_ancestor_permits_no_less(chain in chains(), call in calls()) {
        let links: Vec<_> = chain.links().map(|link| link.signed().clone()).collect();
        for length in 1..=links.len() {
            let above = Chain::verify(links[..length].to_vec(), &keys(), at(0), 30).unwrap();
            prop_assert!(chain.permits(&call).is_err() || above.permits(&call).is_ok());
        }
    }

    /// Whatever was signed, a chain that verifies is sound.
    #[test]
    fn a_wrong_link_never_widens(
        chain in chains(),
        scope in scopes(),
        limits in limits(),
        call in calls(),
        delegations_left in 0_u8..7,
        end in 1_u64..200,
    ) {
        let leaf = chain.leaf();
        let forged = Mandate {
            id: id(200),
            parent_id: Some(leaf.id),
            depth: leaf.depth + 1,
            issuer: leaf.holder.to_string(),
            issuer_kind: IssuerKind::Agent,
            scope,
            limits,
            delegations_left,
            expires_at: at(end),
            ..leaf.clone()
        };
        let mut links: Vec<_> = chain.links().map(|link| link.signed().clone()).collect();
        links.push(sign(forged.clone()).signed().clone());
        if let Ok(longer) = Chain::verify(links, &keys(), at(0), 30) {
            prop_assert!(delegations_left < leaf.delegations_left && at(end) <= leaf.expires_at);
            prop_assert!(longer.permits(&call).is_err() || chain.permits(&call).is_ok());
            prop_assert!(leaf.scope.covers(&call.needed().unwrap()) || !forged.scope.covers(&call.needed().unwrap()));
        }
    }
}
