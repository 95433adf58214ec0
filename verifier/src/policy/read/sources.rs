//! `{ const = VALUE }`, and `{ arg = NAME }` with what its value stands for.

use std::collections::BTreeMap;

use pact_mandate::{Json, Project};

use super::value;
use crate::{
    policy::{
        PROJECT, PolicyError, plain_path,
        source::{Argument, Source, Via},
    },
    strict::{ConfigFault, StrictTable},
};

/// Where the argument that constraints know as `name` comes from.
pub(super) fn source(name: &str, mut table: StrictTable) -> Result<Source, PolicyError> {
    let argument = table.value("arg");
    let constant = table.value("const");
    let default = table.value("default");
    let via = via(&mut table)?;
    let each = table.flag("each")?;
    let source = match (argument, constant) {
        (Some(argument), None) => Source::Argument(Argument {
            names: names(&table, &argument)?,
            via,
            each,
            default: default.map(|found| value::json(&table, "default", found)).transpose()?,
        }),
        (None, Some(found)) if default.is_none() && via == Via::Itself && !each => {
            Source::Constant(value::json(&table, "const", found)?)
        }
        (None, None) => return Err(table.missing("arg").into()),
        _ => {
            return Err(table
                .wrong("const", "to stand alone: a constant has no argument and no default")
                .into());
        }
    };
    if name == PROJECT && fixed_values(&source).any(|value| !is_project(value)) {
        return Err(table.wrong("const", "projects of a-z, 0-9 and '-', wherever one is written out").into());
    }
    table.finish()?;
    Ok(source)
}

fn names(table: &StrictTable, found: &toml::Value) -> Result<Vec<String>, ConfigFault> {
    let names = value::text_or_texts(found).filter(|names| !names.is_empty());
    names.ok_or_else(|| table.wrong("arg", "the name of an argument, or a list of names"))
}

fn via(table: &mut StrictTable) -> Result<Via, PolicyError> {
    let values = self::table(table, "values")?;
    let prefixes = self::table(table, "prefix")?;
    match (values, prefixes) {
        (None, None) => Ok(Via::Itself),
        (Some(values), None) => Ok(Via::Values(values)),
        (None, Some(prefixes)) if prefixes.keys().all(|prefix| plain_path::check(prefix).is_ok()) => {
            Ok(Via::Prefix(prefixes))
        }
        (None, Some(_)) => Err(table.wrong("prefix", plain_path::WANTED).into()),
        (Some(_), Some(_)) => Err(table.wrong("values", "to stand without prefix").into()),
    }
}

/// A table of texts and what each of them stands for.
fn table(table: &mut StrictTable, key: &'static str) -> Result<Option<BTreeMap<String, Json>>, PolicyError> {
    let Some(found) = table.value(key) else { return Ok(None) };
    let wrong = |table: &StrictTable| table.wrong(key, "a table of texts and what each stands for");
    let toml::Value::Table(entries) = found else { return Err(wrong(table).into()) };
    if entries.is_empty() {
        return Err(wrong(table).into());
    }
    let entries = entries.into_iter().map(|(text, found)| Ok((text, value::scalar(table, key, found)?)));
    Ok(Some(entries.collect::<Result<_, ConfigFault>>()?))
}

/// What the file itself writes out.
fn fixed_values(source: &Source) -> impl Iterator<Item = &Json> {
    let choices = source.choices().unwrap_or_default();
    let default = match source {
        Source::Argument(argument) => argument.default.as_ref(),
        Source::Constant(_) => None,
    };
    choices.into_iter().chain(default)
}

fn is_project(value: &Json) -> bool {
    value.as_str().is_some_and(|text| text.parse::<Project>().is_ok())
}
