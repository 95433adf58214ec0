//! A block's statements, read from its signed bytes with every word resolved and every count bounded.

use super::{
    defect::Defect,
    fault::{BiscuitFault, Place},
    symbols::Symbols,
    wire::{Field, Fields},
};
use crate::limits::{
    MAX_CHECKS, MAX_EXPRESSIONS, MAX_FACTS, MAX_OPERATIONS, MAX_PREDICATES, MAX_QUERIES, MAX_RULES, MAX_TERMS,
};

mod expression;
mod term;

pub(super) use expression::{Binary, Expression, Operation};
pub(super) use term::{Term, Type};

/// The versions of Datalog that are read.
const VERSIONS: std::ops::RangeInclusive<u32> = 3..=6;

/// One block.
#[derive(Debug, Default)]
pub(super) struct Block<'a> {
    pub(super) facts: Vec<Predicate<'a>>,
    pub(super) rules: Vec<Rule<'a>>,
    pub(super) checks: Vec<Check<'a>>,
}

/// A name and its terms: a fact, the head of a rule, or what a query looks for.
#[derive(Debug)]
pub(super) struct Predicate<'a> {
    pub(super) name: &'a str,
    pub(super) terms: Vec<Term<'a>>,
}

/// A rule, or one alternative of a check (whose head means nothing).
#[derive(Debug)]
pub(super) struct Rule<'a> {
    pub(super) head: Predicate<'a>,
    pub(super) body: Vec<Predicate<'a>>,
    pub(super) expressions: Vec<Expression<'a>>,
}

/// A check.
#[derive(Debug)]
pub(super) struct Check<'a> {
    pub(super) kind: Kind,
    /// Whether the kind is written out, which version 3 does not have.
    kind_written: bool,
    pub(super) queries: Vec<Rule<'a>>,
}

/// What a check asks of its queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `check if`
    One,
    /// `check all`
    All,
    /// `reject if`
    Reject,
}

/// Reads the block that stands at `at`, and adds its words to the table.
pub(super) fn block<'a>(
    bytes: &'a [u8],
    at: usize,
    symbols: &mut Symbols<'a>,
) -> Result<Block<'a>, BiscuitFault> {
    let place = Place::Block(at);
    let mut block = Block::default();
    let mut version = None;
    let mut fields = Fields::of(bytes);
    while let Some(field) = fields.next().map_err(|defect| place.refuse(defect))? {
        match field.number {
            1 => field.text().and_then(|word| symbols.add(word)).map_err(|defect| place.refuse(defect))?,
            2 => context(field).map_err(|defect| place.refuse(defect))?,
            3 => version = Some(read_version(field).map_err(|defect| place.refuse(defect))?),
            4 => {
                let place = Place::Fact { block: at, fact: block.facts.len() };
                let fact =
                    fact(&field, symbols).and_then(|fact| push(&mut block.facts, fact, MAX_FACTS, "facts"));
                fact.map_err(|defect| place.refuse(defect))?;
            }
            5 => {
                let place = Place::Rule { block: at, rule: block.rules.len() };
                let rule = field.message().and_then(|fields| rule(fields, symbols));
                let rule = rule.and_then(|rule| push(&mut block.rules, rule, MAX_RULES, "rules"));
                rule.map_err(|defect| place.refuse(defect))?;
            }
            6 => {
                let place = Place::Check { block: at, check: block.checks.len() };
                let check = check(&field, symbols);
                let check = check.and_then(|check| push(&mut block.checks, check, MAX_CHECKS, "checks"));
                check.map_err(|defect| place.refuse(defect))?;
            }
            7 => return Err(place.refuse(Defect::Trusting)),
            8 => return Err(place.refuse(Defect::PublicKeys)),
            _ => return Err(place.refuse(field.unknown())),
        }
    }
    let declared = version.ok_or_else(|| place.refuse(Defect::Version { found: 0 }))?;
    newer_than(&block, at, declared)?;
    Ok(block)
}

fn context(field: Field<'_>) -> Result<(), Defect> {
    Symbols::check_text(field.single()?.text()?)
}

fn read_version(field: Field<'_>) -> Result<u32, Defect> {
    let found = field.single()?.u32()?;
    if VERSIONS.contains(&found) { Ok(found) } else { Err(Defect::Version { found }) }
}

/// The check that the crate makes only when it builds an authorizer: a block uses nothing newer than it declares.
fn newer_than(block: &Block<'_>, at: usize, declared: u32) -> Result<(), BiscuitFault> {
    let judge = |place: Place, needed: u32| {
        if needed > declared {
            Err(place.refuse(Defect::NewerThanVersion { needed, declared }))
        } else {
            Ok(())
        }
    };
    for (rule, statement) in block.rules.iter().enumerate() {
        judge(Place::Rule { block: at, rule }, statement.version())?;
    }
    for (check, statement) in block.checks.iter().enumerate() {
        judge(Place::Check { block: at, check }, statement.version())?;
    }
    Ok(())
}

