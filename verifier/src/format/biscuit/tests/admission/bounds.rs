//! More than an evaluation should cost.

use super::*;

#[test]
fn c1_a_token_is_at_most_16_kilobytes() {
    assert_eq!(
        check_structure(&vec![0; MAX_TOKEN_BYTES + 1]),
        Err(BiscuitFault::TooLarge { limit: MAX_TOKEN_BYTES })
    );
    assert!(!matches!(check_structure(&vec![0; MAX_TOKEN_BYTES]), Err(BiscuitFault::TooLarge { .. })));
}

#[test]
fn c3_a_token_has_at_most_16_blocks() {
    let block = "check if true";
    admitted(&vec![block; MAX_BLOCKS]);
    source_refused(&vec![block; MAX_BLOCKS + 1], Place::Envelope, too_many("blocks", MAX_BLOCKS));
}

#[test]
fn c3_a_block_has_at_most_64_facts() {
    let facts = |count| repeat(count, |at| format!("f({at});"));
    admitted(&[&facts(MAX_FACTS)]);
    source_refused(&[&facts(MAX_FACTS + 1)], FACT(0, MAX_FACTS), too_many("facts", MAX_FACTS));
}

#[test]
fn c3_a_block_has_at_most_8_rules() {
    let rules = |count| repeat(count, |at| format!("r{at}($x) <- f($x);"));
    admitted(&[&rules(MAX_RULES)]);
    source_refused(&[&rules(MAX_RULES + 1)], RULE(0, MAX_RULES), too_many("rules", MAX_RULES));
}

#[test]
fn c3_a_block_has_at_most_32_checks() {
    let checks = |count| repeat(count, |_| "check if true;".to_owned());
    admitted(&[&checks(MAX_CHECKS)]);
    source_refused(&[&checks(MAX_CHECKS + 1)], CHECK(0, MAX_CHECKS), too_many("checks", MAX_CHECKS));
}

#[test]
fn c3_a_check_has_at_most_64_queries() {
    let queries = |count| format!("check if true{}", repeat(count - 1, |_| " or true".to_owned()));
    admitted(&[&queries(MAX_QUERIES)]);
    source_refused(&[&queries(MAX_QUERIES + 1)], CHECK(0, 0), too_many("queries of a check", MAX_QUERIES));
}

#[test]
fn c3_a_query_has_at_most_3_predicates() {
    admitted(&["check if a(1), b(1), c(1)"]);
    let limit = too_many("predicates of a query", MAX_PREDICATES);
    source_refused(&["check if a(1), b(1), c(1), d(1)"], CHECK(0, 0), limit);
}

#[test]
fn c3_a_predicate_has_at_most_8_terms() {
    admitted(&["f(1,2,3,4,5,6,7,8)"]);
    source_refused(&["f(1,2,3,4,5,6,7,8,9)"], FACT(0, 0), too_many("terms of a predicate", MAX_TERMS));
}

#[test]
fn c3_a_query_has_at_most_8_expressions() {
    let query = |count| format!("check if true{}", repeat(count - 1, |_| ", true".to_owned()));
    admitted(&[&query(MAX_EXPRESSIONS)]);
    let limit = too_many("expressions of a query", MAX_EXPRESSIONS);
    source_refused(&[&query(MAX_EXPRESSIONS + 1)], CHECK(0, 0), limit);
}

#[test]
fn c3_an_expression_has_at_most_16_operations() {
    let negations = |count| {
        let negate = schema::OpUnary { kind: op_unary::Kind::Negate.into(), ffi_name: None };
        let mut ops = vec![value(term::Content::Bool(true))];
        ops.resize(count, schema::Op { content: Some(op::Content::Unary(negate)) });
        with_operations(ops)
    };
    assert_eq!(check_structure(&negations(MAX_OPERATIONS)), Ok(()));
    let limit = too_many("operations of an expression", MAX_OPERATIONS);
    refused(&negations(MAX_OPERATIONS + 1), CHECK(0, 0), limit);
}

#[test]
fn c3_a_set_has_at_most_256_members() {
    let set = |count| {
        format!(
            "check if {{{}}}.contains(1)",
            (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
        )
    };
    admitted(&[&set(MAX_MEMBERS)]);
    source_refused(&[&set(MAX_MEMBERS + 1)], CHECK(0, 0), too_many("members of a set", MAX_MEMBERS));
}

#[test]
fn c3_a_text_has_at_most_a_kilobyte() {
    let text = |count| format!(r#"f("{}")"#, "a".repeat(count));
    admitted(&[&text(MAX_TEXT_BYTES)]);
    source_refused(
        &[&text(MAX_TEXT_BYTES + 1)],
        Place::Block(0),
        Defect::TextTooLong { limit: MAX_TEXT_BYTES },
    );
    let bytes = |count| format!("f(hex:{})", "00".repeat(count));
    admitted(&[&bytes(MAX_TEXT_BYTES)]);
    source_refused(&[&bytes(MAX_TEXT_BYTES + 1)], FACT(0, 0), Defect::TextTooLong { limit: MAX_TEXT_BYTES });
}

#[test]
fn c3_a_token_has_at_most_1024_words_of_its_own() {
    let words = |count| {
        changed(&["check if true"], 0, |block| {
            block.symbols = (0..count).map(|at| format!("w{at}")).collect();
        })
    };
    assert_eq!(check_structure(&words(MAX_SYMBOLS)), Ok(()));
    refused(&words(MAX_SYMBOLS + 1), Place::Block(0), too_many("symbols", MAX_SYMBOLS));
}

#[test]
fn c3_closures_nest_at_most_twice() {
    admitted(&["check if [1].any($x -> [2].any($y -> $y === 2))"]);
    let deep = "check if [1].any($x -> [2].any($y -> [3].any($z -> $z === 3)))";
    source_refused(&[deep], CHECK(0, 0), Defect::TooDeep { limit: MAX_CLOSURE_DEPTH });
}

/// The rule that finding 1 breaks: the engine's clock does not stop a join, so its size is bounded beforehand.
#[test]
fn c3_a_query_may_match_in_at_most_10000_ways() {
    let facts = repeat(22, |at| format!("f({at});"));
    let join = "check if f($a), f($b), f($c)";
    let token = mint(&[&authority(), &format!("{facts}{join}")]);
    refused(&token, CHECK(1, 0), Defect::TooManyMatches { limit: MAX_MATCHES });
    let facts = repeat(21, |at| format!("f({at});"));
    admitted(&[&authority(), &format!("{facts}{join}")]);
    // Facts of other blocks count as well, and those that a rule may make.
    let facts = repeat(60, |at| format!("f({at});"));
    let refusal = Defect::TooManyMatches { limit: MAX_MATCHES };
    source_refused(&[&facts, &facts, "check if f($a), f($b)"], CHECK(2, 0), refusal.clone());
    source_refused(&[&facts, "r($a, $b) <- f($a), f($b); check if r($a, $b), f($c)"], CHECK(1, 0), refusal);
}

#[test]
fn c3_all_queries_together_take_at_most_a_million_steps() {
    let facts = repeat(64, |at| format!("f({at});"));
    let check = format!("check if f($a), f($b){}", repeat(30, |_| " or f($a), f($b)".to_owned()));
    admitted(&[&facts, &check]);
    let token = mint(&[&facts, &format!("{check};{check};{check};{check}")]);
    let Err(BiscuitFault::Structure { place, defect }) = check_structure(&token) else {
        panic!("too much work")
    };
    assert_eq!((place.block(), defect), (Some(1), Defect::TooMuchWork { limit: MAX_STEPS }));
}
