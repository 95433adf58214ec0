//! What the last warrant can have against a call.

use pact_mandate::cbor::Writer;

use super::called;
use crate::format::tenuo::tests::forge::{
    array, cbor, constraint, constraints, exact, extensions, issuer_root, keys, map, most, pattern, root,
    text, texts, tools, unsigned, wildcard,
};

/// The verdict on a call of `read` with `argument` as its `x`, under this constraint.
fn under(constraint: Vec<u8>, argument: &str) -> &'static str {
    let root = root().granting(tools(&[("read", constraints(&[("x", constraint)]))]));
    called(&[&root], "read", &format!(r#"{{"x":{argument}}}"#))
}

fn values(id: u64, name: &str, items: &[Vec<u8>]) -> Vec<u8> {
    constraint(id, map(&[(name, array(items))]))
}

fn float(value: f64) -> Vec<u8> {
    cbor(|w| w.float(value).unwrap())
}

const YES: &str = "accepted";
const NO: &str = "tenuo_outside_constraint";

#[test]
fn c2_a_call_needs_its_tool_and_exactly_the_named_arguments() {
    assert_eq!(called(&[&root()], "read", r#"{"path":"/a"}"#), YES);
    assert_eq!(called(&[&root()], "write", r#"{"path":"/a"}"#), "tenuo_tool_not_granted");
    assert_eq!(called(&[&root()], "read", "{}"), "tenuo_argument_missing");
    assert_eq!(called(&[&root()], "read", r#"{"path":"/a","mode":1}"#), "tenuo_argument_not_named");
    let open = root().granting(tools(&[("read", constraints(&[]))]));
    assert_eq!(called(&[&open], "read", r#"{"path":"/a","mode":1}"#), YES);
}

#[test]
fn c2_g4b_a_star_does_not_stand_for_a_restricted_tool() {
    let entry = |constraint| constraints(&[("path", constraint)]);
    let parent = root().granting(tools(&[("*", entry(wildcard())), ("delete", entry(exact("/tmp/x")))]));
    let child = parent.child(3).granting(tools(&[("*", entry(wildcard()))]));
    assert_eq!(called(&[&parent, &child], "delete", r#"{"path":"/etc"}"#), "tenuo_tool_restricted");
    assert_eq!(called(&[&parent, &child], "delete", r#"{"path":"/tmp/x"}"#), "tenuo_tool_restricted");
    assert_eq!(called(&[&parent, &child], "list", r#"{"path":"/etc"}"#), YES);
    assert_eq!(called(&[&parent], "delete", r#"{"path":"/etc"}"#), NO);
    assert_eq!(called(&[&parent], "*", r#"{"path":"/etc"}"#), "tenuo_tool_not_granted");
}

#[test]
fn c2_g27_an_issuer_warrant_executes_nothing() {
    assert_eq!(called(&[&issuer_root()], "read", r#"{"path":"/a"}"#), "tenuo_not_executable");
}

#[test]
fn c2_g12a_what_needs_approval_is_refused() {
    let call = r#"{"path":"/a"}"#;
    let approved = root().with(15, keys(&[7])).with(16, unsigned(1));
    assert_eq!(called(&[&approved], "read", call), "tenuo_approval_required");
    let gated = root().with(10, extensions(&[("tenuo.approval_gates", &[0xa0])]));
    assert_eq!(called(&[&gated], "read", call), "tenuo_approval_required");
}

#[test]
fn c2_values_of_different_kinds_are_never_equal() {
    let one = |value| constraint(1, map(&[("value", value)]));
    assert_eq!(under(one(unsigned(1)), "1"), YES);
    assert_eq!(under(one(unsigned(1)), "1.0"), YES, "a whole number is the integer, however it is spelled");
    assert_eq!(under(one(float(1.0)), "1"), NO, "a float of a constraint is no integer");
    assert_eq!(under(one(float(2.5)), "2.50"), YES);
    assert_eq!(under(one(text("1")), "1"), NO);
    assert_eq!(under(one(cbor(Writer::null)), "null"), YES);
    assert_eq!(under(one(map(&[("a", unsigned(1)), ("b", unsigned(2))])), r#"{"b":2,"a":1}"#), YES);
    assert_eq!(under(values(4, "values", &[text("a"), unsigned(2)]), "2"), YES);
    assert_eq!(under(values(4, "values", &[text("a"), unsigned(2)]), r#""2""#), NO);
    assert_eq!(under(values(7, "excluded", &[text("a")]), r#""b""#), YES);
    assert_eq!(under(values(7, "excluded", &[text("a")]), r#""a""#), NO);
}

#[test]
fn c4_limits_are_compared_as_decimals() {
    assert_eq!(under(most(2.5), "2.5"), YES);
    assert_eq!(under(most(2.5), "2.500001"), NO);
    assert_eq!(under(most(0.1), "0.1"), YES);
    assert_eq!(under(most(0.1), "1e-1"), YES);
    assert_eq!(under(most(50.0), "50"), YES);
    assert_eq!(under(most(50.0), "-1"), YES);
    assert_eq!(under(most(50.0), r#""5""#), NO);
    assert_eq!(under(most(2.5), "2.5000000000000000001"), "tenuo_inexact_number");
    assert_eq!(under(most(9_007_199_254_740_992.0), "9007199254740993"), "tenuo_unjudged_value");
}

#[test]
fn c2_lists_networks_and_paths_are_judged() {
    let of = |id, name| values(id, name, &[text("a"), text("b")]);
    assert_eq!(under(of(10, "required"), r#"["b","a","c"]"#), YES);
    assert_eq!(under(of(10, "required"), r#"["a"]"#), NO);
    assert_eq!(under(of(11, "allowed"), r#"["a","a"]"#), YES);
    assert_eq!(under(of(11, "allowed"), r#"["a","c"]"#), NO);
    assert_eq!(under(of(11, "allowed"), r#""a""#), NO);
    let network = || constraint(8, text("10.0.0.0/8"));
    assert_eq!(under(network(), r#""10.1.2.3""#), YES);
    assert_eq!(under(network(), r#""11.1.2.3""#), NO);
    assert_eq!(under(network(), r#""ten""#), "tenuo_unjudged_value");
    let yes = || cbor(|w| w.bool(true));
    let path =
        || constraint(17, map(&[("root", text("/data")), ("case_sensitive", yes()), ("allow_equal", yes())]));
    assert_eq!(under(path(), r#""/data/a""#), YES);
    assert_eq!(under(path(), r#""/database""#), NO);
    for escape in [r#""/data/../etc""#, r#""/data/%2e%2e/etc""#, r#""data/a""#, r#""/data//a""#] {
        assert_eq!(under(path(), escape), "tenuo_unjudged_value", "{escape}");
    }
    assert_eq!(under(path(), r#"["/data/a","/etc"]"#), NO);
}

#[test]
fn c2_compositions_are_judged() {
    let all = |items: &[Vec<u8>]| values(12, "constraints", items);
    let any = |items: &[Vec<u8>]| values(13, "constraints", items);
    let not = |inner| constraint(14, map(&[("constraint", inner)]));
    assert_eq!(under(all(&[pattern("a*"), pattern("*b")]), r#""ab""#), YES);
    assert_eq!(under(all(&[pattern("a*"), pattern("*b")]), r#""a""#), NO);
    assert_eq!(under(any(&[exact("a"), exact("b")]), r#""b""#), YES);
    assert_eq!(under(any(&[]), r#""b""#), NO);
    assert_eq!(under(not(exact("a")), r#""b""#), YES);
    assert_eq!(under(not(exact("a")), r#""a""#), NO);
}

#[test]
fn c2_what_is_not_evaluated_denies_wherever_it_stands() {
    let url_safe = || {
        let null = || cbor(Writer::null);
        let truth = |value| cbor(|w| w.bool(value));
        constraint(
            18,
            map(&[
                ("schemes", texts(&["https"])),
                ("allow_domains", null()),
                ("deny_domains", null()),
                ("allow_ports", null()),
                ("block_private", truth(true)),
                ("block_loopback", truth(true)),
                ("block_metadata", truth(true)),
                ("block_reserved", truth(true)),
                ("block_internal_tlds", truth(false)),
            ]),
        )
    };
    let opaque = [
        constraint(5, map(&[("pattern", text(".*"))])),
        constraint(9, text("https://example.com/*")),
        constraint(15, map(&[("expression", text("true"))])),
        url_safe(),
        constraint(128, map(&[("allow", texts(&["ls"]))])),
        constraint(200, cbor(Writer::null)),
        pattern("/data/**"),
    ];
    for inner in opaque {
        assert_eq!(under(inner.clone(), r#""a""#), "tenuo_unjudged_constraint");
        assert_eq!(
            under(values(13, "constraints", &[wildcard(), inner.clone()]), r#""a""#),
            "tenuo_unjudged_constraint"
        );
        assert_eq!(
            under(constraint(14, map(&[("constraint", inner)])), r#""a""#),
            "tenuo_unjudged_constraint"
        );
    }
}
