//! How much work the engine may have with a token. It looks at its clock between joins only, so the work is bounded
//! here, from the structure: the engine walks over all facts for every combination found so far.

use std::collections::BTreeMap;

use super::{BiscuitFault, Block, Defect, Place, Predicate, Rule, facts, queries, rules};
use crate::{
    format::biscuit::syntax::{Expression, Term},
    limits::{MAX_MATCHES, MAX_STATED_ARGUMENTS, MAX_STEPS},
};

/// What a verifier states beside the arguments: tool, project, time.
const STATED_ONCE: usize = 3;

/// How many facts of a name there may be: stated by the token, or made by its rules.
struct Counts<'a> {
    by_name: BTreeMap<&'a str, usize>,
    all: usize,
}

pub(super) fn check(blocks: &[Block<'_>]) -> Result<(), BiscuitFault> {
    let counts = Counts::of(blocks)?;
    // Rules run again until nothing new comes: at most once for each of them and once more.
    let rounds = rules(blocks).count() + 1;
    let mut steps: usize = 0;
    for (place, query) in queries(blocks) {
        let repeated = if matches!(place, Place::Rule { .. }) { rounds } else { 1 };
        let cost = counts.cost(query).map_err(|defect| place.refuse(defect))?;
        steps = steps.saturating_add(cost.saturating_mul(repeated));
        if steps > MAX_STEPS {
            return Err(place.refuse(Defect::TooMuchWork { limit: MAX_STEPS }));
        }
    }
    Ok(())
}

impl<'a> Counts<'a> {
    fn of(blocks: &[Block<'a>]) -> Result<Counts<'a>, BiscuitFault> {
        let mut by_name: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, _, fact) in facts(blocks) {
            *by_name.entry(fact.name).or_default() += 1;
        }
        let mut counts = Counts { by_name, all: STATED_ONCE + MAX_STATED_ARGUMENTS };
        counts.add_rules(blocks)?;
        counts.all = counts.by_name.values().fold(counts.all, |sum, count| sum.saturating_add(*count));
        Ok(counts)
    }

    /// A rule counts as soon as everything it looks for is counted; one that never does depends on itself.
    fn add_rules(&mut self, blocks: &[Block<'a>]) -> Result<(), BiscuitFault> {
        let mut waiting: Vec<(Place, &Rule<'a>)> =
            rules(blocks).map(|(block, rule, statement)| (Place::Rule { block, rule }, statement)).collect();
        while let Some((place, _)) = waiting.first() {
            let stuck = place.refuse(Defect::RecursiveRule);
            let heads: Vec<&str> = waiting.iter().map(|(_, rule)| rule.head.name).collect();
            let (ready, rest): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|(_, rule)| rule.body.iter().all(|wanted| !heads.contains(&wanted.name)));
            if ready.is_empty() {
                return Err(stuck);
            }
            for (place, rule) in ready {
                let made = self.matches(rule).map_err(|defect| place.refuse(defect))?;
                self.by_name.insert(rule.head.name, made);
            }
            waiting = rest;
        }
        Ok(())
    }

    /// How many facts a predicate may match.
    fn of_predicate(&self, wanted: &Predicate<'_>) -> usize {
        match wanted.name {
            "tool" | "project" | "time" => 1,
            "arg" => match wanted.terms.first() {
                Some(Term::Variable(_)) => MAX_STATED_ARGUMENTS,
                _ => 1,
            },
            name => self.by_name.get(name).copied().unwrap_or(0),
        }
    }

    /// How many combinations of facts a query may match.
    fn matches(&self, query: &Rule<'_>) -> Result<usize, Defect> {
        let ways =
            query.body.iter().fold(1, |ways: usize, wanted| ways.saturating_mul(self.of_predicate(wanted)));
        if ways > MAX_MATCHES { Err(Defect::TooManyMatches { limit: MAX_MATCHES }) } else { Ok(ways) }
    }

    /// The steps of one query: a walk over all facts for each partial combination, then its expressions.
    fn cost(&self, query: &Rule<'_>) -> Result<usize, Defect> {
        let ways = self.matches(query)?;
        if ways > 1 && query.expressions.iter().any(Expression::is_lazy) {
            return Err(Defect::LazyOverMany);
        }
        let (mut steps, mut partial) = (0_usize, 1_usize);
        for wanted in &query.body {
            steps = steps.saturating_add(partial.saturating_mul(self.all));
            partial = partial.saturating_mul(self.of_predicate(wanted));
        }
        let weight = query
            .expressions
            .iter()
            .fold(1, |sum: usize, expression| sum.saturating_add(expression.weight()));
        Ok(steps.saturating_add(ways.saturating_mul(weight)))
    }
}
