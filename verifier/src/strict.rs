//! Configuration read strictly: each key is known or it is an error that names the nearest one that is.

use std::fmt;

use toml::{Table, Value};

use crate::limits::MAX_CONFIG_BYTES;

mod nearest;

pub use nearest::edits;
pub(crate) use nearest::to as nearest;

/// A TOML table that remembers which of its keys were asked for. What was not asked for by [`StrictTable::finish`] is
/// unknown.
#[derive(Debug)]
pub struct StrictTable {
    path: String,
    table: Table,
    known: Vec<&'static str>,
}

/// Why a configuration is refused; every variant names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigFault {
    /// Longer than a person writes.
    #[error("the configuration is longer than {MAX_CONFIG_BYTES} bytes")]
    TooLong,
    /// Not TOML.
    #[error("not TOML, at line {line}: {message}")]
    NotToml {
        /// Line, from 1.
        line: usize,
        /// What the parser says.
        message: String,
    },
    /// A key that nothing reads.
    #[error("unknown key {key}{hint}", hint = Hint(nearest.as_deref()))]
    UnknownKey {
        /// Where.
        key: String,
        /// The known key that is nearest, if any is near.
        nearest: Option<String>,
    },
    /// A key that must be there.
    #[error("the key {0} is missing")]
    Missing(String),
    /// A value that is not what the key wants.
    #[error("the key {key} wants {wanted}")]
    Wrong {
        /// Where.
        key: String,
        /// What would have been right.
        wanted: &'static str,
    },
}

/// Names what was probably meant.
pub(crate) struct Hint<'a>(pub(crate) Option<&'a str>);

impl fmt::Display for Hint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(nearest) => write!(f, " (did you mean {nearest}?)"),
            None => Ok(()),
        }
    }
}

impl StrictTable {
    /// Reads a whole document.
    pub fn parse(text: &str) -> Result<StrictTable, ConfigFault> {
        if text.len() > MAX_CONFIG_BYTES {
            return Err(ConfigFault::TooLong);
        }
        let table = text.parse::<Table>().map_err(|error| not_toml(text, &error))?;
        Ok(StrictTable { path: String::new(), table, known: Vec::new() })
    }

    /// Takes a value of whatever kind.
    pub fn value(&mut self, key: &'static str) -> Option<Value> {
        self.known.push(key);
        self.table.remove(key)
    }

