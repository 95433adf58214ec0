//! Statements that are none.

use super::*;

#[test]
fn c3_a_fact_has_no_variable() {
    let token = changed(&["f(1); check if g($x)"], 0, |block| {
        block.facts[0].predicate.terms = block.checks[0].queries[0].body[0].terms.clone();
    });
    refused(&token, FACT(0, 0), Defect::VariableInFact);
}

#[test]
fn c3_checks_queries_and_expressions_are_not_empty() {
    let token = changed(&["check if f(1)"], 0, |block| block.checks[0].queries.clear());
    refused(&token, CHECK(0, 0), Defect::EmptyCheck);
    let token = changed(&["check if f(1)"], 0, |block| block.checks[0].queries[0].body.clear());
    refused(&token, CHECK(0, 0), Defect::EmptyQuery);
    refused(&with_operations(vec![]), CHECK(0, 0), Defect::Expression);
}

#[test]
fn c3_an_expression_leaves_one_value() {
    let yes = || value(term::Content::Bool(true));
    refused(&with_operations(vec![yes(), yes()]), CHECK(0, 0), Defect::Expression);
    refused(&with_operations(vec![yes(), binary(13)]), CHECK(0, 0), Defect::Expression);
    let closure = |params: Vec<u32>| schema::Op {
        content: Some(op::Content::Closure(schema::OpClosure { params, ops: vec![yes()] })),
    };
    refused(&with_operations(vec![closure(vec![])]), CHECK(0, 0), Defect::Expression);
    refused(&with_operations(vec![yes(), closure(vec![0]), binary(23)]), CHECK(0, 0), Defect::Expression);
    refused(&with_operations(vec![closure(vec![]), yes(), binary(23)]), CHECK(0, 0), Defect::Expression);
    assert_eq!(check_structure(&with_operations(vec![yes(), closure(vec![]), binary(23)])), Ok(()));
    let two = with_operations(vec![yes(), closure(vec![0, 1]), binary(25)]);
    refused(&two, CHECK(0, 0), too_many("parameters of a closure", 1));
}

#[test]
fn c3_every_variable_is_bound_by_a_predicate() {
    let token = changed(&["check if f($x), 1 < 2", "check if g($y)"], 0, |block| {
        let ops = &mut block.checks[0].queries[0].expressions[0].ops;
        // `time`, a word of every token, as the name of a variable.
        ops[0] = value(term::Content::Variable(5));
    });
    refused(&token, CHECK(0, 0), Defect::UnboundVariable);
    let token = changed(&["r(1) <- f($x)"], 0, |block| {
        block.rules[0].head.terms[0].content = Some(term::Content::Variable(5));
    });
    refused(&token, RULE(0, 0), Defect::UnboundVariable);
}

#[test]
fn c3_kinds_of_terms() {
    source_refused(&["f(null)"], FACT(0, 0), Defect::Term { kind: "null" });
    source_refused(&[r#"f({"a": 1})"#], FACT(0, 0), Defect::Term { kind: "map" });
    source_refused(&["f([[1]])"], FACT(0, 0), Defect::Term { kind: "nested array" });
    source_refused(&["f([{1}])"], FACT(0, 0), Defect::Term { kind: "nested set" });
    admitted(&[r#"f(1, "a", true, hex:00, 2027-01-01T00:00:00Z, {1, 2}, [1, "a"])"#]);
    let set = |second: term::Content| {
        changed(&["f({1, 2})"], 0, |block| {
            let Some(term::Content::Set(set)) = &mut block.facts[0].predicate.terms[0].content else {
                panic!()
            };
            set.set[1].content = Some(second);
        })
    };
    refused(&set(term::Content::Integer(1)), FACT(0, 0), Defect::Set);
    refused(&set(term::Content::Bool(true)), FACT(0, 0), Defect::Set);
    refused(&set(term::Content::Variable(5)), FACT(0, 0), Defect::Term { kind: "variable" });
    let late = changed(&["f(1)"], 0, |block| {
        block.facts[0].predicate.terms[0].content = Some(term::Content::Date(253_402_300_800));
    });
    refused(&late, FACT(0, 0), Defect::Date);
    let none = changed(&["f(1)"], 0, |block| block.facts[0].predicate.terms[0].content = None);
    refused(&none, FACT(0, 0), Defect::Missing { what: "a term's content" });
    let kind = changed(&["check all f(1)"], 0, |block| block.checks[0].kind = Some(3));
    refused(&kind, CHECK(0, 0), Defect::UnknownValue { what: "a check's kind", value: 3 });
}
