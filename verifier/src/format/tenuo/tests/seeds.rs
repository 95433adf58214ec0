//! Constraints, values and chains grown from a seed, so that the properties meet every kind and both verdicts.

use std::fmt::Write;

use pact_mandate::cbor::Writer;

use super::forge::{array, cbor, map, text};

mod rule;

/// A stream of numbers that a seed decides.
pub(in crate::format::tenuo) struct Dice(u64);

/// A value of the small world in which the properties live.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::format::tenuo) enum Thing {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(&'static str),
    List(Vec<Thing>),
    Map(Vec<(&'static str, Thing)>),
}

/// A constraint of that world.
#[derive(Clone, Debug)]
pub(in crate::format::tenuo) enum Rule {
    Wildcard,
    Exact(Thing),
    Pattern(&'static str),
    Range {
        min: Option<f64>,
        max: Option<f64>,
        inclusive: (bool, bool),
    },
    Set {
        id: u64,
        name: &'static str,
        items: Vec<Thing>,
    },
    Cidr(&'static str),
    Subpath {
        root: &'static str,
        case_sensitive: bool,
        allow_equal: bool,
    },
    List {
        id: u64,
        items: Vec<Rule>,
    },
    Not(Box<Rule>),
    /// One that is not evaluated here, as it is written.
    Opaque(u64, &'static str),
}

const TEXTS: [&str; 14] = [
    "a",
    "ab",
    "abc",
    "b",
    "",
    "/data",
    "/data/a",
    "/data/a/b",
    "/etc",
    "/DATA/a",
    "10.0.0.1",
    "10.1.2.3",
    "11.0.0.1",
    "https://api.example.com/x",
];
const INTEGERS: [i64; 7] = [0, 1, 5, 10, -3, 9_007_199_254_740_993, i64::MAX];
const FLOATS: [f64; 4] = [0.5, 2.5, 0.1, 7.25];

impl Dice {
    pub(in crate::format::tenuo) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Below `sides`.
    pub(in crate::format::tenuo) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(sides).unwrap()).unwrap()
    }

    /// In so many of a hundred cases.
    pub(in crate::format::tenuo) fn percent(&mut self, percent: usize) -> bool {
        self.roll(100) < percent
    }

    pub(in crate::format::tenuo) fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len())].clone()
    }

    fn some<T>(&mut self, most: usize, mut one: impl FnMut(&mut Dice) -> T) -> Vec<T> {
        (0..self.roll(most + 1)).map(|_| one(self)).collect()
    }
}

impl Thing {
    pub(in crate::format::tenuo) fn grow(dice: &mut Dice) -> Thing {
        match dice.roll(12) {
            0 => Thing::Null,
            1 => Thing::Bool(dice.percent(50)),
            2 | 3 => Thing::Integer(dice.pick(&INTEGERS)),
            4 => Thing::Float(dice.pick(&FLOATS)),
            5 | 6 => Thing::List(dice.some(3, |dice| Thing::Text(dice.pick(&TEXTS)))),
            7 => Thing::Map(vec![("k", Thing::Integer(dice.pick(&INTEGERS)))]),
            _ => Thing::Text(dice.pick(&TEXTS)),
        }
    }

    pub(in crate::format::tenuo) fn cbor(&self) -> Vec<u8> {
        match self {
            Thing::Null => cbor(Writer::null),
            Thing::Bool(truth) => cbor(|w| w.bool(*truth)),
            Thing::Integer(integer) => cbor(|w| w.integer(*integer)),
            Thing::Float(float) => cbor(|w| w.float(*float).unwrap()),
            Thing::Text(value) => text(value),
            Thing::List(items) => array(&items.iter().map(Thing::cbor).collect::<Vec<_>>()),
            Thing::Map(members) => {
                map(&members.iter().map(|(name, thing)| (*name, thing.cbor())).collect::<Vec<_>>())
            }
        }
    }

    pub(in crate::format::tenuo) fn json(&self) -> String {
        match self {
            Thing::Null => "null".to_owned(),
            Thing::Bool(truth) => truth.to_string(),
            Thing::Integer(integer) => integer.to_string(),
            Thing::Float(float) => float.to_string(),
            Thing::Text(value) => format!("{value:?}"),
            Thing::List(items) => {
                format!("[{}]", items.iter().map(Thing::json).collect::<Vec<_>>().join(","))
            }
            Thing::Map(members) => {
                let mut json = String::from("{");
                for (name, thing) in members {
                    write!(json, "{name:?}:{}", thing.json()).unwrap();
                }
                json + "}"
            }
        }
    }
}
