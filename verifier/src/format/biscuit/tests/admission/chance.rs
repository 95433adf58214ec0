//! Answers by chance.

use super::*;

/// The rule that finding 8 breaks: which fact the engine tries first must not matter.
#[test]
fn c3_facts_of_one_name_have_one_type() {
    source_refused(
        &[r#"amount(3); amount("x"); check if amount($a), $a <= 5"#],
        FACT(0, 1),
        Defect::MixedTypes,
    );
    source_refused(&["amount(3)", r#"amount("x")"#], FACT(1, 0), Defect::MixedTypes);
    admitted(&[r#"amount(3); amount(3, "x"); amount(4)"#]);
}

#[test]
fn c3_a_rule_adds_to_no_other_facts() {
    source_refused(&["f(1); r(2); r($x) <- f($x)"], RULE(0, 0), Defect::AmbiguousRule);
    source_refused(&["r($x) <- f($x)", "r($x) <- g($x)"], RULE(0, 0), Defect::AmbiguousRule);
    source_refused(&["r($x) <- r($x)"], RULE(0, 0), Defect::RecursiveRule);
    source_refused(&["a($x) <- b($x); b($x) <- a($x)"], RULE(0, 0), Defect::RecursiveRule);
    admitted(&["a($x) <- b($x); b($x) <- c($x); c(1)"]);
}

#[test]
fn c3_the_value_of_an_unnamed_argument_is_not_read() {
    source_refused(&["check if arg($k, $v), $v <= 5"], CHECK(0, 0), Defect::OpenArgument);
    source_refused(&["check if arg($k, $v), f($v)"], CHECK(0, 0), Defect::OpenArgument);
    source_refused(&["r($v) <- arg($k, $v)"], RULE(0, 0), Defect::OpenArgument);
    admitted(&[r#"reject if arg($k, $v), !{"a"}.contains($k)"#]);
    admitted(&[r#"check if arg("a", $v), $v <= 5"#]);
}

#[test]
fn c3_lazy_operators_see_one_combination_of_facts() {
    admitted(&[r#"check if tool($t), $t === "a" || $t === "b""#]);
    source_refused(&["f(1); f(2); check if f($x), $x === 1 || $x < 2"], CHECK(0, 0), Defect::LazyOverMany);
    source_refused(
        &[r#"check if arg($k, $v), {"a"}.any($a -> $a === $k)"#],
        CHECK(0, 0),
        Defect::LazyOverMany,
    );
}

#[test]
fn c3_operators_that_fail_by_value_or_hide_a_failure_are_refused() {
    for (expression, name) in [
        ("1 + 1 === 2", "arithmetic"),
        ("1 / 0 === 2", "arithmetic"),
        (r#""a".matches("a")"#, "matches"),
        ("1 & 1 === 1", "bitwise"),
        (r#"{"a": 1}.get("a") === 1"#, "get"),
        ("(1 / 0 === 2).try_or(true)", "arithmetic"),
        ("true.try_or(true)", "try_or"),
        (r#""a".extern::test("a")"#, "extern::"),
        (r#""a".extern::test()"#, "extern::"),
        (r#"1.type() === "integer""#, "type"),
    ] {
        let token = mint(&[&format!("check if {expression}")]);
        let Err(BiscuitFault::Structure { place, defect }) = check_structure(&token) else {
            panic!("{expression}")
        };
        let map = expression.starts_with('{');
        let expected = if map { Defect::Term { kind: "map" } } else { Defect::Operator { name } };
        assert_eq!((place, defect), (CHECK(0, 0), expected), "{expression}");
    }
}

#[test]
fn c3_every_other_operator_is_admitted() {
    let last = i32::from(op_binary::Kind::TryOr);
    for kind in 0..=last {
        let lazy = (23..=26).contains(&kind);
        let token = with_operations(vec![
            value(term::Content::Bool(true)),
            value(term::Content::Bool(true)),
            binary(kind),
        ]);
        match check_structure(&token) {
            Ok(()) => assert!(matches!(kind, 0..=7 | 13..=16 | 20..=22), "{kind}"),
            Err(BiscuitFault::Structure { defect: Defect::Expression, .. }) => assert!(lazy, "{kind}"),
            Err(BiscuitFault::Structure { defect: Defect::Operator { .. }, .. }) => {
                assert!(matches!(kind, 8..=12 | 17..=19 | 27..=29), "{kind}");
            }
            other => panic!("{kind}: {other:?}"),
        }
    }
    let unknown = with_operations(vec![
        value(term::Content::Bool(true)),
        value(term::Content::Bool(true)),
        binary(last + 1),
    ]);
    refused(&unknown, CHECK(0, 0), Defect::UnknownValue { what: "a binary operator", value: 30 });
}