    /// Takes a text.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, ConfigFault> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(self.wrong(key, "a text")),
        }
    }

    /// Takes a text that must be there.
    pub fn needed_text(&mut self, key: &'static str) -> Result<String, ConfigFault> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// Takes `true` or `false`; absent is `false`.
    pub fn flag(&mut self, key: &'static str) -> Result<bool, ConfigFault> {
        match self.value(key) {
            None => Ok(false),
            Some(Value::Boolean(flag)) => Ok(flag),
            Some(_) => Err(self.wrong(key, "true or false")),
        }
    }

    /// Takes a list of texts; absent is empty.
    pub fn texts(&mut self, key: &'static str) -> Result<Vec<String>, ConfigFault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let Value::Array(items) = value else { return Err(self.wrong(key, "a list of texts")) };
        let texts = items.into_iter().map(|item| match item {
            Value::String(text) => Ok(text),
            _ => Err(self.wrong(key, "a list of texts")),
        });
        texts.collect()
    }

    /// Takes a table; absent is `None`.
    pub fn table(&mut self, key: &'static str) -> Result<Option<StrictTable>, ConfigFault> {
        match self.value(key) {
            None => Ok(None),
            Some(Value::Table(table)) => Ok(Some(self.inner(key, table))),
            Some(_) => Err(self.wrong(key, "a table")),
        }
    }

    /// Takes a table whose keys are names of the operator's choice, each with its value.
    pub fn named(&mut self, key: &'static str) -> Result<Vec<(String, Value)>, ConfigFault> {
        match self.value(key) {
            None => Ok(Vec::new()),
            Some(Value::Table(table)) => Ok(table.into_iter().collect()),
            Some(_) => Err(self.wrong(key, "a table")),
        }
    }

    /// Takes all that is left: names of the operator's choice beside keys that were asked for before.
    pub fn rest(&mut self) -> Vec<(String, Value)> {
        std::mem::take(&mut self.table).into_iter().collect()
    }

    /// Takes a list of tables (`[[key]]`); absent is empty.
    pub fn tables(&mut self, key: &'static str) -> Result<Vec<StrictTable>, ConfigFault> {
        let Some(value) = self.value(key) else { return Ok(Vec::new()) };
        let Value::Array(items) = value else { return Err(self.wrong(key, "a list of tables")) };
        let tables = items.into_iter().enumerate().map(|(at, item)| match item {
            Value::Table(table) => Ok(self.inner(&format!("{key}[{at}]"), table)),
            _ => Err(self.wrong(key, "a list of tables")),
        });
        tables.collect()
    }

    /// A table that stands in this one under `key`.
    #[must_use]
    pub fn inner(&self, key: &str, table: Table) -> StrictTable {
        StrictTable { path: self.path_of(key), table, known: Vec::new() }
    }

    /// The dotted path of a key of this table.
    pub fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// The key's value is not what it should be.
    pub fn wrong(&self, key: &str, wanted: &'static str) -> ConfigFault {
        ConfigFault::Wrong { key: self.path_of(key), wanted }
    }

    /// The key is not there.
    pub fn missing(&self, key: &str) -> ConfigFault {
        ConfigFault::Missing(self.path_of(key))
    }

    /// Refuses keys that nobody asked for.
    pub fn finish(self) -> Result<(), ConfigFault> {
        let Some(key) = self.table.keys().next() else { return Ok(()) };
        let nearest = nearest::to(key, &self.known).map(ToOwned::to_owned);
        Err(ConfigFault::UnknownKey { key: self.path_of(key), nearest })
    }
}

fn not_toml(text: &str, error: &toml::de::Error) -> ConfigFault {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.bytes().filter(|b| *b == b'\n').count().saturating_add(1);
    ConfigFault::NotToml { line, message: error.message().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_key_is_an_error_that_names_the_nearest() {
        let mut table = StrictTable::parse("stock_profs = true").unwrap();
        assert_eq!(table.flag("stock_proofs"), Ok(false));
        assert_eq!(table.flag("identity"), Ok(false));
        let fault = table.finish().unwrap_err();
        assert_eq!(fault.to_string(), "unknown key stock_profs (did you mean stock_proofs?)");
        let mut table = StrictTable::parse("[a]\nzzzzzzzz = 1").unwrap();
        let mut inner = table.table("a").unwrap().unwrap();
        assert_eq!(inner.text("b"), Ok(None));
        assert_eq!(inner.finish().unwrap_err().to_string(), "unknown key a.zzzzzzzz");
        assert_eq!(table.finish(), Ok(()));
    }

    #[test]
    fn a_value_of_the_wrong_kind_is_named_with_what_was_wanted() {
        let mut table = StrictTable::parse("a = 1\nb = [1]\nc = 'x'").unwrap();
        assert_eq!(table.text("a").unwrap_err().to_string(), "the key a wants a text");
        assert_eq!(table.texts("b").unwrap_err().to_string(), "the key b wants a list of texts");
        assert_eq!(table.flag("c").unwrap_err().to_string(), "the key c wants true or false");
        assert_eq!(table.needed_text("d").unwrap_err().to_string(), "the key d is missing");
    }

    #[test]
    fn what_is_no_toml_is_named_with_its_line() {
        let Err(ConfigFault::NotToml { line, .. }) = StrictTable::parse("a = 1\na = 2\n") else { panic!() };
        assert_eq!(line, 2);
        assert_eq!(StrictTable::parse(&" ".repeat(MAX_CONFIG_BYTES + 1)).unwrap_err(), ConfigFault::TooLong);
    }
}
