//! Policy files.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{Json, ceilings::LimitName, hex};
use toml::Value;

use super::{Policy, PolicyError, digest, mapping::Mapping, methods::Methods, source::Source};
use crate::strict::{self, StrictTable};

mod rules;
mod sources;
mod value;

use rules::rule;
use sources::source;

pub(super) fn policy(text: &str) -> Result<Policy, PolicyError> {
    let mut file = StrictTable::parse(text)?;
    let identity = file.flag("identity")?;
    let stock_proofs = file.flag("stock_proofs")?;
    let lists_to_strangers = match file.text("list_without_credential")?.as_deref() {
        None | Some("none") => false,
        Some("all") => true,
        Some(_) => return Err(file.wrong("list_without_credential", "\"none\" or \"all\"").into()),
    };
    let limits = limits(&mut file)?;
    let tools = mappings(&file.path_of("tools"), file.named("tools")?, &file)?;
    let methods = methods(&mut file)?;
    file.finish()?;
    if tools.is_empty() && !identity && methods.mapped.is_empty() {
        return Err(PolicyError::NothingMapped);
    }
    if let Some(name) = tools.keys().find(|name| methods.mapped.contains_key(*name)) {
        return Err(PolicyError::ToolAndMethod(name.clone()));
    }
    let digest = [0; 32];
    let mut policy = Policy { tools, methods, limits, identity, stock_proofs, lists_to_strangers, digest };
    policy.digest = digest::of(&policy)?;
    Ok(policy)
}

/// `[limits]`: a limit's name and what a call is taken to need of it; for the task, what calls are taken to belong to.
fn limits(file: &mut StrictTable) -> Result<BTreeMap<String, Json>, PolicyError> {
    let mut limits = BTreeMap::new();
    for (name, found) in file.named("limits")? {
        let path = format!("limits.{name}");
        if name == "task_id" && !found.is_str() {
            return Err(file.wrong(&path, "a text; \"\" where the tools know no task").into());
        }
        if name != "task_id" && name.parse::<LimitName>().is_err() {
            return Err(file
                .wrong(&path, "the name of a limit or task_id; the project is each tool's own")
                .into());
        }
        limits.insert(name, value::scalar(file, &path, found)?);
    }
    Ok(limits)
}

/// Tables of tools or methods, by name.
fn mappings(
    key: &str,
    named: Vec<(String, Value)>,
    file: &StrictTable,
) -> Result<BTreeMap<String, Mapping>, PolicyError> {
    let mut mappings = BTreeMap::new();
    for (name, value) in named {
        let path = format!("{key}.{name}");
        let Value::Table(table) = value else { return Err(file.wrong(&path, "a table").into()) };
        let mapping = mapping(&name, file.inner(&path, table))?;
        mappings.insert(name, mapping);
    }
    Ok(mappings)
}

/// `[methods]`: what is open, and a table for each method that is a call of its own.
fn methods(file: &mut StrictTable) -> Result<Methods, PolicyError> {
    let mut table = file.table("methods")?;
    let said = table.as_mut().and_then(|table| table.value("open"));
    let named = table.as_mut().map(StrictTable::rest).unwrap_or_default();
    if let Some((name, _)) = named.iter().find(|(name, _)| !may_be_mapped(name)) {
        return Err(file
            .wrong(&format!("methods.{name}"), "a method that can be a call: no notification, no tools/…")
            .into());
    }
    let mapped = mappings("methods", named, file)?;
    if let Some((name, _)) = mapped.iter().find(|(_, mapping)| mapping.definition.is_some()) {
        return Err(file.wrong(&format!("methods.{name}.definition"), "left to tools").into());
    }
    let Some(said) = said else {
        return Ok(Methods { open: Methods::open_by_default(&mapped), mapped });
    };
    let wanted = "a list of methods, without tools/call and those that have a table";
    let open = value::texts(&said).ok_or_else(|| file.wrong("methods.open", wanted))?;
    let open: BTreeSet<String> = open.into_iter().collect();
    if open.iter().any(|name| name == "tools/call" || mapped.contains_key(name)) {
        return Err(file.wrong("methods.open", wanted).into());
    }
    Ok(Methods { open, mapped })
}

/// Tools are mapped by their own names, lists of them are filtered, and a notification is never answered.
fn may_be_mapped(method: &str) -> bool {
    !method.starts_with("tools/") && !method.starts_with("notifications/")
}

fn mapping(name: &str, mut table: StrictTable) -> Result<Mapping, PolicyError> {
    let action = table.needed_text("action")?.parse().ok();
    let action = action.filter(|action: &pact_mandate::Action| !action.is_pattern());
    let action = action.ok_or_else(|| table.wrong("action", "one action such as task.read, without '*'"))?;
    let mut judged = BTreeMap::new();
    for key in ["project", "task_id"] {
        if let Some(found) = table.table(key)? {
            judged.insert(key.to_owned(), source(key, found)?);
        }
    }
    for (key, value) in table.named("args")? {
        let path = format!("args.{key}");
        let Value::Table(inner) = value else {
            return Err(table.wrong(&path, "{ arg = … } or { const = … }").into());
        };
        let found = source(&key, table.inner(&path, inner))?;
        if key.starts_with('@') || judged.insert(key, found).is_some() {
            return Err(table
                .wrong(&path, "a name that is not given yet and does not begin with '@'")
                .into());
        }
    }
    let mut rules = BTreeMap::new();
    for (key, value) in table.named("rules")? {
        let path = format!("rules.{key}");
        let Value::Table(inner) = value else {
            return Err(table.wrong(&path, "{ one_of = … }, { max = … } or { prefix = … }").into());
        };
        rules.insert(key, rule(table.inner(&path, inner))?);
    }
    let unjudged: BTreeSet<String> = table.texts("unjudged")?.into_iter().collect();
    let definition = definition(&mut table)?;
    table.finish()?;
    let mapping = Mapping { action, judged, rules, unjudged, definition };
    check_names(name, &mapping)?;
    Ok(mapping)
}

fn definition(table: &mut StrictTable) -> Result<Option<[u8; 32]>, PolicyError> {
    let Some(text) = table.text("definition")? else { return Ok(None) };
    let digest = hex::decode_exactly(&text);
    let wrong =
        || table.wrong("definition", "64 hex digits, as pact-sidecar suggest --definitions writes them");
    digest.map(Some).ok_or_else(|| wrong().into())
}

/// Each raw argument is judged or not, and a rule is of one of them.
fn check_names(name: &str, mapping: &Mapping) -> Result<(), PolicyError> {
    let tool = || name.to_owned();
    if let Some(argument) = mapping.unjudged.iter().find(|argument| mapping.judges(argument)) {
        return Err(PolicyError::JudgedAndUnjudged { tool: tool(), argument: argument.clone() });
    }
    let Some(argument) = mapping.rules.keys().find(|argument| !mapping.takes(argument)) else {
        return Ok(());
    };
    let judged = mapping.judged.values().flat_map(Source::names);
    let known: Vec<&str> = judged.chain(&mapping.unjudged).map(String::as_str).collect();
    let nearest = strict::nearest(argument, &known).map(str::to_owned);
    Err(PolicyError::RuleOfNothing { tool: tool(), argument: argument.clone(), nearest })
}
