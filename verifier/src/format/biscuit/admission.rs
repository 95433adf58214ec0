//! Admission: what a token may contain at all, judged on its structure before any signature and any evaluation.
//!
//! Three things are refused: what would cost unbounded work; what would let the token speak for the request or the
//! issuer; and what could pass or fail by chance.

use std::collections::BTreeMap;

use super::{
    defect::Defect,
    envelope::{self, Envelope},
    fault::{BiscuitFault, Place},
    interest::Interest,
    symbols::Symbols,
    syntax::{self, Block, Predicate, Rule, Type},
    words::{REQUEST, STATED, Words},
};

mod cost;
mod query;

/// A token whose structure is admitted. Nothing of it is believed yet.
#[derive(Debug)]
pub(super) struct Admitted<'a> {
    /// Its outside.
    pub(super) envelope: Envelope<'a>,
    /// What its facts say.
    pub(super) words: Words,
    /// Whether some statement may compare an argument other than from above.
    pub(super) bounds_below: bool,
    /// What its checks look at.
    pub(super) interest: Interest,
}

/// Judges a token's bytes.
pub(super) fn admit(token: &[u8]) -> Result<Admitted<'_>, BiscuitFault> {
    let envelope = envelope::read(token)?;
    let mut symbols = Symbols::default();
    let blocks = envelope.links.iter().enumerate();
    let blocks = blocks.map(|(at, link)| syntax::block(link.block, at, &mut symbols));
    let blocks = blocks.collect::<Result<Vec<_>, _>>()?;
    check_facts(&blocks)?;
    check_rules(&blocks)?;
    let bounds_below = query::check(&blocks)?;
    cost::check(&blocks)?;
    let words = Words::of(&blocks)?;
    let interest = Interest::of(&blocks);
    Ok(Admitted { envelope, words, bounds_below, interest })
}

/// No request-side facts; and facts of one name and length have terms of the same types.
fn check_facts(blocks: &[Block<'_>]) -> Result<(), BiscuitFault> {
    let mut types: BTreeMap<(&str, usize), &Predicate<'_>> = BTreeMap::new();
    for (block, fact, predicate) in facts(blocks) {
        let place = Place::Fact { block, fact };
        if let Some(name) = among(&REQUEST, predicate.name) {
            return Err(place.refuse(Defect::RequestFact { name }));
        }
        let first = types.entry((predicate.name, predicate.terms.len())).or_insert(predicate);
        if !types_of(first).eq(types_of(predicate)) {
            return Err(place.refuse(Defect::MixedTypes));
        }
    }
    Ok(())
}

/// A rule makes facts that nothing else states or makes, so that they too have one type each.
fn check_rules(blocks: &[Block<'_>]) -> Result<(), BiscuitFault> {
    for (block, rule, statement) in rules(blocks) {
        let place = Place::Rule { block, rule };
        let name = statement.head.name;
        if let Some(name) = among(&REQUEST, name).or_else(|| among(&STATED, name)) {
            return Err(place.refuse(Defect::ReservedRule { name }));
        }
        let stated = facts(blocks).any(|(_, _, fact)| fact.name == name);
        let made = rules(blocks).filter(|(_, _, other)| other.head.name == name).count();
        if stated || made > 1 {
            return Err(place.refuse(Defect::AmbiguousRule));
        }
        if statement.head.variables().any(|variable| !statement.binds(variable)) {
            return Err(place.refuse(Defect::UnboundVariable));
        }
    }
    Ok(())
}

/// Every fact with its place.
fn facts<'b, 'a>(blocks: &'b [Block<'a>]) -> impl Iterator<Item = (usize, usize, &'b Predicate<'a>)> {
    let blocks = blocks.iter().enumerate();
    blocks.flat_map(|(at, block)| {
        block.facts.iter().enumerate().map(move |(fact, predicate)| (at, fact, predicate))
    })
}

/// Every rule with its place.
fn rules<'b, 'a>(blocks: &'b [Block<'a>]) -> impl Iterator<Item = (usize, usize, &'b Rule<'a>)> {
    let blocks = blocks.iter().enumerate();
    blocks.flat_map(|(at, block)| {
        block.rules.iter().enumerate().map(move |(rule, statement)| (at, rule, statement))
    })
}

/// Every rule and every query of a check, each with its place.
fn queries<'b, 'a>(blocks: &'b [Block<'a>]) -> impl Iterator<Item = (Place, &'b Rule<'a>)> {
    let rules = rules(blocks).map(|(block, rule, statement)| (Place::Rule { block, rule }, statement));
    let checks = blocks.iter().enumerate().flat_map(|(block, content)| {
        content.checks.iter().enumerate().flat_map(move |(check, statement)| {
            statement.queries.iter().map(move |query| (Place::Check { block, check }, query))
        })
    });
    rules.chain(checks)
}

fn types_of(fact: &Predicate<'_>) -> impl Iterator<Item = Type> {
    fact.terms.iter().map(syntax::Term::type_of)
}

fn among(names: &[&'static str], name: &str) -> Option<&'static str> {
    names.iter().copied().find(|candidate| *candidate == name)
}
