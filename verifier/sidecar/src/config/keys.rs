//! Unknown keys of the configuration, and what was probably meant.

use pact_verifier::strict::edits;
use serde::de::{self, DeserializeOwned, Deserializer, Visitor};
use toml::{Table, Value};

use super::{
    ConfigError,
    raw::{RawConfig, RawIssuer, RawKeys, RawLimits, RawLists, RawReceipts, RawSpeaks},
    redis::RawReplay,
    upstream::RawUpstream,
};

/// Refuses a table that holds a key nobody reads, naming the nearest that somebody does.
pub(super) fn check(table: &Table) -> Result<(), ConfigError> {
    check_table::<RawConfig>("", table)?;
    for (name, value) in table {
        match (name.as_str(), value) {
            ("upstream", Value::Table(inner)) => check_table::<RawUpstream>("upstream.", inner)?,
            ("limits", Value::Table(inner)) => check_table::<RawLimits>("limits.", inner)?,
            ("keys", Value::Table(inner)) => check_table::<RawKeys>("keys.", inner)?,
            ("lists", Value::Table(inner)) => check_table::<RawLists>("lists.", inner)?,
            ("receipts", Value::Table(inner)) => check_table::<RawReceipts>("receipts.", inner)?,
            ("replay", Value::Table(inner)) => check_table::<RawReplay>("replay.", inner)?,
            ("issuers", Value::Array(items)) => {
                items.iter().filter_map(Value::as_table).try_for_each(check_issuer)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_issuer(table: &Table) -> Result<(), ConfigError> {
    check_table::<RawIssuer>("issuers.", table)?;
    match table.get("speaks") {
        Some(Value::Table(inner)) => check_table::<RawSpeaks>("issuers.speaks.", inner),
        _ => Ok(()),
    }
}

fn check_table<T: DeserializeOwned>(place: &str, table: &Table) -> Result<(), ConfigError> {
    let known = members_of::<T>();
    match table.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ConfigError::UnknownKey {
            key: format!("{place}{key}"),
            nearest: format!("{place}{}", nearest(key, known)),
        }),
    }
}

/// The known key with the fewest single-character edits between it and `key`.
fn nearest<'a>(key: &str, known: &[&'a str]) -> &'a str {
    known.iter().copied().min_by_key(|candidate| edits(key, candidate)).unwrap_or_default()
}

/// The names of a structure's members, as it tells them to whoever deserialises it: no second list to keep equal.
fn members_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut members: &'static [&'static str] = &[];
    // The listener below never yields a value; what it overhears is the point.
    let _ = T::deserialize(Listener(&mut members));
    members
}

struct Listener<'a>(&'a mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Listener<'_> {
    type Error = de::value::Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Self::Error> {
        Err(de::Error::custom("only listening"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Self::Error> {
        *self.0 = fields;
        Err(de::Error::custom("only listening"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_key_is_named() {
        assert_eq!(nearest("lisen", members_of::<RawConfig>()), "listen");
        assert_eq!(nearest("body_byte", members_of::<RawLimits>()), "body_bytes");
    }
}