/// Appends within a bound.
fn push<T>(list: &mut Vec<T>, item: T, limit: usize, what: &'static str) -> Result<(), Defect> {
    if list.len() >= limit {
        return Err(Defect::TooMany { what, limit });
    }
    list.push(item);
    Ok(())
}

fn fact<'a>(field: &Field<'a>, symbols: &Symbols<'a>) -> Result<Predicate<'a>, Defect> {
    let mut fields = field.message()?;
    let mut found = None;
    while let Some(field) = fields.next()? {
        match field.number {
            1 => found = Some(predicate(field.single()?.message()?, symbols)?),
            _ => return Err(field.unknown()),
        }
    }
    let fact = found.ok_or(Defect::Missing { what: "a fact's predicate" })?;
    if fact.variables().next().is_some() { Err(Defect::VariableInFact) } else { Ok(fact) }
}

fn predicate<'a>(mut fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Predicate<'a>, Defect> {
    let (mut name, mut terms) = (None, Vec::new());
    while let Some(field) = fields.next()? {
        match field.number {
            1 => name = Some(symbols.word(field.single()?.u64()?)?),
            2 => push(&mut terms, term::read(field.message()?, symbols)?, MAX_TERMS, "terms of a predicate")?,
            _ => return Err(field.unknown()),
        }
    }
    Ok(Predicate { name: name.ok_or(Defect::Missing { what: "a predicate's name" })?, terms })
}

fn rule<'a>(mut fields: Fields<'a>, symbols: &Symbols<'a>) -> Result<Rule<'a>, Defect> {
    let (mut head, mut body, mut expressions) = (None, Vec::new(), Vec::new());
    while let Some(field) = fields.next()? {
        match field.number {
            1 => head = Some(predicate(field.single()?.message()?, symbols)?),
            2 => push(
                &mut body,
                predicate(field.message()?, symbols)?,
                MAX_PREDICATES,
                "predicates of a query",
            )?,
            3 => {
                let expression = expression::read(field.message()?, symbols)?;
                push(&mut expressions, expression, MAX_EXPRESSIONS, "expressions of a query")?;
            }
            4 => return Err(Defect::Trusting),
            _ => return Err(field.unknown()),
        }
    }
    if body.is_empty() && expressions.is_empty() {
        return Err(Defect::EmptyQuery);
    }
    Ok(Rule { head: head.ok_or(Defect::Missing { what: "a rule's head" })?, body, expressions })
}

fn check<'a>(field: &Field<'a>, symbols: &Symbols<'a>) -> Result<Check<'a>, Defect> {
    let mut fields = field.message()?;
    let (mut queries, mut kind, mut kind_written) = (Vec::new(), Kind::One, false);
    while let Some(field) = fields.next()? {
        match field.number {
            1 => push(&mut queries, rule(field.message()?, symbols)?, MAX_QUERIES, "queries of a check")?,
            2 => {
                kind_written = true;
                kind = match field.single()?.u64()? {
                    0 => Kind::One,
                    1 => Kind::All,
                    2 => Kind::Reject,
                    value => return Err(Defect::UnknownValue { what: "a check's kind", value }),
                }
            }
            _ => return Err(field.unknown()),
        }
    }
    if queries.is_empty() { Err(Defect::EmptyCheck) } else { Ok(Check { kind, kind_written, queries }) }
}

impl<'a> Predicate<'a> {
    /// The variables among its terms.
    pub(super) fn variables(&self) -> impl Iterator<Item = u32> + use<'_, 'a> {
        self.terms.iter().filter_map(|term| match term {
            Term::Variable(variable) => Some(*variable),
            _ => None,
        })
    }
}

impl Rule<'_> {
    /// Whether its body binds this variable.
    pub(super) fn binds(&self, variable: u32) -> bool {
        self.body.iter().any(|predicate| predicate.variables().any(|bound| bound == variable))
    }

    /// The lowest version that has everything it uses.
    fn version(&self) -> u32 {
        self.expressions.iter().map(Expression::version).max().unwrap_or(3)
    }
}

impl Check<'_> {
    fn version(&self) -> u32 {
        let kind = match self.kind {
            Kind::One if !self.kind_written => 3,
            Kind::One | Kind::All => 4,
            Kind::Reject => 6,
        };
        self.queries.iter().map(Rule::version).fold(kind, u32::max)
    }
}

/// Reads operations into a list of at most the bound.
fn push_operation<'a>(list: &mut Vec<Operation<'a>>, operation: Operation<'a>) -> Result<(), Defect> {
    push(list, operation, MAX_OPERATIONS, "operations of an expression")
}
