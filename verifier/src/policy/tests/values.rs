//! Tables of values, prefixes, rules, and the values of limits.

use super::*;

const FILES: &str = r#"
[limits]
runs = 1
cost_usd = 0.5

[tools.write]
action = "task.work"
project = { arg = "path", prefix = { "/srv" = "all", "/srv/web" = "web", "/srv/docs" = "docs" } }
rules = { mode = { one_of = ["append", "replace", 7, true] }, size = { max = 10.5, optional = true } }
unjudged = ["mode", "size"]

[tools.move]
action = "task.work"
project = { arg = ["from", "to"], prefix = { "/srv/web" = "web", "/srv/docs" = "docs" } }

[tools.read_all]
action = "task.read"
project = { arg = "paths", each = true, prefix = { "/srv/web" = "web", "/srv/docs" = "docs" } }

[tools.deploy]
action = "task.work"
project = { arg = "env", values = { prod = "web-prod", dev = "web" }, default = "web" }
args = { tier = { arg = "tier", values = { small = 1, large = 2 } } }
rules = { dir = { prefix = ["/tmp/a", "/tmp/b"] } }
unjudged = ["dir"]
"#;

fn shown(tool: &str, arguments: &str) -> String {
    judged(&policy(FILES), tool, arguments).unwrap_or_else(str::to_owned)
}

