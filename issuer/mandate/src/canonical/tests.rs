use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Deserialize;

use super::*;

fn canonical(text: &str) -> Result<String, CanonicalError> {
    let mut bytes = Vec::new();
    write(&Json::parse(text.as_bytes()).unwrap(), &mut bytes)?;
    Ok(String::from_utf8(bytes).unwrap())
}

#[test]
fn the_example_of_rfc_8785_3_2_2() {
    let text = r#"{
        "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
        "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
        "literals": [null, true, false]
    }"#;
    // 333333333.33333329 is not the shortest decimal of its double, so it is refused rather than changed.
    assert!(matches!(canonical(text), Err(CanonicalError::InexactNumber(_))));
    let written = canonical(&text.replace("333333333.33333329", "333333333.3333333")).unwrap();
    let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
        \"string\":\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
    assert_eq!(written, expected);
}

#[test]
fn the_example_of_rfc_8785_3_2_3_sorts_by_utf_16() {
    let text = r#"{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O With Diaeresis"}"#;
    let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
        \"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",\
        \"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
    assert_eq!(canonical(text).unwrap(), expected);
}

/// RFC 8785 appendix B, by the bits of each double.
#[test]
fn the_numbers_of_rfc_8785_appendix_b() {
    let cases: [(u64, &str); 22] = [
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];
    for (bits, text) in cases {
        assert_eq!(
            canonical(ryu_js::Buffer::new().format_finite(f64::from_bits(bits))).as_deref(),
            Ok(text),
            "{bits:016x}"
        );
    }
}

#[test]
fn a_number_that_would_change_is_refused() {
    for text in ["9007199254740993", "1e400", "0.30000000000000001", "1e-400"] {
        assert_eq!(canonical(&format!("[{text}]")), Err(CanonicalError::InexactNumber(text.to_owned())));
    }
    let long = "9".repeat(10_000);
    assert_eq!(canonical(&long), Err(CanonicalError::InexactNumber("9".repeat(40))));
}

#[test]
fn a_digest_is_that_of_the_canonical_bytes() {
    let digest = |text: &[u8]| digest(&Json::parse(text).unwrap()).unwrap();
    assert_eq!(digest(b"{ \"b\": 1.0, \"a\": [] }"), <[u8; 32]>::from(Sha256::digest(b"{\"a\":[],\"b\":1}")));
    assert_eq!(digest(b"{\"a\":[],\"b\":1}"), digest(b"{\"b\":1e0,\"a\":[]}"));
    assert_ne!(digest(b"[1]"), digest(b"[\"1\"]"));
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sample {
    b: u8,
    a: String,
    none: Option<u8>,
    map: BTreeMap<String, u8>,
}

#[test]
fn only_the_canonical_form_is_read() {
    let good = r#"{"a":"x","b":1,"map":{"m":1},"none":null}"#;
    let sample = from_bytes::<Sample>(good.as_bytes()).unwrap();
    assert_eq!(to_bytes(&sample).unwrap(), good.as_bytes());
    let others = [
        r#"{"b":1,"a":"x","map":{"m":1},"none":null}"#,
        r#"{"a":"x", "b":1,"map":{"m":1},"none":null}"#,
        r#"{"a":"\u0078","b":1,"map":{"m":1},"none":null}"#,
        r#"{"a":"x","b":1,"map":{"m":1}}"#,
        r#"{"a":"x","b":1,"map":{"m":1,"m":1},"none":null}"#,
        "{\"a\":\"x\",\"b\":1,\"map\":{\"m\":1},\"none\":null}\n",
    ];
    for other in others {
        assert_eq!(from_bytes::<Sample>(other.as_bytes()), Err(CanonicalError::NotCanonical), "{other}");
    }
    let malformed = [
        r#"{"a":"x","a":"x","b":1,"map":{},"none":null}"#,
        r#"{"a":"x","b":1,"c":1,"map":{},"none":null}"#,
        r#"{"a":"x","b":1.0,"map":{},"none":null}"#,
        r#"{"a":"x","b":256,"map":{},"none":null}"#,
        r#"{"a":"x","map":{},"none":null}"#,
        r#"{"a":"x","b":1,"map":{},"none":null} x"#,
        "[]",
        "",
    ];
    for other in malformed {
        assert!(
            matches!(from_bytes::<Sample>(other.as_bytes()), Err(CanonicalError::Malformed { .. })),
            "{other}"
        );
    }
}

#[test]
fn k7_signed_numbers_are_safe_integers() {
    for text in ["0", "-1", "9007199254740991", "-9007199254740991", r#"{"a":[1,"1.5",null,true]}"#] {
        assert_eq!(check_numbers(text), Ok(()), "{text}");
    }
    for text in [r#""\\""#, r#"{"\"1.5":"\\\"1.5","b":["1.5\\",1]}"#, "\"\u{e9}\\u0001 1.5\"", "[]", "\"\""] {
        assert_eq!(check_numbers(text), Ok(()), "{text}");
    }
    for number in ["9007199254740992", "-9007199254740992", "1.5", "1e+30", "99999999999999999999"] {
        for text in [format!("{{\"a\":[{number}]}}"), format!("[\"\\\\\",{number}]"), number.to_owned()] {
            assert_eq!(check_numbers(&text), Err(CanonicalError::UnsafeNumber(number.to_owned())), "{text}");
        }
    }
}

/// JSON texts in many spellings whose numbers are all exact, with the value that an ordinary parser makes of them.
fn values() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i32>().prop_map(Into::into),
        any::<f64>().prop_filter("finite", |n| n.is_finite()).prop_map(Into::into),
        ".{0,8}".prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(serde_json::Value::from),
            prop::collection::vec((any::<String>(), inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn the_direct_writer_equals_serde_jcs(value in values()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let reference = String::from_utf8(to_bytes(&value).unwrap()).unwrap();
            prop_assert_eq!(canonical(&text).unwrap(), reference);
        }
    }

    #[test]
    fn canonical_bytes_are_stable(value in values()) {
        let once = canonical(&value.to_string()).unwrap();
        prop_assert_eq!(canonical(&once).unwrap(), once);
    }

    /// The value can be read back from its bytes, so no two values share theirs.
    #[test]
    fn canonical_bytes_are_injective(value in values()) {
        let back: serde_json::Value = serde_json::from_str(&canonical(&value.to_string()).unwrap()).unwrap();
        prop_assert_eq!(without_number_kinds(&back), without_number_kinds(&value));
    }

    /// The pass over the text finds what a walk over the values finds.
    #[test]
    fn k7_unsafe_numbers_are_found_wherever_they_stand(value in values()) {
        let text = canonical(&value.to_string()).unwrap();
        prop_assert_eq!(check_numbers(&text).is_ok(), has_safe_numbers(&Json::parse(text.as_bytes()).unwrap()));
    }

    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = from_bytes::<Sample>(&bytes);
    }
}

/// Every number as its double, −0 as 0.
fn without_number_kinds(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => (number.as_f64().unwrap() + 0.0).into(),
        serde_json::Value::Array(items) => items.iter().map(without_number_kinds).collect(),
        serde_json::Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), without_number_kinds(value))).collect()
        }
        other => other.clone(),
    }
}

fn has_safe_numbers(value: &Json) -> bool {
    match value {
        Json::Number(number) => {
            number.text().parse::<i64>().is_ok_and(|n| n.unsigned_abs() <= MAX_SAFE_INTEGER)
        }
        Json::Array(items) => items.iter().all(has_safe_numbers),
        Json::Object(members) => members.iter().all(|member| has_safe_numbers(&member.value)),
        _ => true,
    }
}
