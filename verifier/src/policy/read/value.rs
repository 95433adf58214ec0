//! Values in a policy file, as a call could carry them.

use pact_mandate::{
    Json,
    json::{Member, Number},
};
use toml::Value;

use crate::strict::{ConfigFault, StrictTable};

/// The JSON value that a call could carry; dates and endless numbers are none.
pub(super) fn json(table: &StrictTable, key: &str, value: Value) -> Result<Json, ConfigFault> {
    let wrong = || table.wrong(key, "a text, a number, true or false, or a list or table of them");
    Ok(match value {
        Value::String(text) => Json::String(text),
        Value::Integer(integer) => Json::Number(Number::from_i64(integer)),
        Value::Float(float) => Json::Number(Number::from_text(&float.to_string()).ok_or_else(wrong)?),
        Value::Boolean(flag) => Json::Bool(flag),
        Value::Datetime(_) => return Err(wrong()),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| json(table, key, item));
            Json::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Table(inner) => {
            let members =
                inner.into_iter().map(|(name, value)| Ok(Member::new(name, json(table, key, value)?)));
            Json::Object(members.collect::<Result<_, ConfigFault>>()?)
        }
    })
}

/// A single one of them: what can be limited, and what can be compared.
pub(super) fn scalar(table: &StrictTable, key: &str, value: Value) -> Result<Json, ConfigFault> {
    match value {
        Value::Array(_) | Value::Table(_) => Err(table.wrong(key, "a text, a number, true or false")),
        value => json(table, key, value),
    }
}

/// A list of texts, or one text alone.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items.iter().map(|item| item.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

/// The same, or one text that stands for a list of it alone.
pub(super) fn text_or_texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::String(text) => Some(vec![text.clone()]),
        value => texts(value),
    }
}
