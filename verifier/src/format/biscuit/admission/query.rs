//! What one query may do with its variables.

use super::{BiscuitFault, Block, Defect, queries};
use crate::format::biscuit::{
    fault::Place,
    syntax::{Binary, Expression, Kind, Operation, Predicate, Rule, Term},
};

/// Refuses unbound variables and values of unnamed arguments. Answers whether some statement may compare the value of
/// an argument other than from above.
pub(super) fn check(blocks: &[Block<'_>]) -> Result<bool, BiscuitFault> {
    for (place, query) in queries(blocks) {
        judge(query).map_err(|defect| place.refuse(defect))?;
    }
    let checks = blocks.iter().flat_map(|block| &block.checks);
    let below_in_checks = checks.into_iter().any(|check| {
        check
            .queries
            .iter()
            .any(|query| if check.kind == Kind::Reject { reads_argument(query) } else { bounds_below(query) })
    });
    Ok(below_in_checks
        || queries(blocks).any(|(place, rule)| matches!(place, Place::Rule { .. }) && reads_argument(rule)))
}

fn judge(query: &Rule<'_>) -> Result<(), Defect> {
    let mut unbound = false;
    for expression in &query.expressions {
        expression.free_variables(&mut Vec::new(), &mut |variable| unbound |= !query.binds(variable));
    }
    if unbound {
        return Err(Defect::UnboundVariable);
    }
    let open = arguments(query).any(|(name, value)| match (name, value) {
        (Term::Variable(_), Term::Variable(value)) => uses(query, *value) > 1,
        _ => false,
    });
    if open { Err(Defect::OpenArgument) } else { Ok(()) }
}

/// The name and value of each `arg` that the query looks for.
fn arguments<'b, 'a>(query: &'b Rule<'a>) -> impl Iterator<Item = (&'b Term<'a>, &'b Term<'a>)> {
    query.body.iter().filter_map(|predicate| match predicate.terms.as_slice() {
        [name, value] if predicate.name == "arg" => Some((name, value)),
        _ => None,
    })
}

/// How often the variable stands in the query.
fn uses(query: &Rule<'_>, variable: u32) -> usize {
    let mut count = 0;
    let predicates = query.body.iter().chain([&query.head]);
    count += predicates.flat_map(Predicate::variables).filter(|used| *used == variable).count();
    for expression in &query.expressions {
        expression.free_variables(&mut Vec::new(), &mut |used| count += usize::from(used == variable));
    }
    count
}

/// Whether the value of some argument matters at all.
fn reads_argument(query: &Rule<'_>) -> bool {
    arguments(query).any(|(_, value)| match value {
        Term::Variable(value) => uses(query, *value) > 1,
        _ => true,
    })
}

/// Whether the value of some argument is used other than in `$v <= N` or `$v < N`. Such a value may not be rounded up.
fn bounds_below(query: &Rule<'_>) -> bool {
    arguments(query).any(|(_, value)| match value {
        Term::Variable(value) => {
            let above =
                query.expressions.iter().filter(|expression| is_upper_bound(expression, *value)).count();
            uses(query, *value) > above + 1
        }
        _ => true,
    })
}

fn is_upper_bound(expression: &Expression<'_>, value: u32) -> bool {
    match expression.operations.as_slice() {
        [Operation::Value(left), Operation::Value(right), Operation::Binary(binary)] => {
            match (left, binary, right) {
                (Term::Variable(variable), Binary::Less | Binary::LessOrEqual, Term::Integer(_))
                | (Term::Integer(_), Binary::Greater | Binary::GreaterOrEqual, Term::Variable(variable)) => {
                    *variable == value
                }
                _ => false,
            }
        }
        _ => false,
    }
}
