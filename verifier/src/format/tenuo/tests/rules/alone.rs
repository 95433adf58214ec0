//! What one warrant can have wrong by itself.

use pact_mandate::{Format, PublicKey, Signer, cbor::Writer};

use super::{judged, opened};
use crate::{
    format::tenuo::{
        open,
        tests::{
            at, code,
            forge::{
                self, NOW, Sketch, array, cbor, chain, constraint, constraints, exact, extensions,
                issuer_root, key, keys, map, numbered, octets, pattern, root, seal, stack, text, texts,
                tools, unsigned, wildcard,
            },
            trust, trust_in,
        },
    },
    trust::TrustSnapshot,
};

/// The verdict on a root whose payload is exactly these bytes.
fn payload(bytes: &[u8]) -> &'static str {
    opened(&stack(&[seal(bytes, 1)]))
}

/// The verdict on a root with this constraint on `path`.
fn constrained(constraint: Vec<u8>) -> &'static str {
    judged(&[&root().granting(tools(&[("read", constraints(&[("path", constraint)]))]))])
}

fn raw(bytes: &[u8]) -> Vec<u8> {
    bytes.to_vec()
}

#[test]
fn c2_a_plain_root_is_accepted_alone_and_in_a_stack() {
    assert_eq!(judged(&[&root()]), "accepted");
    assert_eq!(opened(&root().seal()), "accepted");
    assert_eq!(judged(&[&issuer_root()]), "accepted");
}

#[test]
fn c1_a_stack_has_bounds_before_anything_is_read() {
    assert_eq!(opened(&vec![0; 256 * 1024 + 1]), "tenuo_stack_too_large");
    assert_eq!(opened(&stack(&vec![root().seal(); 65])), "tenuo_stack_too_deep");
    assert_eq!(opened(&stack(&[])), "tenuo_stack_empty");
    for garbage in [&[][..], &[0x9f], &[0x9b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], &[0xa0], b"x"]
    {
        assert_eq!(opened(garbage), "tenuo_stack_malformed", "{garbage:?}");
    }
    assert_eq!(opened(&[chain(&[&root()]), vec![0]].concat()), "tenuo_stack_malformed");
    let large = root().with(10, extensions(&[("com.a", &[9; 8000]), ("com.b", &[200; 8000])]));
    let large = large.with(11, texts(&[&"x".repeat(60_000)]));
    assert_eq!(judged(&[&large]), "tenuo_warrant_too_large");
}

#[test]
fn c2_version_algorithm_and_type_are_the_known_ones() {
    assert_eq!(judged(&[&Sketch { version: 2, ..root() }]), "tenuo_unknown_version");
    assert_eq!(judged(&[&Sketch { kind: 2, ..root() }]), "tenuo_unknown_type");
    // G19: never truncated.
    assert_eq!(judged(&[&Sketch { kind: 256, ..root() }]), "tenuo_unknown_type");
    let mut envelope = root().seal();
    envelope[1] = 2;
    assert_eq!(opened(&stack(&[envelope])), "tenuo_unknown_version");
    let mut envelope = root().seal();
    let algorithm = envelope.len() - 67;
    assert_eq!(envelope[algorithm], 1);
    envelope[algorithm] = 2;
    assert_eq!(opened(&stack(&[envelope])), "tenuo_unknown_algorithm");
    let mut fields = root().fields();
    fields[4].1[1] = 2;
    assert_eq!(payload(&numbered(&fields)), "tenuo_unknown_algorithm");
}

#[test]
fn c2_g8_one_warrant_has_one_encoding() {
    let bytes = root().payload();
    assert_eq!(payload(&[&bytes[..], &[0]].concat()), "tenuo_encoding", "a byte after the payload");
    let indefinite = [&[0xbf][..], &bytes[1..], &[0xff]].concat();
    assert_eq!(payload(&indefinite), "tenuo_encoding", "an indefinite length");
    let long_version = [&bytes[..2], &[0x18, 1], &bytes[3..]].concat();
    assert_eq!(payload(&long_version), "tenuo_encoding", "an integer longer than needed");
    let tagged = [&bytes[..2], &[0xc1], &bytes[2..]].concat();
    assert_eq!(payload(&tagged), "tenuo_encoding", "a tag");
    for end in 1..bytes.len() {
        assert_ne!(payload(&bytes[..end]), "accepted", "cut after {end}");
    }
}

