//! The policy as one value, for its digest: equal for two files exactly when they judge every call alike.

use std::collections::BTreeMap;

use pact_mandate::{
    Json,
    canonical::{self, CanonicalError},
    hex,
    json::Member,
};

use super::{
    Policy,
    mapping::Mapping,
    methods::Methods,
    rule::Rule,
    source::{Argument, Source, Via},
};

/// What is as it is by default is left out.
pub(super) fn of(policy: &Policy) -> Result<[u8; 32], CanonicalError> {
    let mut members = vec![
        Member::new("identity", Json::Bool(policy.identity)),
        Member::new("stock_proofs", Json::Bool(policy.stock_proofs)),
        Member::new("tools", mappings(&policy.tools)),
    ];
    if policy.lists_to_strangers {
        members.push(Member::new("list_without_credential", text("all")));
    }
    if !policy.limits.is_empty() {
        members.push(Member::new("limits", table(&policy.limits)));
    }
    if policy.methods.open != Methods::open_by_default(&policy.methods.mapped) {
        members.push(Member::new("open", texts(&policy.methods.open)));
    }
    if !policy.methods.mapped.is_empty() {
        members.push(Member::new("methods", mappings(&policy.methods.mapped)));
    }
    canonical::digest(&Json::Object(members))
}

fn mappings(mappings: &BTreeMap<String, Mapping>) -> Json {
    Json::Object(mappings.iter().map(|(name, mapping)| Member::new(name, mapping_as_json(mapping))).collect())
}

fn mapping_as_json(mapping: &Mapping) -> Json {
    let judged = mapping.judged.iter().map(|(name, source)| Member::new(name, source_as_json(source)));
    let mut members = vec![
        Member::new("action", text(mapping.action.as_str())),
        Member::new("args", Json::Object(judged.collect())),
        Member::new("unjudged", texts(&mapping.unjudged)),
    ];
    if !mapping.rules.is_empty() {
        let rules = mapping.rules.iter().map(|(name, rule)| Member::new(name, rule_as_json(rule)));
        members.push(Member::new("rules", Json::Object(rules.collect())));
    }
    members.extend(mapping.definition.map(|digest| Member::new("definition", text(&hex::encode(&digest)))));
    Json::Object(members)
}

pub(super) fn source_as_json(source: &Source) -> Json {
    match source {
        Source::Constant(value) => Json::Object(vec![Member::new("const", value.clone())]),
        Source::Argument(Argument { names, via, each, default }) => {
            let name = match names.as_slice() {
                [name] => text(name),
                names => texts(names),
            };
            let mut members = vec![Member::new("arg", name)];
            match via {
                Via::Itself => {}
                Via::Values(values) => members.push(Member::new("values", table(values))),
                Via::Prefix(prefixes) => members.push(Member::new("prefix", table(prefixes))),
            }
            members.extend(each.then(|| Member::new("each", Json::Bool(true))));
            members.extend(default.clone().map(|value| Member::new("default", value)));
            Json::Object(members)
        }
    }
}

fn rule_as_json(rule: &Rule) -> Json {
    let mut members = Vec::new();
    members.extend(rule.one_of.clone().map(|values| Member::new("one_of", Json::Array(values))));
    members.extend(rule.max.map(|max| Member::new("max", text(&max.to_string()))));
    members.extend(rule.prefix.as_ref().map(|prefixes| Member::new("prefix", texts(prefixes))));
    members.extend(rule.each.then(|| Member::new("each", Json::Bool(true))));
    members.extend(rule.optional.then(|| Member::new("optional", Json::Bool(true))));
    Json::Object(members)
}

fn table(values: &BTreeMap<String, Json>) -> Json {
    Json::Object(values.iter().map(|(name, value)| Member::new(name, value.clone())).collect())
}

fn texts<'a>(values: impl IntoIterator<Item = &'a String>) -> Json {
    Json::Array(values.into_iter().map(|value| text(value)).collect())
}

fn text(value: &str) -> Json {
    Json::String(value.to_owned())
}
