//! Methods that get through, and those that are calls of their own.

use super::*;

const METHODS: &str = r#"
[tools.read]
action = "task.read"
project = { const = "web" }

[methods."resources/read"]
action = "task.read"
project = { arg = "uri", prefix = { "file:///srv/web" = "web" } }

[methods."prompts/get"]
action = "task.read"
project = { const = "web" }
unjudged = ["name", "arguments"]
"#;

fn method(policy: &Policy, method: &str, params: &str) -> Result<String, &'static str> {
    let call = policy.judge_method(asked(method, params)).map_err(|fault| fault.code())?;
    policy.permits(&call).unwrap();
    Ok(format!("{} {:?}", call.judged.action, call.judged.arguments.get("project").and_then(Json::as_str)))
}

#[test]
fn m1_only_what_is_open_or_mapped_gets_through() {
    let own = policy(METHODS);
    for name in ["initialize", "ping", "server/discover", "tools/list", "notifications/initialized"] {
        assert_eq!(own.door(name), Door::Open, "{name}");
    }
    for name in ["resources/read", "prompts/get"] {
        assert_eq!(own.door(name), Door::Judged, "{name}");
    }
    for name in
        ["resources/list", "tasks/get", "Ping", "tools/call", "completion/complete", "x", "notifications/x"]
    {
        assert_eq!(own.door(name), Door::Closed, "{name}");
    }
    let shut = policy(&format!("{METHODS}\n[methods]\nopen = [\"initialize\", \"logging/setLevel\"]"));
    assert_eq!(shut.door("logging/setLevel"), Door::Open);
    assert_eq!((shut.door("ping"), shut.door("tools/list")), (Door::Closed, Door::Closed));
    assert_eq!(shut.door("resources/read"), Door::Judged);
}

#[test]
fn m1_a_method_is_judged_by_its_params() {
    let policy = policy(METHODS);
    let read = |params: &str| method(&policy, "resources/read", params);
    assert_eq!(read(r#"{"uri":"file:///srv/web/a"}"#).unwrap(), r#"task.read Some("web")"#);
    assert_eq!(read(r#"{"uri":"file:///etc/passwd"}"#), Err("value_not_mapped"));
    assert_eq!(read(r#"{"uri":"file:///srv/web/../a"}"#), Err("path_not_plain"));
    assert_eq!(read(r#"{"uri":"file:///srv/web/a","more":1}"#), Err("argument_not_named"));
    assert_eq!(
        method(&policy, "prompts/get", r#"{"name":"x","arguments":{}}"#).unwrap(),
        r#"task.read Some("web")"#
    );
    assert_eq!(method(&policy, "resources/list", "{}"), Err("tool_not_mapped"));
}

#[test]
fn m1_a_tool_is_no_method_and_a_method_is_no_tool() {
    let with_identity = policy(&format!("identity = true\n{METHODS}"));
    assert_eq!(
        judged(&with_identity, "resources/read", r#"{"uri":"file:///srv/web/a"}"#),
        Err("tool_not_mapped")
    );
    assert_eq!(method(&with_identity, "read", "{}"), Err("tool_not_mapped"));
    assert_eq!(method(&with_identity, "anything", "{}"), Err("tool_not_mapped"));
    assert!(with_identity.prospects("resources/read").is_empty(), "a method is not listed among tools");
    let both = format!("{METHODS}\n[tools.\"prompts/get\"]\naction = \"a\"");
    assert!(Policy::from_toml(&both).unwrap_err().to_string().contains("is a tool and a method"));
}

#[test]
fn a_table_of_methods_with_a_slip_is_refused_and_says_where() {
    for (text, says) in [
        ("[methods]\nopen = ['tools/call']", "methods.open wants a list of methods, without tools/call"),
        ("[methods]\nopen = 'ping'", "methods.open wants"),
        ("[methods]\nopen = ['resources/read']", "and those that have a table"),
        ("[methods.\"tools/list\"]\naction = 'x'", "no tools/"),
        ("[methods.\"notifications/x\"]\naction = 'x'", "no notification"),
        ("[methods]\nopne = ['ping']", "methods.opne wants a table"),
        ("[methods.\"x/y\"]\nactoin = 'x'", "methods.x/y.action is missing"),
        ("[methods.\"x/y\"]\naction = 'x'\nunjugded = []", "did you mean unjudged?"),
    ] {
        let error = Policy::from_toml(&format!("{METHODS}\n{text}")).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}