#[test]
fn c2_fields_ascend_and_come_once() {
    let mut fields = root().fields();
    fields.swap(6, 7);
    assert_eq!(payload(&numbered(&fields)), "tenuo_key_order");
    let mut fields = root().fields();
    fields.insert(7, fields[7].clone());
    assert_eq!(payload(&numbered(&fields)), "tenuo_key_order");
    for missing in [0, 1, 2, 3, 4, 6, 7, 8, 18] {
        let fields: Vec<_> = root().fields().into_iter().filter(|(field, _)| *field != missing).collect();
        assert_eq!(payload(&numbered(&fields)), "tenuo_missing_field", "{missing}");
    }
    for unknown in [12, 19, 255] {
        assert_eq!(judged(&[&root().with(unknown, unsigned(0))]), "tenuo_unknown_field", "{unknown}");
    }
}

#[test]
fn c2_g9_nothing_named_twice_is_read_as_its_last() {
    let one = constraints(&[("path", exact("/a"))]);
    let twice = tools(&[("read", one.clone()), ("read", constraints(&[]))]);
    assert_eq!(judged(&[&root().granting(twice)]), "tenuo_key_order");
    let twice = constraints(&[("path", exact("/a")), ("path", wildcard())]);
    assert_eq!(judged(&[&root().granting(tools(&[("read", twice)]))]), "tenuo_key_order");
    let unsorted = tools(&[("read", one.clone()), ("a", one)]);
    assert_eq!(judged(&[&root().granting(unsorted)]), "tenuo_key_order");
    let twice = root().with(10, extensions(&[("com.a", &[1]), ("com.a", &[2])]));
    assert_eq!(judged(&[&twice]), "tenuo_key_order");
    let value = map(&[("b", unsigned(1)), ("a", unsigned(1))]);
    assert_eq!(constrained(constraint(1, map(&[("value", value)]))), "tenuo_encoding");
}

#[test]
fn c2_members_stand_in_their_one_order() {
    let range = |names: [&str; 4]| {
        let content =
            [cbor(Writer::null), cbor(Writer::null), cbor(|w| w.bool(true)), cbor(|w| w.bool(true))];
        constraint(3, map(&names.into_iter().zip(content).collect::<Vec<_>>()))
    };
    assert_eq!(constrained(range(["min", "max", "min_inclusive", "max_inclusive"])), "accepted");
    assert_eq!(constrained(range(["max", "min", "min_inclusive", "max_inclusive"])), "tenuo_encoding");
    let with = |name, truth| map(&[("constraints", map(&[])), (name, cbor(|w| w.bool(truth)))]);
    assert_eq!(judged(&[&root().granting(tools(&[("read", with("allow_unknown", true))]))]), "accepted");
    assert_eq!(
        judged(&[&root().granting(tools(&[("read", with("allow_unknown", false))]))]),
        "tenuo_encoding"
    );
    assert_eq!(judged(&[&root().granting(tools(&[("read", with("deny_all", true))]))]), "tenuo_encoding");
    assert_eq!(judged(&[&root().with(10, extensions(&[]))]), "tenuo_encoding");
}

#[test]
fn c2_g7_g10_what_tenuo_keeps_for_itself_is_refused() {
    let reserved = tools(&[("tenuo:revoke", constraints(&[]))]);
    assert_eq!(judged(&[&root().granting(reserved)]), "tenuo_reserved_tool");
    assert_eq!(judged(&[&issuer_root().with(11, texts(&["tenuo:revoke"]))]), "tenuo_reserved_tool");
    for unknown in ["tenuo.future", "pact.future"] {
        assert_eq!(judged(&[&root().with(10, extensions(&[(unknown, b"x")]))]), "tenuo_unknown_extension");
    }
    assert_eq!(judged(&[&root().with(10, extensions(&[("com.example.trace", b"x")]))]), "accepted");
    assert_eq!(
        judged(&[&root().with(10, extensions(&[("tenuo.session_id", &[0xff])]))]),
        "tenuo_bad_extension"
    );
    assert_eq!(judged(&[&root().with(10, extensions(&[("pact.source", b"a b")]))]), "tenuo_bad_extension");
    assert_eq!(judged(&[&root().with(10, extensions(&[("com.a", &[0; 8193])]))]), "tenuo_too_long");
}

