//! What the verifier states about a call: one fact of one type per dimension.
//!
//! `tool(action)`, `project(slug)`, `time(now)`, and `arg(name, value)` for each other judged argument: a number in
//! integer millionths, never rounded down, so that no limit is passed by a fraction; a text as it is; a boolean as the
//! text `true` or `false`. Negative numbers, numbers past the largest amount, null, arrays and objects are refused
//! rather than stated in a form that some check might read as something else.

use biscuit_auth::builder::{Fact, Term};
use pact_mandate::{
    Amount, Json, Judged, UnixTime,
    amount::{AmountError, Rounding},
};

use super::fault::BiscuitFault;
use crate::{
    limits::MAX_STATED_ARGUMENTS,
    policy::{Open, PROJECT},
};

/// The facts of a call. `bounds_below` says that the token may compare arguments other than from above: then a number
/// between two millionths, which rounding up would make larger, is refused as well.
///
/// What is `open` of the call is not stated.
pub(super) fn facts(
    call: &Judged,
    open: &Open,
    now: UnixTime,
    bounds_below: bool,
) -> Result<Vec<Fact>, BiscuitFault> {
    let project = call.project();
    if project.is_none() && !open.has(PROJECT) {
        return Err(BiscuitFault::NoProject);
    }
    if call.arguments.len() > MAX_STATED_ARGUMENTS {
        return Err(BiscuitFault::TooManyArguments { limit: MAX_STATED_ARGUMENTS });
    }
    let mut facts = Vec::with_capacity(call.arguments.len() + 2);
    facts.push(fact("tool", vec![text(call.action.as_str())]));
    facts.extend(project.map(|project| fact(PROJECT, vec![text(project.as_str())])));
    facts.push(fact("time", vec![Term::Date(now.seconds())]));
    for (name, value) in call.arguments.iter().filter(|(name, _)| name.as_str() != PROJECT) {
        facts.push(fact("arg", vec![text(name), term(name, value, bounds_below)?]));
    }
    Ok(facts)
}

fn fact(name: &str, terms: Vec<Term>) -> Fact {
    Fact::new(name.to_owned(), terms)
}

fn text(text: &str) -> Term {
    Term::Str(text.to_owned())
}

fn term(name: &str, value: &Json, bounds_below: bool) -> Result<Term, BiscuitFault> {
    match value {
        Json::Number(number) => {
            let amount = amount(name, number.text(), bounds_below)?;
            let millionths = i64::try_from(amount.millionths());
            let millionths = millionths.map_err(|_| not_an_amount(name, AmountError::TooLarge))?;
            Ok(Term::Integer(millionths))
        }
        Json::String(value) => Ok(text(value)),
        Json::Bool(true) => Ok(text("true")),
        Json::Bool(false) => Ok(text("false")),
        Json::Null | Json::Array(_) | Json::Object(_) => {
            Err(BiscuitFault::ArgumentNotScalar { argument: name.to_owned() })
        }
    }
}

fn amount(name: &str, number: &str, bounds_below: bool) -> Result<Amount, BiscuitFault> {
    let rounding = if bounds_below { Rounding::Exact } else { Rounding::Ceil };
    Amount::from_json_number(number, rounding).map_err(|fault| match fault {
        AmountError::TooFine => BiscuitFault::ArgumentTooFine { argument: name.to_owned() },
        fault => not_an_amount(name, fault),
    })
}

fn not_an_amount(name: &str, fault: AmountError) -> BiscuitFault {
    BiscuitFault::ArgumentNotAnAmount { argument: name.to_owned(), fault }
}
