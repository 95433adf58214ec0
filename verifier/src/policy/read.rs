//! Policy files.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{
    Json, canonical,
    json::{Member, Number},
};
use toml::Value;

use super::{Policy, PolicyError, Source, Tool};
use crate::strict::{ConfigFault, StrictTable};

pub(super) fn policy(text: &str) -> Result<Policy, PolicyError> {
    let mut file = StrictTable::parse(text)?;
    let identity = file.flag("identity")?;
    let stock_proofs = file.flag("stock_proofs")?;
    let mut tools = BTreeMap::new();
    for (name, value) in file.named("tools")? {
        let path = format!("tools.{name}");
        let Value::Table(table) = value else { return Err(file.wrong(&path, "a table").into()) };
        let tool = tool(&name, file.inner(&path, table))?;
        tools.insert(name, tool);
    }
    file.finish()?;
    if tools.is_empty() && !identity {
        return Err(PolicyError::NothingMapped);
    }
    let digest = canonical::digest(&as_json(&tools, identity, stock_proofs))?;
    Ok(Policy { tools, identity, stock_proofs, digest })
}

fn tool(name: &str, mut table: StrictTable) -> Result<Tool, PolicyError> {
    let action = table.needed_text("action")?.parse().ok();
    let action = action.filter(|action: &pact_mandate::Action| !action.is_pattern());
    let action = action.ok_or_else(|| table.wrong("action", "one action such as task.read, without '*'"))?;
    let mut judged = BTreeMap::new();
    for key in ["project", "task_id"] {
        if let Some(found) = table.table(key)? {
            judged.insert(key.to_owned(), source(found)?);
        }
    }
    for (key, value) in table.named("args")? {
        let path = format!("args.{key}");
        let Value::Table(inner) = value else {
            return Err(table.wrong(&path, "{ arg = … } or { const = … }").into());
        };
        let found = source(table.inner(&path, inner))?;
        if key.starts_with('@') || judged.insert(key, found).is_some() {
            return Err(table
                .wrong(&path, "a name that is not given yet and does not begin with '@'")
                .into());
        }
    }
    let unjudged: BTreeSet<String> = table.texts("unjudged")?.into_iter().collect();
    table.finish()?;
    let tool = Tool { action, judged, unjudged };
    match both(&tool) {
        Some(argument) => Err(PolicyError::JudgedAndUnjudged { tool: name.to_owned(), argument }),
        None => Ok(tool),
    }
}

/// A raw argument that is judged and passes unjudged.
fn both(tool: &Tool) -> Option<String> {
    let mut judged = tool.judged.values().filter_map(|source| match source {
        Source::Argument { name, .. } => Some(name),
        Source::Constant(_) => None,
    });
    judged.find(|name| tool.unjudged.contains(*name)).cloned()
}

/// `{ arg = NAME }`, `{ arg = NAME, default = VALUE }` or `{ const = VALUE }`.
fn source(mut table: StrictTable) -> Result<Source, PolicyError> {
    let argument = table.text("arg")?;
    let constant = table.value("const");
    let default = table.value("default");
    let source = match (argument, constant) {
        (Some(name), None) => Source::Argument {
            name,
            default: default.map(|value| json(&table, "default", value)).transpose()?,
        },
        (None, Some(value)) if default.is_none() => Source::Constant(json(&table, "const", value)?),
        (None, None) => return Err(table.missing("arg").into()),
        _ => {
            return Err(table
                .wrong("const", "to stand alone: a constant has no argument and no default")
                .into());
        }
    };
    table.finish()?;
    Ok(source)
}

/// The JSON value that a call could carry; dates and endless numbers are none.
fn json(table: &StrictTable, key: &str, value: Value) -> Result<Json, ConfigFault> {
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

/// The policy as one value, for its digest: equal for two files exactly when they judge every call alike.
fn as_json(tools: &BTreeMap<String, Tool>, identity: bool, stock_proofs: bool) -> Json {
    let tools = tools.iter().map(|(name, tool)| Member::new(name, tool_as_json(tool)));
    Json::Object(vec![
        Member::new("identity", Json::Bool(identity)),
        Member::new("stock_proofs", Json::Bool(stock_proofs)),
        Member::new("tools", Json::Object(tools.collect())),
    ])
}

fn tool_as_json(tool: &Tool) -> Json {
    let judged = tool.judged.iter().map(|(name, source)| Member::new(name, source_as_json(source)));
    let unjudged = tool.unjudged.iter().map(|name| Json::String(name.clone()));
    Json::Object(vec![
        Member::new("action", Json::String(tool.action.to_string())),
        Member::new("args", Json::Object(judged.collect())),
        Member::new("unjudged", Json::Array(unjudged.collect())),
    ])
}

fn source_as_json(source: &Source) -> Json {
    match source {
        Source::Constant(value) => Json::Object(vec![Member::new("const", value.clone())]),
        Source::Argument { name, default } => {
            let mut members = vec![Member::new("arg", Json::String(name.clone()))];
            members.extend(default.clone().map(|value| Member::new("default", value)));
            Json::Object(members)
        }
    }
}
