//! What a tool server says of a tool, as one value to compare: whoever lets agents read a definition wants to know when it becomes
//! another one.

use pact_mandate::{Json, canonical, json::Member};

use super::rebuild::is_ours;

/// Stands for everything that is said of one tool. Spacing and order do not count, nor does what a sidecar adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Definition([u8; 32]);

impl Definition {
    /// That of an entry of a list; `None` for what is no object.
    pub(crate) fn of(tool: &Json) -> Option<Definition> {
        let mut inexact = Vec::new();
        let members = tool.members()?.iter().filter_map(said);
        let members = members.map(|member| exact(&member, &mut inexact)).collect();
        let whole = Json::Array(vec![Json::Object(members), Json::Array(inexact)]);
        canonical::digest(&whole).ok().map(Definition)
    }

    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

/// The member without what only a sidecar says.
fn said(member: &Member) -> Option<Member> {
    if is_ours(&member.name) {
        return None;
    }
    let (true, Some(members)) = (member.name == "_meta", member.value.members()) else {
        return Some(member.clone());
    };
    let own: Vec<Member> = members.iter().filter(|member| !is_ours(&member.name)).cloned().collect();
    (!own.is_empty()).then(|| Member::new("_meta", Json::Object(own)))
}

fn exact(member: &Member, inexact: &mut Vec<Json>) -> Member {
    Member::new(&member.name, exact_value(&member.value, inexact))
}

/// The value with numbers of more digits than doubles keep as texts, which are told apart from other texts by `inexact`:
/// schemas name bounds such as 2^63 − 1.
fn exact_value(value: &Json, inexact: &mut Vec<Json>) -> Json {
    match value {
        Json::Number(number) if number.as_exact_f64().is_none() => {
            let text = Json::String(number.text().to_owned());
            inexact.push(text.clone());
            text
        }
        Json::Array(items) => Json::Array(items.iter().map(|item| exact_value(item, inexact)).collect()),
        Json::Object(members) => Json::Object(members.iter().map(|member| exact(member, inexact)).collect()),
        value => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(text: &str) -> Definition {
        Definition::of(&Json::parse(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn whatever_is_said_of_a_tool_counts_and_how_it_is_written_does_not() {
        let said =
            definition(r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775807}}"#);
        for same in [
            r#"{"inputSchema":{"maximum":9223372036854775807}, "description":"\u0062","name":"a"}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775807},"_meta":{"pact/call":{}}}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775807},"_meta":{},"pact/x":1}"#,
        ] {
            assert_eq!(definition(same), said, "{same}");
        }
        for other in [
            r#"{"name":"a","description":"c","inputSchema":{"maximum":9223372036854775807}}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775806}}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":"9223372036854775807"}}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775807},"_meta":{"k":1}}"#,
            r#"{"name":"a","description":"b","inputSchema":{"maximum":9223372036854775807},"title":""}"#,
        ] {
            assert_ne!(definition(other), said, "{other}");
        }
    }
}