#[test]
fn c6_the_source_of_an_imported_mandate_is_read_from_the_first_warrant() {
    let root = root().with(10, extensions(&[("pact.source", b"partner.example")]));
    let opened = open(&chain(&[&root]), &trust(key(1).public_key()), at(NOW)).unwrap();
    assert_eq!(opened.source, Some("partner.example".parse().unwrap()));
}

#[test]
fn c2_g5_g37_lifetimes_are_capped_at_90_days() {
    let days = |days: u64| Sketch { expires_at: NOW - 300 + days * 86_400, ..root() };
    assert_eq!(judged(&[&days(90)]), "accepted");
    assert_eq!(judged(&[&Sketch { expires_at: days(90).expires_at + 1, ..root() }]), "tenuo_lives_too_long");
    assert_eq!(judged(&[&days(3650)]), "tenuo_lives_too_long");
    assert_eq!(judged(&[&Sketch { expires_at: u64::MAX, ..root() }]), "tenuo_lives_too_long");
    let far = Sketch { issued_at: u64::MAX - 10, expires_at: u64::MAX, ..root() };
    assert_eq!(judged(&[&far]), "tenuo_not_yet_valid");
}

#[test]
fn t2_expiry_is_strict_and_issue_may_be_30_seconds_ahead() {
    assert_eq!(judged(&[&Sketch { expires_at: NOW + 1, ..root() }]), "accepted");
    assert_eq!(judged(&[&Sketch { expires_at: NOW, ..root() }]), "tenuo_expired");
    assert_eq!(judged(&[&Sketch { issued_at: NOW + 30, ..root() }]), "accepted");
    assert_eq!(judged(&[&Sketch { issued_at: NOW + 31, ..root() }]), "tenuo_not_yet_valid");
    let backwards = Sketch { issued_at: NOW - 10, expires_at: NOW - 10, ..root() };
    assert_eq!(judged(&[&backwards]), "tenuo_no_lifetime");
}

#[test]
fn c2_g11_g36_an_intermediate_does_not_stand_alone() {
    assert_eq!(judged(&[&Sketch { depth: 3, ..root() }]), "tenuo_not_a_root");
    assert_eq!(judged(&[&Sketch { parent_hash: Some([0; 32]), ..root() }]), "tenuo_not_a_root");
    let deep = Sketch { depth: 9, max_depth: 5, parent_hash: Some([0; 32]), ..root() };
    assert_eq!(judged(&[&deep]), "tenuo_not_a_root");
}

#[test]
fn c2_g32_approvals_can_be_met_or_are_refused() {
    assert_eq!(judged(&[&root().with(16, unsigned(1))]), "tenuo_bad_threshold");
    assert_eq!(judged(&[&root().with(15, keys(&[3, 4])).with(16, unsigned(3))]), "tenuo_bad_threshold");
    assert_eq!(judged(&[&root().with(15, keys(&[3, 3])).with(16, unsigned(2))]), "tenuo_bad_threshold");
    assert_eq!(judged(&[&root().with(15, keys(&[3, 4])).with(16, unsigned(0))]), "tenuo_bad_threshold");
    assert_eq!(judged(&[&root().with(15, keys(&[]))]), "tenuo_bad_threshold");
    assert_eq!(judged(&[&root().with(15, keys(&[3, 4])).with(16, unsigned(2))]), "accepted");
}

#[test]
fn c2_a_warrant_has_the_fields_of_its_type() {
    for (field, content) in [(11, texts(&["read"])), (13, unsigned(1)), (14, constraints(&[]))] {
        assert_eq!(judged(&[&root().with(field, content)]), "tenuo_misplaced_field", "{field}");
    }
    assert_eq!(judged(&[&issuer_root().granting(root().tools)]), "tenuo_misplaced_field");
    assert_eq!(judged(&[&issuer_root().without(11)]), "tenuo_nothing_to_issue");
    assert_eq!(judged(&[&issuer_root().with(11, texts(&[]))]), "tenuo_nothing_to_issue");
    assert_eq!(judged(&[&issuer_root().with(13, unsigned(6))]), "tenuo_issues_too_deep");
}

