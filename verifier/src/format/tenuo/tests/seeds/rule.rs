//! How constraints grow, narrow, and are written.

use pact_mandate::cbor::Writer;

use super::{Dice, Rule, Thing};
use crate::format::tenuo::tests::forge::{array, cbor, constraint, map, text, texts};

const PATTERNS: [&str; 14] = [
    "*", "a*", "ab*", "*b", "*bc", "a*c", "a?", "[ab]", "[ab]*", "*[bc]", "/data/*", "/data/a*", "a",
    "/data/**",
];
const NETWORKS: [&str; 5] = ["10.0.0.0/8", "10.1.0.0/16", "10.1.2.3/32", "0.0.0.0/0", "::/0"];
const ROOTS: [&str; 5] = ["/", "/data", "/data/a", "/etc", "/data/a/b"];
const SETS: [(u64, &str); 4] = [(4, "values"), (7, "excluded"), (10, "required"), (11, "allowed")];
const OPAQUE: [(u64, &str); 7] =
    [(5, "regex"), (9, "url"), (15, "cel"), (18, "safe"), (128, "shlex"), (200, "unknown"), (2, "recursive")];

impl Rule {
    pub(in crate::format::tenuo) fn grow(dice: &mut Dice, depth: usize) -> Rule {
        match dice.roll(if depth == 0 { 18 } else { 24 }) {
            0 | 1 => Rule::Wildcard,
            2 | 3 => Rule::Exact(Thing::grow(dice)),
            4..=6 => Rule::Pattern(dice.pick(&PATTERNS)),
            7..=9 => Rule::Range {
                min: dice.percent(50).then(|| dice.pick(&[-3.0, 0.0, 0.5, 1.0])),
                max: dice.percent(70).then(|| dice.pick(&[1.0, 2.5, 5.0, 10.0])),
                inclusive: (dice.percent(80), dice.percent(80)),
            },
            10..=13 => {
                let (id, name) = dice.pick(&SETS);
                Rule::Set { id, name, items: dice.some(4, Thing::grow) }
            }
            14 => Rule::Cidr(dice.pick(&NETWORKS)),
            15 | 16 => {
                let case_sensitive = dice.percent(80);
                Rule::Subpath { root: dice.pick(&ROOTS), case_sensitive, allow_equal: dice.percent(80) }
            }
            17 => {
                let (id, name) = dice.pick(&OPAQUE);
                Rule::Opaque(id, name)
            }
            18 | 19 => Rule::List { id: 12, items: Rule::some(dice, depth) },
            20 | 21 => Rule::List { id: 13, items: Rule::some(dice, depth) },
            _ => Rule::Not(Box::new(Rule::grow(dice, depth - 1))),
        }
    }

    fn some(dice: &mut Dice, depth: usize) -> Vec<Rule> {
        let mut items = dice.some(2, |dice| Rule::grow(dice, depth - 1));
        items.push(Rule::grow(dice, depth - 1));
        items
    }

    /// Another that is often, not always, narrower.
    pub(in crate::format::tenuo) fn narrower(&self, dice: &mut Dice) -> Rule {
        if dice.percent(8) {
            return Rule::grow(dice, 1);
        }
        if dice.percent(35) {
            return self.clone();
        }
        match self {
            Rule::Wildcard => Rule::grow(dice, 2),
            Rule::Range { min, max, inclusive } => {
                if dice.percent(20) {
                    return Rule::Exact(self.witness(dice));
                }
                Rule::Range {
                    min: min.map(|min| min + dice.pick(&[0.0, 0.5])).or(dice.percent(30).then_some(0.0)),
                    max: max.map(|max| max - dice.pick(&[0.0, 0.5])).or(dice.percent(30).then_some(5.0)),
                    inclusive: (inclusive.0 && dice.percent(80), inclusive.1 || dice.percent(10)),
                }
            }
            Rule::Set { id, name, items } => {
                let mut items = items.clone();
                match id {
                    4 if dice.percent(30) => return Rule::Exact(self.witness(dice)),
                    4 | 11 if !items.is_empty() => drop(items.remove(dice.roll(items.len()))),
                    _ => items.push(Thing::grow(dice)),
                }
                Rule::Set { id: *id, name, items }
            }
            Rule::List { id: 12, items } if dice.percent(60) => {
                let mut items = items.clone();
                items.push(Rule::grow(dice, 0));
                Rule::List { id: 12, items }
            }
            Rule::List { id, items } if dice.percent(80) => {
                Rule::List { id: *id, items: items.iter().map(|item| item.narrower(dice)).collect() }
            }
            Rule::Not(inner) => match inner.as_ref() {
                Rule::Exact(thing) => Rule::Not(Box::new(Rule::Set {
                    id: 4,
                    name: "values",
                    items: vec![thing.clone(), Thing::grow(dice)],
                })),
                _ => Rule::Not(Box::new(inner.narrower(dice))),
            },
            Rule::Pattern(_) if dice.percent(60) => Rule::Pattern(dice.pick(&PATTERNS)),
            Rule::Cidr(_) if dice.percent(60) => Rule::Cidr(dice.pick(&NETWORKS)),
            Rule::Subpath { .. } if dice.percent(60) => {
                let case_sensitive = dice.percent(80);
                Rule::Subpath { root: dice.pick(&ROOTS), case_sensitive, allow_equal: dice.percent(80) }
            }
            _ => Rule::Exact(self.witness(dice)),
        }
    }

