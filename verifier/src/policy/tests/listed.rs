//! What is known of a tool's calls before one is made.

use super::*;

const TOOLS: &str = r#"
[tools.fixed]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { const = 3 }, size = { arg = "size" }, tier = { arg = "tier", default = 1 } }

[tools.chosen]
action = "task.work"
project = { arg = "path", prefix = { "/a" = "web", "/b" = "web", "/c" = "docs" }, default = "shop" }

[tools.asked]
action = "task.work"
project = { arg = "project" }
"#;

fn prospects(policy: &Policy, tool: &str) -> Vec<String> {
    let shown = |prospect: prospect::Prospect| {
        let known: Vec<&str> = prospect.judged.arguments.keys().map(String::as_str).collect();
        let project = prospect.judged.arguments.get("project").and_then(Json::as_str);
        let open: Vec<&str> =
            ["project", "size", "tier"].into_iter().filter(|name| prospect.open.has(name)).collect();
        format!("{} {known:?} {project:?} open {open:?}", prospect.judged.action)
    };
    policy.prospects(tool).into_iter().map(shown).collect()
}

#[test]
fn constants_are_known_and_arguments_are_open() {
    let own = policy(TOOLS);
    assert_eq!(
        prospects(&own, "fixed"),
        [r#"task.read ["cost_usd", "project"] Some("web") open ["size", "tier"]"#]
    );
    assert_eq!(prospects(&own, "asked"), [r#"task.work [] None open ["project"]"#]);
    let chosen = prospects(&own, "chosen");
    assert_eq!(chosen.len(), 3, "each project once: {chosen:?}");
    for project in ["web", "docs", "shop"] {
        assert!(
            chosen.contains(&format!(r#"task.work ["project"] Some("{project}") open []"#)),
            "{chosen:?}"
        );
    }
    assert_eq!(prospects(&own, "unmapped"), Vec::<String>::new());
    let identity = policy(&format!("identity = true\n{TOOLS}"));
    assert_eq!(prospects(&identity, "task.any"), [r#"task.any [] None open ["project", "size", "tier"]"#]);
    assert!(prospects(&identity, "task.*").is_empty());
}

#[test]
fn a_tool_says_where_its_project_comes_from() {
    let policy = policy(TOOLS);
    let text = |tool: &str| {
        let mut text = Vec::new();
        pact_mandate::canonical::write(&policy.project_of(tool).unwrap(), &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    assert_eq!(text("fixed"), r#"{"const":"web"}"#);
    assert_eq!(text("asked"), r#"{"arg":"project"}"#);
    assert_eq!(
        text("chosen"),
        r#"{"arg":"path","default":"shop","prefix":{"/a":"web","/b":"web","/c":"docs"}}"#
    );
    assert!(policy.project_of("unmapped").is_none());
}
