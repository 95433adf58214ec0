use proptest::prelude::*;

use super::*;

fn fault(text: impl AsRef<[u8]>) -> JsonFault {
    Json::parse(text.as_ref()).unwrap_err().fault
}

fn number(text: &str) -> Json {
    Json::Number(Number::from_text(text).unwrap())
}

#[test]
fn every_kind_of_value_is_read() {
    let value =
        Json::parse(br#" { "a" : [ null , true , false , -1.50e+3 ] , "b" : "x" , "c" : { } , "d" : [ ] } "#);
    let value = value.unwrap();
    let Some(Json::Array(items)) = value.get("a") else { panic!("{value:?}") };
    assert_eq!(items, &[Json::Null, Json::Bool(true), Json::Bool(false), number("-1.50e+3")]);
    assert_eq!(value.get("b").unwrap().as_str(), Some("x"));
    assert_eq!(value.get("c"), Some(&Json::Object(vec![])));
    assert_eq!(value.get("d"), Some(&Json::Array(vec![])));
    assert_eq!(value.get("e"), None);
}

#[test]
fn a_member_knows_where_it_stood() {
    let text = br#"{"a":1, "b" : [2] ,"c":"x"}"#;
    let value = Json::parse(text).unwrap();
    let spans: Vec<&[u8]> =
        value.members().unwrap().iter().map(|member| &text[member.span.clone()]).collect();
    assert_eq!(spans, [&br#""a":1"#[..], br#""b" : [2]"#, br#""c":"x""#]);
}

#[test]
fn escapes_are_undone() {
    let value = Json::parse(br#""\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00""#).unwrap();
    assert_eq!(value.as_str(), Some("\"\\/\u{8}\u{c}\n\r\tA\u{e9}\u{1f600}"));
}

#[test]
fn a_text_that_is_not_json_is_refused() {
    let texts = [
        "nul_",
        "True",
        "NaN",
        "Infinity",
        "-Infinity",
        "'a'",
        "{a:1}",
        "{'a':1}",
        "[1,]",
        "{\"a\":1,}",
        "[,1]",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":1 \"b\":2}",
        "{1:2}",
        "01",
        "-01",
        "00",
        "+1",
        ".5",
        "1.e1",
        "1.x",
        "-x",
        "1ex",
        "1e+x",
        "0x10]",
        "// a\n1",
        "/* a */1",
        "\"a\nb\"",
        "\"\t\"",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\ué123\"",
        "\u{a0}1",
        "}",
        "]",
        ",",
        ":",
    ];
    for text in texts {
        let found = fault(text);
        assert!(matches!(found, JsonFault::Syntax | JsonFault::Trailing), "{text}: {found}");
    }
}

#[test]
fn a_text_that_ends_early_is_refused() {
    for text in [
        "",
        " ",
        "{",
        "{\"a",
        "{\"a\"",
        "{\"a\":",
        "{\"a\":1",
        "{\"a\":1,",
        "[",
        "[1",
        "[1,",
        "\"",
        "\"\\",
        "\"\\u12",
        "t",
        "nul",
        "-",
        "1.",
        "1e",
        "1e-",
    ] {
        assert_eq!(fault(text), JsonFault::Truncated, "{text}");
    }
}

#[test]
fn text_after_the_value_is_refused() {
    for text in ["1 2", "{}{}", "null,", "[]]", "\"a\"b", "0 \0", "1\u{a0}"] {
        assert_eq!(fault(text), JsonFault::Trailing, "{text}");
    }
    assert!(Json::parse(b"\t\r\n 1 \t\r\n").is_ok());
}

#[test]
fn other_encodings_are_refused() {
    assert_eq!(fault(b"\xef\xbb\xbf{}"), JsonFault::ByteOrderMark);
    assert_eq!(fault(b"\xff\xfe{\0}\0"), JsonFault::NotUtf8);
    assert_eq!(fault(b"\xfe\xff\0{\0}"), JsonFault::NotUtf8);
    assert_eq!(fault(b"{\0}\0"), JsonFault::Syntax);
    assert_eq!(fault(b"\0{\0}"), JsonFault::Syntax);
    let overlong_quote = b"\"\xc0\xa2\"";
    let surrogate = b"\"\xed\xa0\x80\"";
    for text in [&overlong_quote[..], surrogate, b"\"\xf4\x90\x80\x80\"", b"\"\x80\"", b"\"\xc3\""] {
        assert_eq!(Json::parse(text).unwrap_err(), JsonError { fault: JsonFault::NotUtf8, at: 1 });
    }
}

#[test]
fn half_a_surrogate_pair_is_refused() {
    for text in [
        r#""\ud800""#,
        r#""\udc00""#,
        r#""\ud800a""#,
        r#""\ud800\u0041""#,
        r#""\ud800\ud800""#,
        r#""\udc00\ud800""#,
        r#""\ud83d\n""#,
    ] {
        assert_eq!(fault(text), JsonFault::LoneSurrogate, "{text}");
    }
}

#[test]
fn a_member_named_twice_is_refused_however_it_is_spelt() {
    for text in [r#"{"a":1,"a":1}"#, r#"{"a":1,"\u0061":2}"#, r#"{"b":{"a":1,"a":2}}"#, r#"[{"":1,"":2}]"#] {
        assert_eq!(fault(text), JsonFault::DuplicateMember, "{text}");
    }
    // Case and normal form make different names.
    assert!(Json::parse("{\"a\":1,\"A\":1,\"\u{e9}\":1,\"e\u{301}\":1}".as_bytes()).is_ok());
}

#[test]
fn a_member_named_twice_is_found_in_an_object_of_any_size() {
    for size in [2_usize, 15, 16, 17, 18, 500] {
        for twin in [0, (size - 1) / 2, size - 2] {
            let name = |at: usize| if at == size - 1 { twin } else { at };
            let members: Vec<String> = (0..size).map(|at| format!("\"m{}\":0", name(at))).collect();
            assert_eq!(
                fault(format!("{{{}}}", members.join(","))),
                JsonFault::DuplicateMember,
                "{size} {twin}"
            );
            assert!(Json::parse(format!("{{{}}}", members[..size - 1].join(",")).as_bytes()).is_ok());
        }
    }
}

#[test]
fn nesting_is_bounded() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let nested = |depth: usize| format!("{}1{}", open.repeat(depth), close.repeat(depth));
        assert!(Json::parse(nested(MAX_JSON_DEPTH).as_bytes()).is_ok());
        assert_eq!(fault(nested(MAX_JSON_DEPTH + 1)), JsonFault::TooDeep);
        assert_eq!(fault(open.repeat(1_000_000)), JsonFault::TooDeep);
    }
}

#[test]
fn the_number_of_values_is_bounded() {
    let list = |items: usize| format!("[{}1]", "1,".repeat(items - 1));
    assert!(Json::parse(list(MAX_JSON_NODES - 1).as_bytes()).is_ok());
    assert_eq!(fault(list(MAX_JSON_NODES)), JsonFault::TooMany);
}

#[test]
fn a_fault_names_its_byte() {
    let at = |text: &[u8]| Json::parse(text).unwrap_err().at;
    assert_eq!(at(b"[1,2,x]"), 5);
    assert_eq!(at(b"{\"a\":1, \"a\":2}"), 8);
    assert_eq!(at(b"\"\\ud800\""), 3);
    assert_eq!(at(b"[1] 2"), 4);
    assert_eq!(JsonError { fault: JsonFault::Syntax, at: 5 }.to_string(), "the text is not JSON (at byte 5)");
}

#[test]
fn integers_are_read_only_when_written_as_such() {
    let value = |text: &str| Json::parse(text.as_bytes()).unwrap().as_u64();
    assert_eq!(value("18446744073709551615"), Some(u64::MAX));
    for text in ["18446744073709551616", "-1", "-0", "1.0", "1e2", "\"1\"", "true"] {
        assert_eq!(value(text), None, "{text}");
    }
}

#[test]
fn a_number_is_made_of_a_number_alone() {
    for text in [" 1", "1 ", "01", "", "true", "\"1\"", "[1]", "١"] {
        assert_eq!(Number::from_text(text), None, "{text}");
    }
    assert_eq!(Number::from_i64(i64::MIN).text(), "-9223372036854775808");
    assert_eq!(Number::from_u64(u64::MAX).text(), "18446744073709551615");
}

#[test]
fn numbers_that_a_double_would_change_are_not_exact() {
    let exact = |text: &str| Number::from_text(text).unwrap().as_exact_f64();
    for (text, value) in [
        ("0", 0.0),
        ("0.1", 0.1),
        ("1e2", 100.0),
        ("100", 100.0),
        ("1.50", 1.5),
        ("5e-324", 5e-324),
        ("-7", -7.0),
    ] {
        assert_eq!(exact(text), Some(value), "{text}");
    }
    assert_eq!(exact("9007199254740991"), Some(9_007_199_254_740_991.0));
    assert_eq!(exact("9007199254740992"), Some(9_007_199_254_740_992.0));
    // Two decimals of one length are equally near to this double; only one of them is its canonical text.
    assert_eq!(exact("1432110297121192.2"), Some(1_432_110_297_121_192.2));
    assert_eq!(exact("1432110297121192.3"), None);
    assert_eq!(exact("-3000000000"), Some(-3_000_000_000.0));
    for text in [
        "9007199254740993",
        "1e999",
        "-1e999",
        "1e-999",
        "0.1000000000000000055",
        "3e-324",
        "123456789012345678901",
    ] {
        assert_eq!(exact(text), None, "{text}");
    }
}

fn numbers() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<i64>().prop_map(|n| n.to_string()),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(|n| format!("{n:e}")),
        "-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,18})?([eE][+-]?[0-9]{1,3})?",
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Json::parse(&bytes);
    }

    #[test]
    fn any_nearly_json_text_is_answered(text in r#"[\[\]{}",:\\u0-9a-fetrnl.\-+ dD8]{0,60}"#) {
        // What is accepted here, a lenient parser accepts too.
        if Json::parse(text.as_bytes()).is_ok() {
            prop_assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok() || text.contains(['e', 'E']), "{}", text);
        }
    }

    #[test]
    fn a_number_keeps_its_text(text in numbers()) {
        let number = Number::from_text(&text).unwrap();
        prop_assert_eq!(number.text(), text);
    }

    #[test]
    fn exact_integers_are_injective(n in 0..=i64::MAX - 3, sign in prop_oneof![Just("-"), Just("")], step in 1_i64..=3) {
        let exact = |n: i64| Number::from_text(&format!("{sign}{n}")).unwrap().as_exact_f64();
        prop_assert!(exact(n).is_none() || exact(n) != exact(n + step), "{} and {}", n, n + step);
    }

    #[test]
    fn exact_fractions_are_injective(text in "(0|[1-9][0-9]{0,9})\\.[0-9]{1,18}", digit in "[1-9]") {
        let exact = |text: &str| Number::from_text(text).unwrap().as_exact_f64();
        let longer = format!("{text}{digit}");
        prop_assert!(exact(&text).is_none() || exact(&text) != exact(&longer), "{} and {}", text, longer);
    }

    #[test]
    fn every_double_is_exact_in_its_shortest_text(value in any::<f64>().prop_filter("finite", |n| n.is_finite())) {
        let number = Number::from_text(ryu_js::Buffer::new().format_finite(value)).unwrap();
        let value = value + 0.0; // −0 is written 0
        prop_assert_eq!(number.as_exact_f64().map(f64::to_bits), Some(value.to_bits()));
    }
}