    /// A value that it often, not always, admits.
    pub(in crate::format::tenuo) fn witness(&self, dice: &mut Dice) -> Thing {
        if dice.percent(10) {
            return Thing::grow(dice);
        }
        match self {
            Rule::Exact(thing) => thing.clone(),
            Rule::Range { min, max, .. } => {
                let value = match (min, max) {
                    (Some(min), _) if dice.percent(50) => min + 0.5,
                    (_, Some(max)) => *max,
                    _ => 1.0,
                };
                if value.fract() == 0.0 {
                    Thing::Integer(format!("{value:.0}").parse().unwrap())
                } else {
                    Thing::Float(value)
                }
            }
            Rule::Set { id: 4, items, .. } if !items.is_empty() => dice.pick(items),
            Rule::Set { id: 10 | 11, items, .. } => Thing::List(items.clone()),
            Rule::Cidr(_) => Thing::Text(dice.pick(&["10.0.0.1", "10.1.2.3"])),
            Rule::Subpath { .. } => Thing::Text(dice.pick(&["/data/a", "/data/a/b", "/data"])),
            Rule::List { items, .. } if !items.is_empty() => dice.pick(items).witness(dice),
            Rule::Pattern(_) => Thing::Text(dice.pick(&["a", "ab", "abc", "/data/a"])),
            _ => Thing::grow(dice),
        }
    }

    pub(in crate::format::tenuo) fn cbor(&self) -> Vec<u8> {
        let truth = |value: bool| cbor(|w| w.bool(value));
        let bound = |bound: &Option<f64>| {
            bound.map_or_else(|| cbor(Writer::null), |bound| cbor(|w| w.float(bound).unwrap()))
        };
        match self {
            Rule::Wildcard => constraint(16, cbor(Writer::null)),
            Rule::Exact(thing) => constraint(1, map(&[("value", thing.cbor())])),
            Rule::Pattern(pattern) => constraint(2, map(&[("pattern", text(pattern))])),
            Rule::Range { min, max, inclusive } => constraint(
                3,
                map(&[
                    ("min", bound(min)),
                    ("max", bound(max)),
                    ("min_inclusive", truth(inclusive.0)),
                    ("max_inclusive", truth(inclusive.1)),
                ]),
            ),
            Rule::Set { id, name, items } => {
                constraint(*id, map(&[(name, array(&items.iter().map(Thing::cbor).collect::<Vec<_>>()))]))
            }
            Rule::Cidr(network) => constraint(8, text(network)),
            Rule::Subpath { root, case_sensitive, allow_equal } => constraint(
                17,
                map(&[
                    ("root", text(root)),
                    ("case_sensitive", truth(*case_sensitive)),
                    ("allow_equal", truth(*allow_equal)),
                ]),
            ),
            Rule::List { id, items } => constraint(
                *id,
                map(&[("constraints", array(&items.iter().map(Rule::cbor).collect::<Vec<_>>()))]),
            ),
            Rule::Not(inner) => constraint(14, map(&[("constraint", inner.cbor())])),
            Rule::Opaque(id, name) => constraint(*id, opaque(name)),
        }
    }
}

/// The content of a constraint that is not evaluated here.
fn opaque(name: &str) -> Vec<u8> {
    let null = || cbor(Writer::null);
    let truth = |value| cbor(|w| w.bool(value));
    match name {
        "regex" => map(&[("pattern", text("^a+$"))]),
        "recursive" => map(&[("pattern", text("/data/**"))]),
        "url" => text("https://api.example.com/*"),
        "cel" => map(&[("expression", text("true"))]),
        "shlex" => map(&[("allow", texts(&["ls"]))]),
        "safe" => map(&[
            ("schemes", texts(&["https"])),
            ("allow_domains", texts(&["*.example.com"])),
            ("deny_domains", null()),
            ("allow_ports", null()),
            ("block_private", truth(true)),
            ("block_loopback", truth(true)),
            ("block_metadata", truth(true)),
            ("block_reserved", truth(true)),
            ("block_internal_tlds", truth(false)),
        ]),
        _ => text("of tomorrow"),
    }
}
