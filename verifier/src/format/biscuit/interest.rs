//! What a token's checks look at of a call: which arguments it limits, and which failures are certain while some of the call
//! is not known.

use std::collections::BTreeSet;

use pact_mandate::Action;

use super::{
    engine::Doubt,
    syntax::{Block, Check, Kind, Rule, Term},
};
use crate::policy::{Open, PROJECT};

/// What the statements of a token look at.
#[derive(Debug, Default)]
pub(super) struct Interest {
    /// For each check of each block.
    checks: Vec<Vec<Looks>>,
    /// The actions of the rights that the token states.
    granted: BTreeSet<Box<str>>,
    /// Its rules make further ones.
    makes_rights: bool,
    limit_keys: BTreeSet<Box<str>>,
}

/// What one check looks at.
#[derive(Debug)]
struct Looks {
    /// More facts can only make it fail.
    fails_for_good: bool,
    /// For each alternative.
    alternatives: Vec<Mentions>,
}

/// What one query looks at.
#[derive(Debug, Default)]
struct Mentions {
    /// Actions that it wants; with two of them it never passes.
    tools: BTreeSet<Box<str>>,
    /// Project and arguments, by name.
    names: BTreeSet<Box<str>>,
    /// It may look at any of them.
    any: bool,
}

impl Interest {
    pub(super) fn of(blocks: &[Block<'_>]) -> Interest {
        let made: BTreeSet<&str> =
            blocks.iter().flat_map(|block| &block.rules).map(|rule| rule.head.name).collect();
        let looks = |block: &Block<'_>| block.checks.iter().map(|check| Looks::of(check, &made)).collect();
        let facts = blocks.iter().flat_map(|block| &block.facts);
        let granted = facts.filter_map(|fact| match (fact.name, fact.terms.as_slice()) {
            ("right", [_, Term::Text(action)]) => Some((*action).into()),
            _ => None,
        });
        Interest {
            checks: blocks.iter().map(looks).collect(),
            granted: granted.collect(),
            makes_rights: made.contains("right"),
            limit_keys: limit_keys(blocks),
        }
    }

    /// The arguments without which no call passes.
    pub(super) fn limit_keys(&self) -> impl Iterator<Item = &str> {
        self.limit_keys.iter().map(AsRef::as_ref)
    }

    /// Whether the doubt would stand against every call of this action that is known so far.
    pub(super) fn is_certain(&self, doubt: Doubt, action: &Action, open: &Open) -> bool {
        if open.is_nothing() {
            return true;
        }
        match doubt {
            Doubt::Check { block, check } => {
                let looks = self.checks.get(block).and_then(|checks| checks.get(check));
                looks.is_none_or(|looks| looks.fail_for(action, open))
            }
            Doubt::Grant => {
                !self.makes_rights && (!open.has(PROJECT) || !self.granted.contains(action.as_str()))
            }
            // What is not known yet may be of another type, or decide before the statement is asked.
            Doubt::Evaluation => false,
        }
    }
}

impl Looks {
    fn of(check: &Check<'_>, made: &BTreeSet<&str>) -> Looks {
        let alternatives = check.queries.iter().map(|query| Mentions::of(query, made)).collect();
        Looks { fails_for_good: check.kind == Kind::Reject, alternatives }
    }

    /// Whether none of its alternatives, all of which failed, can pass when more is known.
    fn fail_for(&self, action: &Action, open: &Open) -> bool {
        self.fails_for_good || self.alternatives.iter().all(|mentions| mentions.fail_for(action, open))
    }
}

impl Mentions {
    fn of(query: &Rule<'_>, made: &BTreeSet<&str>) -> Mentions {
        let mut mentions = Mentions::default();
        for predicate in &query.body {
            match (predicate.name, predicate.terms.first()) {
                ("tool", Some(Term::Text(action))) => {
                    mentions.tools.insert((*action).into());
                }
                ("project", _) => {
                    mentions.names.insert(PROJECT.into());
                }
                ("arg", Some(Term::Text(name))) => {
                    mentions.names.insert((*name).into());
                }
                ("arg", _) => mentions.any = true,
                // Whatever the rule looks at.
                (name, _) => mentions.any |= made.contains(name),
            }
        }
        mentions
    }

    fn fail_for(&self, action: &Action, open: &Open) -> bool {
        self.tools.iter().any(|tool| **tool != *action.as_str())
            || !self.any && !self.names.iter().any(|name| open.has(name))
    }
}

/// An argument that every alternative of some check names; and, since a limit that nothing is said of would not bind,
/// one that a rule or a `reject if` names.
fn limit_keys(blocks: &[Block<'_>]) -> BTreeSet<Box<str>> {
    let mut keys = BTreeSet::new();
    for block in blocks {
        block.rules.iter().for_each(|rule| keys.extend(named(rule)));
        for check in &block.checks {
            if check.kind == Kind::Reject {
                check.queries.iter().for_each(|query| keys.extend(named(query)));
                continue;
            }
            let common = check.queries.iter().map(|query| named(query).collect::<BTreeSet<_>>());
            keys.extend(common.reduce(|common, other| &common & &other).unwrap_or_default());
        }
    }
    keys
}

/// The arguments that a query names.
fn named(query: &Rule<'_>) -> impl Iterator<Item = Box<str>> {
    query.body.iter().filter_map(|predicate| match (predicate.name, predicate.terms.first()) {
        ("arg", Some(Term::Text(name))) => Some((*name).into()),
        _ => None,
    })
}
