//! The numeric limits of a mandate: for each name, the most that one call may ask for.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{
    amount::Amount,
    limits::{MAX_CEILINGS, MAX_NAME_CHARS},
};

/// The name of a limit, and of the argument that it limits: `[a-zA-Z_][a-zA-Z0-9_.-]{0,63}`,
/// and neither `project` nor `task_id`, which name other things.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct LimitName(String);

/// Limits by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeMap<LimitName, Amount>", into = "BTreeMap<LimitName, Amount>")]
pub struct Ceilings(BTreeMap<LimitName, Amount>);

/// Why limits are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CeilingsError {
    /// Not a name.
    #[error(
        "a limit's name is 1 to {MAX_NAME_CHARS} of a-z, A-Z, 0-9, '_', '.' and '-', starts with a letter or '_', and is not project or task_id"
    )]
    NotAName,
    /// Too many.
    #[error("a mandate has at most {MAX_CEILINGS} limits")]
    TooMany,
}

impl LimitName {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for LimitName {
    type Error = CeilingsError;

    fn try_from(text: String) -> Result<LimitName, CeilingsError> {
        let starts = text.bytes().next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_');
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'-');
        let taken = matches!(text.as_str(), "project" | "task_id");
        if starts && !taken && text.len() <= MAX_NAME_CHARS && text.bytes().all(plain) {
            Ok(LimitName(text))
        } else {
            Err(CeilingsError::NotAName)
        }
    }
}

impl FromStr for LimitName {
    type Err = CeilingsError;

    fn from_str(text: &str) -> Result<LimitName, CeilingsError> {
        LimitName::try_from(text.to_owned())
    }
}

impl From<LimitName> for String {
    fn from(name: LimitName) -> String {
        name.0
    }
}

impl fmt::Display for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for LimitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LimitName({self})")
    }
}

impl Ceilings {
    /// The limit of that name.
    pub fn get(&self, name: &LimitName) -> Option<Amount> {
        self.0.get(name).copied()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&LimitName, Amount)> {
        self.0.iter().map(|(name, amount)| (name, *amount))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing is limited.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first name that both limit and this limits less tightly; `None` when this goes nowhere beyond `parent`.
    pub fn first_beyond(&self, parent: &Ceilings) -> Option<&LimitName> {
        self.iter()
            .find(|(name, amount)| parent.get(name).is_some_and(|most| *amount > most))
            .map(|(name, _)| name)
    }

    /// Both at once: every name of either, at the lower value.
    #[must_use]
    pub fn tightened_by(&self, other: &Ceilings) -> Ceilings {
        let mut tighter = self.0.clone();
        for (name, amount) in &other.0 {
            tighter.entry(name.clone()).and_modify(|own| *own = (*own).min(*amount)).or_insert(*amount);
        }
        Ceilings(tighter)
    }
}

impl TryFrom<BTreeMap<LimitName, Amount>> for Ceilings {
    type Error = CeilingsError;

    fn try_from(limits: BTreeMap<LimitName, Amount>) -> Result<Ceilings, CeilingsError> {
        if limits.len() > MAX_CEILINGS { Err(CeilingsError::TooMany) } else { Ok(Ceilings(limits)) }
    }
}

impl From<Ceilings> for BTreeMap<LimitName, Amount> {
    fn from(ceilings: Ceilings) -> BTreeMap<LimitName, Amount> {
        ceilings.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::samples::{ceilings, limits};

    #[test]
    fn a_name_is_that_of_an_argument() {
        for good in ["cost_usd", "_a", "A", "a.b-c", "runs2", &"a".repeat(64)] {
            assert!(good.parse::<LimitName>().is_ok(), "{good}");
        }
        for bad in ["", "2a", "-a", ".a", "a b", "ä", "@id", "project", "task_id", &"a".repeat(65)] {
            assert_eq!(bad.parse::<LimitName>(), Err(CeilingsError::NotAName), "{bad}");
        }
    }

    #[test]
    fn limits_are_bounded() {
        let many = |count: usize| {
            (0..count).map(|at| (format!("n{at}").parse().unwrap(), Amount::ZERO)).collect::<BTreeMap<_, _>>()
        };
        assert!(Ceilings::try_from(many(MAX_CEILINGS)).is_ok());
        assert_eq!(Ceilings::try_from(many(MAX_CEILINGS + 1)), Err(CeilingsError::TooMany));
    }

    #[test]
    fn a_limit_is_the_text_of_an_amount() {
        let read = |text: &str| serde_json::from_str::<Ceilings>(text);
        assert_eq!(read(r#"{"a":"2.5","b":"0"}"#).unwrap(), ceilings(&[("a", "2.5"), ("b", "0")]));
        for bad in [
            r#"{"a":2.5}"#,
            r#"{"a":"2.50"}"#,
            r#"{"a":"-1"}"#,
            r#"{"a":null}"#,
            r#"{"project":"1"}"#,
            r#"{"a":"1e3"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_goes_beyond_is_named() {
        let parent = ceilings(&[("a", "2"), ("b", "2")]);
        assert_eq!(ceilings(&[("a", "2"), ("c", "9")]).first_beyond(&parent), None);
        assert_eq!(ceilings(&[("a", "1"), ("b", "2.000001")]).first_beyond(&parent).unwrap().as_str(), "b");
    }

    proptest! {
        #[test]
        fn tightening_takes_the_lower_of_both(a in limits(), b in limits()) {
            let both = a.tightened_by(&b);
            prop_assert_eq!(&both, &b.tightened_by(&a));
            prop_assert_eq!(&both.tightened_by(&a), &both);
            prop_assert!(both.first_beyond(&a).is_none() && both.first_beyond(&b).is_none());
            for (name, most) in both.iter() {
                let lower = [a.get(name), b.get(name)].into_iter().flatten().min();
                prop_assert_eq!(Some(most), lower);
            }
            prop_assert!(a.iter().chain(b.iter()).all(|(name, _)| both.get(name).is_some()));
        }

        #[test]
        fn tightening_is_associative(a in limits(), b in limits(), c in limits()) {
            prop_assert_eq!(a.tightened_by(&b).tightened_by(&c), a.tightened_by(&b.tightened_by(&c)));
        }
    }
}
