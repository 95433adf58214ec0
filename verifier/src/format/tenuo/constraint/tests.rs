//! Narrowing is sound: what a child admits, its parent admits.

use std::cell::Cell;

use pact_mandate::cbor::Reader;
use proptest::{prelude::*, test_runner::TestRunner};

use super::Constraint;
use crate::format::tenuo::{
    effort::Effort,
    tests::seeds::{Dice, Rule, Thing},
    value::Value,
};

fn read(rule: &Rule) -> Constraint {
    let bytes = rule.cbor();
    let mut reader = Reader::new(&bytes);
    let constraint = Constraint::read(&mut reader).unwrap_or_else(|fault| panic!("{rule:?}: {fault}"));
    reader.finish().unwrap();
    constraint
}

fn value(thing: &Thing) -> Value {
    let bytes = thing.cbor();
    Value::read(&mut Reader::new(&bytes)).unwrap()
}

#[test]
fn c2_whatever_a_narrowed_constraint_admits_its_parent_admits() {
    let (narrowed, refused, admitted) = (Cell::new(0_u32), Cell::new(0_u32), Cell::new(0_u32));
    let mut runner = TestRunner::new(ProptestConfig { cases: 8192, ..ProptestConfig::default() });
    let law = runner.run(&any::<u64>(), |seed| {
        let mut dice = Dice::new(seed);
        let rule = Rule::grow(&mut dice, 2);
        let child_rule = rule.narrower(&mut dice);
        let (parent, child) = (read(&rule), read(&child_rule));
        if parent.narrows_to(&child, &mut Effort::full()) != Ok(true) {
            refused.set(refused.get() + 1);
            return Ok(());
        }
        narrowed.set(narrowed.get() + 1);
        for _ in 0..12 {
            let value = value(&child_rule.witness(&mut dice));
            if child.judge(&value, &mut Effort::full()) == Ok(true) {
                admitted.set(admitted.get() + 1);
                prop_assert!(parent.admits(&value), "{rule:?} narrowed to {child_rule:?} admits {value:?}");
            }
        }
        Ok(())
    });
    law.unwrap();
    let counts = [narrowed.get(), refused.get(), admitted.get()];
    assert!(counts.iter().all(|count| *count > 500), "narrowed, refused, admitted: {counts:?}");
}

#[test]
fn c2_a_constraint_narrows_to_itself_unless_nobody_knows_its_kind() {
    for seed in 0..2000 {
        let rule = Rule::grow(&mut Dice::new(seed), 2);
        let constraint = read(&rule);
        if format!("{rule:?}").contains("200") || format!("{rule:?}").contains("allow_equal: false") {
            continue;
        }
        assert_eq!(constraint.narrows_to(&constraint, &mut Effort::full()), Ok(true), "{rule:?}");
    }
}

#[test]
fn c2_what_is_not_evaluated_narrows_to_itself_alone() {
    let regex = Rule::Opaque(5, "regex");
    let narrows =
        |parent: &Rule, child: &Rule| read(parent).narrows_to(&read(child), &mut Effort::full()) == Ok(true);
    assert!(narrows(&regex, &regex));
    assert!(narrows(&Rule::Wildcard, &regex));
    assert!(!narrows(&regex, &Rule::Exact(Thing::Text("a"))));
    assert!(!narrows(&regex, &Rule::Wildcard));
    let unknown = Rule::Opaque(200, "unknown");
    assert!(!narrows(&unknown, &unknown), "nobody can say that two unknown constraints are the same");
    let all = |items: Vec<Rule>| Rule::List { id: 12, items };
    let parent = all(vec![regex.clone(), Rule::Wildcard]);
    assert!(narrows(&parent, &parent));
    assert!(!narrows(&parent, &all(vec![regex, Rule::Exact(Thing::Text("a"))])));
}
