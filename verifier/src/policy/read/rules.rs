//! `{ one_of = [VALUE, …] }`, `{ max = NUMBER }`, `{ prefix = PATH }`, and how they are asked.

use pact_mandate::{Amount, Json, amount::Rounding};
use toml::Value;

use super::value;
use crate::{
    policy::{PolicyError, plain_path, rule::Rule},
    strict::{ConfigFault, StrictTable},
};

/// Digits that a double keeps of every decimal (IEEE 754, binary64): with more, the file would say another number.
const EXACT_DIGITS: usize = 15;

pub(super) fn rule(mut table: StrictTable) -> Result<Rule, PolicyError> {
    let one_of = table.value("one_of").map(|found| one_of(&table, found)).transpose()?;
    let max = table.value("max").map(|found| max(&table, &found)).transpose()?;
    let prefix = table.value("prefix").map(|found| prefixes(&table, &found)).transpose()?;
    let (each, optional) = (table.flag("each")?, table.flag("optional")?);
    if one_of.is_none() && max.is_none() && prefix.is_none() {
        return Err(table.missing("one_of, max or prefix").into());
    }
    table.finish()?;
    Ok(Rule { one_of, max, prefix, each, optional })
}

fn one_of(table: &StrictTable, found: Value) -> Result<Vec<Json>, ConfigFault> {
    let wrong = || table.wrong("one_of", "a list of texts, whole numbers, true or false");
    let Value::Array(items) = found else { return Err(wrong()) };
    if items.is_empty() || items.iter().any(Value::is_float) {
        return Err(wrong());
    }
    items.into_iter().map(|item| value::scalar(table, "one_of", item)).collect()
}

/// A whole number, a decimal of few digits, or a decimal as a text. It is an amount, so nothing of it is a float's.
fn max(table: &StrictTable, found: &Value) -> Result<Amount, ConfigFault> {
    let text = match found {
        Value::Integer(integer) => Some(integer.to_string()),
        Value::Float(float) => Some(float.to_string())
            .filter(|text| text.bytes().filter(u8::is_ascii_digit).count() <= EXACT_DIGITS),
        Value::String(text) => Some(text.clone()),
        _ => None,
    };
    let amount = text.and_then(|text| Amount::from_json_number(&text, Rounding::Exact).ok());
    amount.ok_or_else(|| {
        table.wrong("max", "a decimal from 0, of at most 6 digits after the point; a long one as a text")
    })
}

fn prefixes(table: &StrictTable, found: &Value) -> Result<Vec<String>, ConfigFault> {
    let prefixes = value::text_or_texts(found).filter(|prefixes| !prefixes.is_empty());
    let prefixes =
        prefixes.filter(|prefixes| prefixes.iter().all(|prefix| plain_path::check(prefix).is_ok()));
    prefixes.ok_or_else(|| table.wrong("prefix", plain_path::WANTED))
}
