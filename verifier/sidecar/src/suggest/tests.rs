use proptest::prelude::*;

use pact_mandate::Json;

use super::*;
use crate::{
    limits::{MAX_SUGGESTED_ARGUMENTS, MAX_SUGGESTED_NAME_CHARS},
    tools_list::Definition,
};

fn suggestion(own_actions: bool) -> Suggestion {
    let style = Style { own_actions, definitions: true };
    Suggestion::new("http://127.0.0.1:9000/mcp", "web".parse().unwrap(), style).unwrap()
}

fn tool(name: &str, says_read_only: bool, arguments: &[&str]) -> SeenTool {
    let arguments = arguments.iter().map(|name| (*name).to_owned()).collect();
    let definition = Definition::of(&Json::parse(b"{}").unwrap()).unwrap();
    SeenTool { name: name.to_owned(), says_read_only, arguments, definition }
}

#[test]
fn reading_is_task_read_and_the_rest_is_task_work() {
    let tools = [tool("read_file", true, &["path", "head"]), tool("write file", false, &[])];
    let text = suggestion(false).text_for(&tools).unwrap();
    let read = "\n[tools.\"read_file\"]\naction = \"task.read\"\nproject = { const = \"web\" }\nunjudged = [\"head\", \"path\"]\ndefinition = \"";
    let write = "\n[tools.\"write file\"]\naction = \"task.work\"\nproject = { const = \"web\" }\n";
    assert!(text.contains(read) && text.contains(write), "{text}");
    assert!(!text.contains("pact-issuer mint"));
}

#[test]
fn an_action_of_its_own_is_no_other_tools() {
    let tools = [
        tool("a b", false, &[]),
        tool("a_b", false, &[]),
        tool("a/b", true, &[]),
        tool("*", false, &[]),
        tool("", false, &[]),
    ];
    let text = suggestion(true).text_for(&tools).unwrap();
    let policy = Policy::from_toml(&text).unwrap();
    let actions: std::collections::BTreeSet<_> = policy.tools().map(|(_, action)| action.clone()).collect();
    assert_eq!(actions.len(), tools.len(), "{text}");
    assert!(actions.iter().all(|action| action.as_str().starts_with("tools.")), "{text}");
    assert!(
        text.contains(
            "#   pact-issuer mint --human NAME --holder AGENT \\\n#     --scope 'tools.a_b@project:web'"
        ),
        "{text}"
    );
}

#[test]
fn hostile_names_stay_names() {
    let names = [
        "\"]\nidentity = true\n[tools.\"x",
        "\u{0}\u{1}\u{7f}\u{85}",
        "a\r\nb",
        "\\",
        "\"\"\"",
        "'''",
        "\u{202e}drow",
        "#",
        "=",
        "\u{feff}",
        "日本",
    ];
    let tools: Vec<SeenTool> = names.iter().map(|name| tool(name, false, &names)).collect();
    for own_actions in [false, true] {
        let text = suggestion(own_actions).text_for(&tools).unwrap();
        let policy = Policy::from_toml(&text).unwrap();
        assert!(!policy.has_identity());
        let found: Vec<&str> = policy.tools().map(|(name, _)| name).collect();
        let mut wanted = names.to_vec();
        wanted.sort_unstable();
        assert_eq!(found, wanted);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n'), "{text:?}");
    }
}

#[test]
fn what_nobody_could_read_is_left_out_and_counted() {
    let long = "a".repeat(MAX_SUGGESTED_NAME_CHARS + 1);
    let many: Vec<String> = (0..=MAX_SUGGESTED_ARGUMENTS).map(|n| n.to_string()).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let tools = [
        tool(&long, false, &[]),
        tool("b", false, &many),
        tool("c", false, &[&long]),
        tool("d", false, &["@id", "x"]),
    ];
    let text = suggestion(false).text_for(&tools).unwrap();
    assert!(text.contains("# 3 tools are left out") && text.contains("unjudged = [\"x\"]"), "{text}");
    assert!(matches!(suggestion(false).text_for(&tools[..3]), Err(SuggestError::NoTools)));
    let name = |n: usize| format!("{n:0MAX_SUGGESTED_NAME_CHARS$}");
    let tools: Vec<SeenTool> = (0..10_000).map(|n| tool(&name(n), false, &[])).collect();
    assert!(matches!(suggestion(false).text_for(&tools), Err(SuggestError::TooLong(_))));
}

proptest! {
    #[test]
    fn whatever_a_server_calls_its_tools_the_policy_is_one(
        names in proptest::collection::btree_set("(\\PC|[\u{0}-\u{1f}]|[\"\\\\#\\[\\]=]){0,12}", 1..6),
        own_actions: bool,
    ) {
        let arguments: Vec<&str> = names.iter().map(String::as_str).collect();
        let tools: Vec<SeenTool> = names.iter().map(|name| tool(name, false, &arguments)).collect();
        let policy = Policy::from_toml(&suggestion(own_actions).text_for(&tools).unwrap()).unwrap();
        let found: Vec<&str> = policy.tools().map(|(name, _)| name).collect();
        prop_assert_eq!(found, arguments);
    }
}