#[test]
fn m1_a_value_that_the_table_does_not_list_is_refused() {
    for (arguments, wanted) in [
        (r#"{"dir":"/tmp/a","env":"prod","tier":"small"}"#, r#"task.work project="web-prod" tier=1"#),
        (r#"{"dir":"/tmp/b/c","env":"dev"}"#, r#"task.work project="web""#),
        (r#"{"dir":"/tmp/a"}"#, r#"task.work project="web""#),
        (r#"{"dir":"/tmp/a","env":"Prod"}"#, "value_not_mapped"),
        (r#"{"dir":"/tmp/a","env":"web-prod"}"#, "value_not_mapped"),
        (r#"{"dir":"/tmp/a","env":null}"#, "value_not_mapped"),
        (r#"{"dir":"/tmp/a","env":["prod"]}"#, "value_not_mapped"),
        (r#"{"dir":"/tmp/a","tier":1}"#, "value_not_mapped"),
        (r#"{"dir":"/tmp/ab"}"#, "argument_outside"),
        (r#"{"dir":"/tmp"}"#, "argument_outside"),
        (r#"{"dir":7}"#, "argument_outside"),
        (r#"{"dir":"/tmp/a/../b"}"#, "path_not_plain"),
        ("{}", "argument_missing"),
    ] {
        assert_eq!(shown("deploy", arguments), wanted, "{arguments}");
    }
}

#[test]
fn m1_the_longest_prefix_of_whole_segments_chooses_the_project() {
    for (path, wanted) in [
        ("/srv/web/a", r#"task.work project="web""#),
        ("/srv/web", r#"task.work project="web""#),
        ("/srv/docs/a/b", r#"task.work project="docs""#),
        ("/srv/webs/a", r#"task.work project="all""#),
        ("/etc/passwd", "value_not_mapped"),
        ("/srv/web/../docs/a", "path_not_plain"),
        ("/srv/web/./a", "path_not_plain"),
        ("/srv//web/a", "path_not_plain"),
        ("/srv/web/", "path_not_plain"),
        ("/srv/web\\\\..\\\\docs", "path_not_plain"),
        ("/srv/web/%2e%2e/docs", "path_not_plain"),
        ("/srv/web/a\\u0000", "path_not_plain"),
        ("/srv/WEB/a", "path_not_plain"),
        ("", "path_not_plain"),
    ] {
        assert_eq!(shown("write", &format!(r#"{{"path":"{path}","mode":"append"}}"#)), wanted, "{path}");
    }
    assert_eq!(shown("write", r#"{"path":["/srv/web/a"],"mode":"append"}"#), "path_not_plain");
    assert_eq!(
        shown("write", r#"{"mode":"append"}"#),
        "task.work",
        "no path, no project: the ladder refuses it"
    );
}

#[test]
fn m1_rules_are_exact() {
    let with = |more: &str| shown("write", &format!(r#"{{"path":"/srv/web/a",{more}}}"#));
    let permitted = r#"task.work project="web""#;
    for good in [r#""mode":"append""#, r#""mode":7"#, r#""mode":true"#, r#""mode":"append","size":10.5"#] {
        assert_eq!(with(good), permitted, "{good}");
    }
    assert_eq!(with(r#""mode":"append","size":0"#), permitted);
    assert_eq!(with(r#""mode":"append","size":1.05e1"#), permitted);
    for bad in [
        r#""mode":"Append""#,
        r#""mode":"7""#,
        r#""mode":7.0"#,
        r#""mode":null"#,
        r#""mode":["append"]"#,
        r#""mode":"append","size":10.5000000001"#,
        r#""mode":"append","size":11"#,
        r#""mode":"append","size":-1"#,
        r#""mode":"append","size":1e400"#,
        r#""mode":"append","size":"3""#,
        r#""mode":"append","size":null"#,
    ] {
        assert_eq!(with(bad), "argument_outside", "{bad}");
    }
    assert_eq!(shown("write", r#"{"path":"/srv/web/a"}"#), "argument_missing");
}

#[test]
fn m1_arguments_that_choose_a_project_together_must_agree() {
    for (tool, arguments, wanted) in [
        ("move", r#"{"from":"/srv/web/a","to":"/srv/web/b"}"#, r#"task.work project="web""#),
        ("move", r#"{"from":"/srv/web/a","to":"/srv/docs/b"}"#, "arguments_differ"),
        ("move", r#"{"from":"/srv/web/a","to":"/etc/b"}"#, "value_not_mapped"),
        ("move", r#"{"from":"/srv/web/a"}"#, "argument_missing"),
        ("read_all", r#"{"paths":["/srv/web/a","/srv/web/b"]}"#, r#"task.read project="web""#),
        ("read_all", r#"{"paths":["/srv/web/a","/srv/docs/b"]}"#, "arguments_differ"),
        ("read_all", r#"{"paths":["/srv/web/a",7]}"#, "path_not_plain"),
        ("read_all", r#"{"paths":[]}"#, "argument_outside"),
        ("read_all", r#"{"paths":"/srv/web/a"}"#, "argument_outside"),
    ] {
        assert_eq!(shown(tool, arguments), wanted, "{arguments}");
    }
}

#[test]
fn the_value_of_a_limit_is_stated_where_the_credential_sets_one_and_the_tool_does_not_say() {
    let policy = policy(&FILES.replace(
        "[tools.move]",
        "[tools.ask]\naction = \"a\"\nargs = { runs = { arg = \"n\" } }\n[tools.move]",
    ));
    let limited = |tool: &str, arguments: &str, keys: &[&str]| {
        let call = policy.judge(asked(tool, arguments)).unwrap();
        let judged = policy.with_limits(tool, &call.judged, &Open::nothing(), keys);
        judged
            .map(|judged| judged.arguments.keys().cloned().collect::<Vec<_>>())
            .map_err(|fault| fault.to_string())
    };
    let web = r#"{"from":"/srv/web/a","to":"/srv/web/a"}"#;
    assert_eq!(limited("move", web, &["project"]).unwrap(), ["project"]);
    assert_eq!(limited("move", web, &["project", "runs"]).unwrap(), ["project", "runs"]);
    let refused = limited("move", web, &["turns"]).unwrap_err();
    assert!(refused.contains("limits turns") && refused.contains("turns = … to [limits]"), "{refused}");
    let refused = limited("move", web, &["task_id"]).unwrap_err();
    assert!(refused.contains("task_id = { arg = … }"), "{refused}");
    // An argument of the tool's own that the caller left out says nothing: absence never means yes.
    assert_eq!(limited("ask", "{}", &["runs"]).unwrap(), Vec::<String>::new());
    assert_eq!(limited("ask", r#"{"n":3}"#, &["runs"]).unwrap(), ["runs"]);
}

#[test]
fn the_task_is_stated_for_tools_that_know_none_and_a_named_task_is_not_met_by_it() {
    let policy = policy("[limits]\ntask_id = ''\n[tools.t]\naction = 'a'\nproject = { const = 'web' }");
    let call = policy.judge(asked("t", "{}")).unwrap();
    let stated = policy.with_limits("t", &call.judged, &Open::nothing(), &["project", "task_id"]).unwrap();
    assert_eq!(stated.arguments.get("task_id").and_then(Json::as_str), Some(""));
    let unlimited = policy.with_limits("t", &call.judged, &Open::nothing(), &["project"]).unwrap();
    assert!(!unlimited.arguments.contains_key("task_id"), "a value that no credential names is not stated");
}

#[test]
fn a_limit_that_the_file_fixes_is_no_argument_of_a_tool_that_is_judged_by_its_own_name() {
    let policy = policy("identity = true\n[limits]\nruns = 1");
    assert_eq!(judged(&policy, "task.read", r#"{"runs":1}"#), Err("argument_fixed"));
    assert_eq!(judged(&policy, "task.read", r#"{"turns":1}"#).unwrap(), "task.read turns=1");
    let call = policy.judge(asked("task.read", "{}")).unwrap();
    let stated = policy.with_limits("task.read", &call.judged, &Open::nothing(), &["runs", "turns"]).unwrap();
    assert_eq!(stated.arguments.keys().collect::<Vec<_>>(), ["runs"]);
}

#[test]
fn a_rule_or_source_with_a_slip_is_refused_and_says_where() {
    let tool = |more: &str| format!("[tools.a]\naction = 'x'\n{more}");
    for (text, says) in [
        (tool("rules = { mdoe = { one_of = ['a'] } }\nunjudged = ['mode']"), "did you mean mode?"),
        (tool("rules = { mode = { one_of = ['a'] } }"), "neither judges nor lets pass"),
        (
            tool("rules = { mode = {} }\nunjudged = ['mode']"),
            "tools.a.rules.mode.one_of, max or prefix is missing",
        ),
        (tool("rules = { mode = { oneof = ['a'] } }\nunjudged = ['mode']"), "is missing"),
        (
            tool("rules = { mode = { one_of = ['a'], eahc = true } }\nunjudged = ['mode']"),
            "did you mean each?",
        ),
        (tool("rules = { mode = { one_of = [] } }\nunjudged = ['mode']"), "a list of texts"),
        (tool("rules = { mode = { one_of = [1.5] } }\nunjudged = ['mode']"), "a list of texts"),
        (tool("rules = { mode = { one_of = [['a']] } }\nunjudged = ['mode']"), "a text, a number"),
        (tool("rules = { n = { max = -1 } }\nunjudged = ['n']"), "a decimal from 0"),
        (tool("rules = { n = { max = 0.0000001 } }\nunjudged = ['n']"), "a decimal from 0"),
        (tool("rules = { n = { max = 1234567890.1234567 } }\nunjudged = ['n']"), "a long one as a text"),
        (tool("rules = { n = { max = inf } }\nunjudged = ['n']"), "a decimal from 0"),
        (tool("rules = { p = { prefix = '/srv/' } }\nunjudged = ['p']"), "no slash at the end"),
        (tool("rules = { p = { prefix = [] } }\nunjudged = ['p']"), "plain paths"),
        (tool("project = { arg = 'p', prefix = { '/a/..' = 'web' } }"), "plain paths"),
        (tool("project = { arg = 'p', prefix = {} }"), "a table of texts"),
        (
            tool("project = { arg = 'p', values = { a = 'web' }, prefix = { '/a' = 'web' } }"),
            "without prefix",
        ),
        (tool("project = { arg = 'p', values = { a = 'Web!' } }"), "projects of a-z"),
        (tool("project = { arg = 'p', default = 'Web!' }"), "projects of a-z"),
        (tool("project = { const = 7 }"), "projects of a-z"),
        (tool("project = { arg = [] }"), "the name of an argument"),
        (tool("project = { const = 'web', values = { a = 'web' } }"), "to stand alone"),
        (tool("project = { const = 'web', each = true }"), "to stand alone"),
        (tool("args = { q = { arg = 'q', values = { a = ['b'] } } }"), "a text, a number"),
        ("identity = true\n[limits]\nproject = 'web'".to_owned(), "the name of a limit"),
        ("identity = true\n[limits]\n'a b' = 1".to_owned(), "the name of a limit"),
        ("identity = true\n[limits]\ntask_id = 1".to_owned(), "a text"),
        ("identity = true\n[limits]\nruns = [1]".to_owned(), "a text, a number"),
        ("identity = true\nlist_without_credential = 'some'".to_owned(), "\"none\" or \"all\""),
        (
            "identity = true\nlist_without_credentail = 'all'".to_owned(),
            "did you mean list_without_credential?",
        ),
    ] {
        let error = Policy::from_toml(&text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn the_digest_covers_every_part() {
    let digest = |text: &str| *policy(text).digest();
    let more = format!("list_without_credential = 'none'\n{FILES}");
    assert_eq!(digest(FILES), digest(&more));
    let methods = "[methods]\nopen = ['ping', 'notifications/initialized', 'notifications/cancelled', 'initialize', \
                   'notifications/progress', 'notifications/roots/list_changed', 'server/discover', 'tools/list']";
    assert_eq!(digest(FILES), digest(&format!("{FILES}{methods}")), "what is open by default, written out");
    let others = [
        FILES.replace("runs = 1", "runs = 2"),
        FILES.replace("[limits]\nruns = 1", "[limits]"),
        FILES.replace("\"/srv/docs\" = \"docs\"", "\"/srv/doc\" = \"docs\""),
        FILES.replace("\"append\", ", ""),
        FILES.replace("10.5", "10.6"),
        FILES.replace(", optional = true", ""),
        FILES.replace("each = true, ", ""),
        FILES.replace("[\"from\", \"to\"]", "[\"from\"]"),
        FILES.replace("prod = \"web-prod\"", "prod = \"web\""),
        FILES.replace("[\"/tmp/a\", \"/tmp/b\"]", "[\"/tmp/a\"]"),
        format!("list_without_credential = 'all'\n{FILES}"),
        format!("{FILES}[methods]\nopen = []"),
        format!("{FILES}[methods.\"x/y\"]\naction = 'task.read'"),
    ];
    for other in others {
        assert_ne!(digest(FILES), digest(&other), "{other}");
    }
}

proptest::proptest! {
    /// Whatever is sent, a project comes out only where every path that was sent lies below one of its prefixes.
    #[test]
    fn m1_no_path_outside_a_projects_prefixes_is_judged_as_that_project(
        from in "/(srv|web|docs|\\.\\.|\\.||%2e|x){0,2}(/(srv|web|docs|\\.\\.|\\.||a\\\\\\\\b|WEB|x)){0,4}",
        to in "(/srv/web|/srv/docs|/srv)(/(\\.\\.|web|x)){0,2}",
    ) {
        let policy = policy(FILES);
        let arguments = format!(r#"{{"from":"{from}","to":"{to}"}}"#);
        if let Ok(call) = judged(&policy, "move", &arguments) {
            let project = call.split('"').nth(1).unwrap();
            for path in [&from, &to] {
                let mut resolved: Vec<&str> = Vec::new();
                for segment in path.split('/') {
                    match segment {
                        "" | "." => {}
                        ".." => { resolved.pop(); }
                        segment => resolved.push(segment),
                    }
                }
                proptest::prop_assert!(resolved.starts_with(&["srv", project]), "{} as {}", path, call);
            }
        }
    }
}