#[test]
fn k5_g17_weak_keys_are_refused_wherever_they_stand() {
    for weak in [[0; 32], {
        let mut one = [0; 32];
        one[0] = 1;
        one
    }] {
        let mut fields = root().fields();
        fields[4].1 = forge::ed25519(&weak);
        assert_eq!(payload(&numbered(&fields)), "tenuo_bad_key");
        assert_eq!(judged(&[&root().with(15, array(&[forge::ed25519(&weak)]))]), "tenuo_bad_key");
    }
}

#[test]
fn k2_only_a_root_that_speaks_for_tenuo_counts() {
    let stack = chain(&[&root()]);
    let other: PublicKey = *key(9).public_key();
    assert_eq!(code(open(&stack, &trust(&other), at(NOW))), "tenuo_untrusted_root");
    assert_eq!(code(open(&stack, &TrustSnapshot::new(Vec::new()).unwrap(), at(NOW))), "tenuo_untrusted_root");
    let silent = trust_in(key(1).public_key(), &[Format::Biscuit]);
    assert_eq!(code(open(&stack, &silent, at(NOW))), "tenuo_issuer_not_speaking");
    let forged = Sketch { signer: 9, issuer: Some(1), ..root() };
    assert_eq!(judged(&[&forged]), "tenuo_signature_invalid");
}

#[test]
fn c1_constraints_are_bounded_in_size_number_and_depth() {
    let nested =
        |depth| (1..depth).fold(wildcard(), |inner, _| constraint(14, map(&[("constraint", inner)])));
    assert_eq!(constrained(nested(32)), "accepted");
    assert_eq!(constrained(nested(33)), "tenuo_constraint_too_deep");
    assert_eq!(constrained(exact(&"x".repeat(5000))), "tenuo_constraint_too_large");
    let names: Vec<String> = (0..257).map(|number| format!("t{number:03}")).collect();
    let many: Vec<(&str, Vec<u8>)> = names.iter().map(|name| (name.as_str(), constraints(&[]))).collect();
    assert_eq!(judged(&[&root().granting(tools(&many))]), "tenuo_too_many");
    let many: Vec<(&str, Vec<u8>)> = names.iter().take(65).map(|name| (name.as_str(), wildcard())).collect();
    assert_eq!(judged(&[&root().granting(tools(&[("read", constraints(&many))]))]), "tenuo_too_many");
    let long = "x".repeat(257);
    assert_eq!(judged(&[&root().granting(tools(&[(&long, constraints(&[]))]))]), "tenuo_too_long");
}

#[test]
fn c2_a_constraint_is_what_its_type_promises() {
    for malformed in [
        pattern("[a"),
        pattern("a***"),
        constraint(8, text("10.0.0.0/33")),
        constraint(9, text("https://*/*")),
        constraint(12, map(&[("constraints", array(&[]))])),
        subpath("data"),
        subpath("/data/../etc"),
        subpath("/data/"),
    ] {
        assert_eq!(constrained(malformed), "tenuo_constraint_malformed");
    }
    assert_eq!(constrained(constraint(256, cbor(Writer::null))), "tenuo_encoding");
    assert_eq!(constrained(array(&[unsigned(16), cbor(Writer::null), unsigned(0)])), "tenuo_encoding");
    assert_eq!(
        constrained(constraint(1, map(&[("value", raw(&[0xfb, 0, 0, 0, 0, 0, 0, 0, 0]))]))),
        "tenuo_encoding"
    );
    assert_eq!(
        constrained(constraint(1, map(&[("value", raw(&[0x1b, 0xff, 0, 0, 0, 0, 0, 0, 0]))]))),
        "tenuo_encoding"
    );
    assert_eq!(constrained(constraint(200, octets(&[1]))), "accepted");
}

fn subpath(root: &str) -> Vec<u8> {
    let yes = || cbor(|w| w.bool(true));
    constraint(17, map(&[("root", text(root)), ("case_sensitive", yes()), ("allow_equal", yes())]))
}
