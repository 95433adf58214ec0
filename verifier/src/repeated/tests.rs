use proptest::prelude::*;

use super::*;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn marks(schema: &str) -> Result<Marks, MarkFault> {
    Marks::of(&json(&format!(r#"{{"name":"t","inputSchema":{schema}}}"#)))
}

/// Two plain arguments, and one inside another.
const SCHEMA: &str = r#"{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "limit":{"type":"integer","x-mcp-header":"Limit"},
    "x-mcp-header":{"type":"string"},
    "deep":{"type":"object","properties":{"dry":{"type":"boolean","x-mcp-header":"Dry-Run"}}},
    "default":{"default":{"x-mcp-header":"value"},"enum":[{"x-mcp-header":"value"}]}},
    "required":["region"]}"#;

#[test]
fn m1_a_header_repeats_the_argument_that_is_marked_with_it() {
    let (marks, arguments) = (
        marks(SCHEMA).unwrap(),
        json(r#"{"region":"eu ","limit":42,"deep":{"dry":false},"x-mcp-header":"plain"}"#),
    );
    let headers: Vec<_> = marks.headers(&arguments).collect();
    assert_eq!(
        headers,
        [
            ("mcp-param-region", "=?base64?ZXUg?=".to_owned()),
            ("mcp-param-limit", "42".to_owned()),
            ("mcp-param-dry-run", "false".to_owned()),
        ]
    );
    assert_eq!(marks.argument("mcp-param-limit", &arguments), Some(Some(&json("42"))));
    assert_eq!(marks.argument("mcp-param-other", &arguments), None);
    for without in [r#"{"region":null}"#, "{}", r#"{"region":"eu","deep":7}"#] {
        assert_eq!(marks.argument("mcp-param-dry-run", &json(without)), Some(None), "{without}");
    }
    assert_eq!(marks.headers(&json(r#"{"region":null,"limit":[1]}"#)).count(), 0);
}

#[test]
fn marks_that_lead_to_no_one_argument_count_for_nothing() {
    let marked = |schema: &str| schema.replace("MARK", r#""type":"string","x-mcp-header":"A""#);
    for (schema, wanted) in [
        ("{MARK}", MarkFault::NotReached),
        (r#"{"properties":{"a":{"items":{MARK}}}}"#, MarkFault::NotReached),
        (r#"{"properties":{"a":{"anyOf":[{"properties":{"b":{MARK}}}]}}}"#, MarkFault::NotReached),
        (r#"{"$defs":{"a":{MARK}}}"#, MarkFault::NotReached),
        (r#"{"patternProperties":{"a":{MARK}}}"#, MarkFault::NotReached),
        (r#"{"properties":{"a":{MARK},"b":{"type":"string","x-mcp-header":"a"}}}"#, MarkFault::Twice),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":""}}}"#, MarkFault::NotAToken),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":"a:b"}}}"#, MarkFault::NotAToken),
        (r#"{"properties":{"a":{"type":"string","x-mcp-header":7}}}"#, MarkFault::NotAToken),
        (r#"{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}"#, MarkFault::NotPrimitive),
        (r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#, MarkFault::NotPrimitive),
    ] {
        assert_eq!(marks(&marked(schema)), Err(wanted), "{schema}");
    }
    let many = |count| {
        let properties =
            (0..count).map(|at| format!(r#""a{at}":{{"type":"string","x-mcp-header":"A{at}"}}"#));
        format!(r#"{{"properties":{{{}}}}}"#, properties.collect::<Vec<_>>().join(","))
    };
    let most = crate::limits::MAX_PARAM_MARKS;
    assert!(marks(&many(most)).is_ok());
    assert_eq!(marks(&many(most + 1)), Err(MarkFault::TooMany));
    assert_eq!(Marks::of(&json(r#"{"name":"t"}"#)), Ok(Marks::default()));
}

#[test]
fn m1_numbers_are_compared_as_numbers_and_all_else_as_it_is() {
    for (value, argument) in [
        ("42", "42"),
        ("42.0", "42"),
        ("4.2e1", "42"),
        ("9007199254740993", "9007199254740993"),
        ("=?base64?NDI=?=", "42"),
        ("true", "true"),
        ("=?base64?dHJ1ZQ==?=", "\"true\""),
        ("", "\"\""),
    ] {
        assert!(repeats(value, &json(argument)), "{value} {argument}");
    }
    for (value, argument) in [
        ("42", "43"),
        ("042", "42"),
        ("+42", "42"),
        ("0x2a", "42"),
        (" 42", "42"),
        ("", "0"),
        ("9007199254740992", "9007199254740993"),
        ("9007199254740993", "9007199254740992"),
        ("True", "true"),
        ("1", "true"),
        ("null", "null"),
        ("[]", "[]"),
        ("A", "\"a\""),
        ("=?base64?!!?=", "\"=?base64?!!?=\""),
    ] {
        assert!(!repeats(value, &json(argument)), "{value} {argument}");
    }
}

#[test]
fn a_text_that_a_header_would_change_is_wrapped() {
    for (text, wanted) in [
        ("read_file", "read_file"),
        ("read file", "read file"),
        (" x", "=?base64?IHg=?="),
        ("ä", "=?base64?w6Q=?="),
        ("a\nb", "=?base64?YQpi?="),
        ("=?base64?eA==?=", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="),
    ] {
        assert_eq!(wrap(text), wanted, "{text}");
    }
}

proptest! {
    #[test]
    fn m1_what_is_written_for_an_argument_repeats_it_and_no_other(text in ".{0,12}", other in ".{0,12}", number: i64) {
        let (text, other) = (Json::String(text), Json::String(other));
        let value = of_argument(&text).unwrap();
        prop_assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)));
        prop_assert!(repeats(&value, &text));
        prop_assert_eq!(repeats(&value, &other), text == other);
        let number = Json::Number(Number::from_i64(number));
        prop_assert!(repeats(&of_argument(&number).unwrap(), &number));
    }
}
