use super::*;

const EXAMPLE: &str = r#"
[tools.read_file]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { arg = "cost", default = 0.5 } }
unjudged = ["path"]
"#;

fn policy(text: &str) -> Policy {
    Policy::from_toml(text).unwrap()
}

fn asked(tool: &str, arguments: &str) -> Asked {
    let arguments = Json::parse(arguments.as_bytes()).unwrap();
    Asked { tool: tool.to_owned(), arguments, params: [0; 32] }
}

fn judged(policy: &Policy, tool: &str, arguments: &str) -> Result<String, &'static str> {
    let call = policy.judge(asked(tool, arguments)).map_err(|fault| fault.code())?;
    policy.permits(&call).unwrap();
    let shown = call.judged.arguments.iter().map(|(name, value)| {
        let mut text = Vec::new();
        pact_mandate::canonical::write(value, &mut text).unwrap();
        format!(" {name}={}", String::from_utf8(text).unwrap())
    });
    Ok(format!("{}{}", call.judged.action, shown.collect::<String>()))
}

#[test]
fn each_argument_comes_from_where_the_policy_says() {
    let policy = policy(EXAMPLE);
    let all = judged(&policy, "read_file", r#"{"path":"/a","cost":2}"#);
    assert_eq!(all.unwrap(), r#"task.read cost_usd=2 project="web""#);
    assert_eq!(judged(&policy, "read_file", "{}").unwrap(), r#"task.read cost_usd=0.5 project="web""#);
    let null = judged(&policy, "read_file", r#"{"cost":null}"#);
    assert_eq!(null.unwrap(), r#"task.read cost_usd=null project="web""#, "null was sent, so no default");
}

#[test]
fn what_is_not_named_is_refused() {
    let policy = policy(EXAMPLE);
    assert_eq!(judged(&policy, "write_file", "{}"), Err("tool_not_mapped"));
    assert_eq!(judged(&policy, "read_file", r#"{"mode":"rw"}"#), Err("argument_not_named"));
    assert_eq!(judged(&policy, "read_file", r#"{"cost_usd":1}"#), Err("argument_not_named"));
    assert_eq!(judged(&policy, "read_file", r#"{"project":"shop"}"#), Err("argument_not_named"));
    assert_eq!(judged(&policy, "read_file", "[]"), Err("arguments_not_object"));
    assert_eq!(judged(&policy, "task.read", "{}"), Err("tool_not_mapped"), "an action is no tool");
}

#[test]
fn p2_raw_arguments_that_begin_with_an_at_sign_are_refused_everywhere() {
    let named = policy(&format!("identity = true\n{EXAMPLE}"));
    for tool in ["read_file", "anything"] {
        for name in ["@tool", "@aud", "@id", "@iat", "@params", "@", "@new"] {
            let arguments = format!(r#"{{"{name}":1}}"#);
            assert_eq!(judged(&named, tool, &arguments), Err("argument_reserved"), "{tool} {name}");
        }
    }
}

#[test]
fn the_identity_judges_each_tool_by_its_own_name() {
    let policy = Policy::identity().unwrap();
    let call = judged(&policy, "task.read", r#"{"project":"web","cost":1}"#);
    assert_eq!(call.unwrap(), r#"task.read cost=1 project="web""#);
    for pattern in ["*", "task.*", "a b", "a@b", ""] {
        assert_eq!(judged(&policy, pattern, "{}"), Err("tool_not_mapped"), "{pattern}");
    }
}

#[test]
fn a_call_that_another_policy_judged_is_not_permitted() {
    let lenient = Policy::identity().unwrap();
    let strict = policy(EXAMPLE);
    let call = lenient.judge(asked("read_file", r#"{"cost":1}"#)).unwrap();
    assert_eq!(strict.permits(&call), Err(PolicyFault::JudgedOtherwise));
    let good = strict.judge(asked("read_file", r#"{"cost":1}"#)).unwrap();
    assert_eq!(strict.permits(&good), Ok(()));
    let mut cheaper = good.clone();
    cheaper.judged.arguments.remove("cost_usd");
    assert_eq!(strict.permits(&cheaper), Err(PolicyFault::JudgedOtherwise));
    let mut other = good;
    other.judged.action = "task.write".parse().unwrap();
    assert_eq!(strict.permits(&other), Err(PolicyFault::JudgedOtherwise));
}

#[test]
fn p3_stock_proofs_count_only_where_the_file_says_so() {
    assert!(!policy(EXAMPLE).takes_stock_proofs());
    assert!(policy(&format!("stock_proofs = true\n{EXAMPLE}")).takes_stock_proofs());
}

#[test]
fn a_file_with_a_slip_is_refused_whole_and_says_where() {
    let cases = [
        ("", "maps no tool"),
        ("[tools.a]\nactoin = 'x'", "tools.a.action is missing"),
        ("[tools.a]\naction = 'x'\nunjugded = ['p']", "did you mean unjudged?"),
        ("[tools.a]\naction = 'x'\nproject = { arg = 'p', defualt = 'w' }", "did you mean default?"),
        ("[tools.a]\naction = 'x'\nproject = { const = 'p', default = 'w' }", "to stand alone"),
        ("[tools.a]\naction = 'x'\nproject = { const = 'p', arg = 'w' }", "to stand alone"),
        ("[tools.a]\naction = 'x'\nproject = {}", "tools.a.project.arg is missing"),
        ("[tools.a]\naction = 'x'\nproject = 'web'", "tools.a.project wants a table"),
        ("[tools.a]\naction = 'task.*'", "without '*'"),
        (
            "[tools.a]\naction = 'x'\nproject = { const = 'p' }\nargs = { project = { arg = 'q' } }",
            "not given yet",
        ),
        ("[tools.a]\naction = 'x'\nargs = { '@id' = { arg = 'q' } }", "does not begin with '@'"),
        ("[tools.a]\naction = 'x'\nargs = { q = { arg = 'q' } }\nunjudged = ['q']", "choose one"),
        ("[tools.a]\naction = 'x'\nargs = { q = { const = 1979-05-27 } }", "a text, a number"),
        ("[tools.a]\naction = 'x'\nargs = { q = { const = inf } }", "a text, a number"),
        ("[tools.a]\naction = 'x'\nargs = { q = { const = 9007199254740993 } }", "more digits"),
        ("[tools]\na = 1", "tools.a wants a table"),
        ("identty = true", "did you mean identity?"),
    ];
    for (text, says) in cases {
        let error = Policy::from_toml(text).unwrap_err().to_string();
        assert!(error.contains(says), "{text}: {error}");
    }
}

#[test]
fn the_digest_is_equal_exactly_for_what_judges_alike() {
    let digest = |text: &str| *policy(text).digest();
    let reordered = "[tools.read_file]\nunjudged = ['path']\nargs = { cost_usd = { default = 0.5, arg = 'cost' } }\n\
                     project = { const = 'web' }\naction = 'task.read'";
    assert_eq!(digest(EXAMPLE), digest(reordered));
    let others = [
        EXAMPLE.replace("web", "shop"),
        EXAMPLE.replace("0.5", "0.25"),
        EXAMPLE.replace("task.read", "task.list"),
        EXAMPLE.replace("\"path\"", "\"path\", \"mode\""),
        format!("identity = true\n{EXAMPLE}"),
        format!("stock_proofs = true\n{EXAMPLE}"),
    ];
    for other in others {
        assert_ne!(digest(EXAMPLE), digest(&other), "{other}");
    }
}

#[test]
fn nesting_without_end_is_refused_and_not_followed() {
    let deep = format!("[tools.a]\naction = 'x'\nproject = {{ const = {} }}", "[".repeat(100_000));
    assert!(Policy::from_toml(&deep).is_err());
    let dotted = format!("{}a = 1", "a.".repeat(100_000));
    assert!(Policy::from_toml(&dotted).is_err());
}

proptest::proptest! {
    #[test]
    fn whatever_text_comes_as_a_policy_is_answered(text in "(\\PC|\n|\\[tools\\.a\\]\n|action = 'x'\n|args = |\\{ arg = ){0,40}") {
        let _ = Policy::from_toml(&text);
    }
}

mod listed;
mod methods;
mod values;
