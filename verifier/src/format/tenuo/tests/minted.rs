//! Warrants as the format's own crate mints them are accepted, every kind of constraint among them.

use std::time::Duration;

use tenuo::{
    SigningKey, Warrant,
    constraints::{
        All, Any, CelConstraint, Cidr, Constraint, ConstraintSet, ConstraintValue, Contains, Exact, Not,
        NotOneOf, OneOf, Pattern, Range, RegexConstraint, Shlex, Subpath, Subset, UrlPattern, UrlSafe,
        Wildcard,
    },
    warrant::Clearance,
    wire::{self, WarrantStack},
};

use super::{at, call, code, forge::key, open, permits, trust};

const TTL: Duration = Duration::from_mins(10);

fn signing(seed: u8) -> SigningKey {
    SigningKey::from_bytes(&[seed; 32])
}

fn stack(warrants: Vec<Warrant>) -> (Vec<u8>, u64) {
    let now = u64::try_from(warrants[warrants.len() - 1].issued_at().timestamp()).unwrap();
    (wire::encode_stack(&WarrantStack(warrants)).unwrap(), now)
}

fn trusted() -> crate::trust::TrustSnapshot {
    use pact_mandate::Signer;
    trust(key(1).public_key())
}

/// One of each kind.
fn every_kind() -> Vec<Constraint> {
    let values = || ["a", "b"].map(ConstraintValue::from);
    vec![
        Wildcard.into(),
        Exact::new("a").into(),
        Exact::new(2.5).into(),
        Exact::new(vec![1_i64, 300]).into(),
        Pattern::new("/data/*").unwrap().into(),
        Range::new(Some(-0.5), Some(1e300)).unwrap().min_exclusive().into(),
        OneOf::new(["a", "b"]).into(),
        NotOneOf::new(["a", "b"]).into(),
        RegexConstraint::new("^a+$").unwrap().into(),
        Cidr::new("10.0.0.0/8").unwrap().into(),
        UrlPattern::new("https://*.example.com/v1/*").unwrap().into(),
        Contains::new(values()).into(),
        Subset::new(values()).into(),
        All::new([Wildcard.into(), Pattern::new("a*").unwrap().into()]).into(),
        Any::new([Exact::new("a").into()]).into(),
        Not::new(Exact::new("a").into()).into(),
        CelConstraint::new("value > 1").into(),
        CelConstraint::attenuate(&CelConstraint::new("value > 1"), "value < 9").into(),
        Subpath::new("/data").unwrap().into(),
        UrlSafe::new().into(),
        UrlSafe::with_domains(vec!["*.example.com", "10.0.0.1"]).into(),
        Shlex::new(vec!["ls"]).into(),
    ]
}

#[test]
fn c2_every_kind_of_constraint_that_the_crate_writes_is_read() {
    for (number, kind) in every_kind().into_iter().enumerate() {
        let mut set = ConstraintSet::new();
        set.insert("x", kind.clone());
        set.set_allow_unknown(number % 2 == 0);
        let warrant = Warrant::builder()
            .capability("read", set)
            .holder(signing(2).public_key())
            .ttl(TTL)
            .session_id("s")
            .agent_id("a")
            .clearance(Clearance::PARTNER)
            .extension("com.example.note", vec![0, 255])
            .build(&signing(1))
            .unwrap();
        let child =
            warrant.attenuate().inherit_all().holder(signing(3).public_key()).build(&signing(2)).unwrap();
        let (stack, now) = stack(vec![warrant, child]);
        // Of the one kind that narrows by more than identity, the identical is what a child inherits.
        assert_eq!(code(open(&stack, &trusted(), at(now))), "accepted", "{kind:?}");
    }
}

#[test]
fn c5_a_chain_in_the_shape_of_an_export_is_accepted_and_ends_where_it_says() {
    let board = signing(1);
    let mut set = ConstraintSet::new();
    set.insert("project", OneOf::new(["api", "web"]));
    set.insert("task_id", Wildcard);
    set.insert("cost_usd", Range::max(2.5).unwrap());
    let root = Warrant::builder()
        .capability("task.read", set)
        .holder(board.public_key())
        .ttl(Duration::from_hours(90 * 24))
        .build(&board)
        .unwrap();
    let narrowed = {
        let mut set = ConstraintSet::new();
        set.insert("project", Exact::new("web"));
        set.insert("task_id", Wildcard);
        set.insert("cost_usd", Range::max(1.5).unwrap());
        set
    };
    let middle =
        root.attenuate().capability("task.read", narrowed.clone()).holder(board.public_key()).build(&board);
    let middle = middle.unwrap();
    let leaf = middle
        .attenuate()
        .capability("task.read", narrowed)
        .holder(signing(5).public_key())
        .ttl(TTL)
        .max_depth(2)
        .build(&board)
        .unwrap();
    let beyond = leaf.attenuate().inherit_all().holder(signing(6).public_key()).build(&signing(5));
    assert!(beyond.is_err(), "a terminal leaf hands nothing on");
    let (stack, now) = stack(vec![root, middle, leaf.clone()]);
    let asked = |arguments| code(permits(&stack, &trusted(), now, &call("task.read", arguments)));
    assert_eq!(asked(r#"{"project":"web","task_id":7,"cost_usd":1.5}"#), "accepted");
    assert_eq!(asked(r#"{"project":"api","task_id":7,"cost_usd":1.5}"#), "tenuo_outside_constraint");
    assert_eq!(asked(r#"{"project":"web","task_id":7,"cost_usd":1.500001}"#), "tenuo_outside_constraint");
    assert_eq!(asked(r#"{"project":"web","task_id":7}"#), "tenuo_argument_missing");
    let opened = open(&stack, &trusted(), at(now)).unwrap();
    assert_eq!(opened.ids.last(), Some(&leaf.id().to_string()));
    assert_eq!(opened.expires_at.seconds(), u64::try_from(leaf.expires_at().timestamp()).unwrap());
    // Three warrants and two keys: the board's, which is root, issuer and holder, and the agent's.
    assert_eq!((opened.ids.len(), opened.entries.len()), (3, 5));
}
