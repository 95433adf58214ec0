use http::HeaderMap;

use super::*;
use crate::header;

/// As open as a policy is by default, and one method that is a call.
fn policy() -> Policy {
    Policy::from_toml("identity = true\n[methods.\"prompts/get\"]\naction = \"task.read\"").unwrap()
}

fn parse(body: &str) -> Result<Message, ShapeFault> {
    Message::parse(Bytes::copy_from_slice(body.as_bytes()))
}

fn code(body: &[u8]) -> &'static str {
    match Message::parse(Bytes::copy_from_slice(body)).and_then(|message| message.asks(&policy())) {
        Ok(asks) => panic!("{asks:?} for {:?}", String::from_utf8_lossy(body)),
        Err(fault) => fault.code(),
    }
}

const CALL: &str =
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"x":1}}}"#;

#[test]
fn a_call_is_judged_and_a_ping_is_open() {
    let Ok(Asks::Tool(call)) = parse(CALL).unwrap().asks(&policy()) else { panic!("a call is judged") };
    assert_eq!((call.message().tool(), &call.message().body()[..]), (Some("echo"), CALL.as_bytes()));
    for (method, id) in
        [("ping", "\"id\":\"a\","), ("initialize", "\"id\":-3,"), ("notifications/initialized", "")]
    {
        let open = parse(&format!(r#"{{"jsonrpc":"2.0",{id}"method":"{method}"}}"#)).unwrap();
        assert!(matches!(open.asks(&policy()), Ok(Asks::Open(_))), "{method}");
    }
}

#[test]
fn a_list_of_tools_is_filtered_and_refused_where_the_policy_shuts_it() {
    let message = || parse(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).unwrap();
    assert!(matches!(message().asks(&policy()), Ok(Asks::List(_))));
    let shut = Policy::from_toml("identity = true\n[methods]\nopen = [\"ping\"]").unwrap();
    assert_eq!(message().asks(&shut).unwrap_err(), ShapeFault::MethodNotOpen);
}

#[test]
fn m1_a_mapped_method_is_a_call() {
    let message = |text: &str| parse(&format!(r#"{{"jsonrpc":"2.0",{text}}}"#)).unwrap().asks(&policy());
    let call = message(r#""id":1,"method":"prompts/get","params":{"name":"x"}"#);
    assert!(matches!(call, Ok(Asks::Tool(_))));
    assert!(matches!(message(r#""id":1,"method":"prompts/get""#), Ok(Asks::Tool(_))));
    for (text, code) in [
        (r#""method":"prompts/get""#, "id_missing"),
        (r#""id":1,"method":"prompts/get","params":{"_meta":7}"#, "bad_params"),
        (r#""id":1,"method":"prompts/list""#, "method_not_open"),
        (r#""id":1,"method":"Prompts/get""#, "method_not_open"),
    ] {
        assert_eq!(message(text).unwrap_err().code(), code, "{text}");
    }
}

/// The shapes that tool servers were seen to run.
#[test]
fn m1_shapes_that_two_readers_could_read_in_two_ways_are_refused() {
    let of = |text: &str| text.as_bytes().to_vec();
    let swap = |from: &str, to: &str| CALL.replace(from, to).into_bytes();
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let utf16 = CALL.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for (body, wanted) in [
        (of(&format!("[{CALL}]")), "batch"),
        (of("[]"), "batch"),
        (of("3"), "not_a_message"),
        (of(""), "json_truncated"),
        (of(&format!("{CALL}\n{CALL}")), "json_trailing"),
        (of(&format!("{CALL}x")), "json_trailing"),
        (swap("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"rm\""), "json_duplicate_member"),
        (swap("\"method\":", "\"method\":\"ping\",\"\\u006dethod\":"), "json_duplicate_member"),
        (swap("{\"x\":1}", "{\"x\":1,\"x\":2}"), "json_duplicate_member"),
        (swap("\"method\"", "\"Method\""), "unknown_member"),
        (swap("\"params\"", "\"Params\""), "unknown_member"),
        (swap("\"name\"", "\"Name\""), "unknown_member"),
        (swap("\"id\":1,", "\"id\":1,\"extra\":1,"), "unknown_member"),
        (swap("\"name\"", "\"task\":{},\"name\""), "unknown_member"),
        (of(&format!("\u{feff}{CALL}")), "json_byte_order_mark"),
        (utf16, "json_syntax"),
        (swap("{\"x\":1}", "{\"x\":\"\\ud800\"}"), "json_lone_surrogate"),
        (swap("{\"x\":1}", "{\"x\":NaN}"), "json_syntax"),
        (swap("{\"x\":1}", "{\"x\":1,}"), "json_syntax"),
        (swap("{\"x\":1}", &deep), "json_too_deep"),
        (swap("\"id\":1,", ""), "id_missing"),
        (swap("\"id\":1", "\"id\":null"), "bad_id"),
        (swap("\"id\":1", "\"id\":1.5"), "bad_id"),
        (swap("\"id\":1", "\"id\":{}"), "bad_id"),
        (swap("\"id\":1", &format!("\"id\":\"{}\"", "a".repeat(257))), "bad_id"),
        (swap("2.0", "1.0"), "jsonrpc_version"),
        (swap("tools/call", "Tools/Call"), "method_not_open"),
        (swap("tools/call", "resources/read"), "method_not_open"),
        (swap("tools/call", "notifications/initialized"), "id_not_expected"),
        (swap("tools/call", ""), "bad_method"),
        (swap("\"tools/call\"", "7"), "bad_method"),
        (swap("\"echo\"", "7"), "bad_params"),
        (swap("{\"x\":1}", "[1]"), "bad_params"),
        (swap("{\"name\":\"echo\",\"arguments\":{\"x\":1}}", "[]"), "bad_params"),
        (of(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), "response_not_expected"),
    ] {
        assert_eq!(code(&body), wanted, "{}", String::from_utf8_lossy(&body[..body.len().min(200)]));
    }
    let invalid = [CALL.as_bytes(), b"\xff"].concat();
    assert_eq!(code(&invalid), "json_not_utf8");
}

fn agreed(pairs: &[(http::HeaderName, &str)], body: &str) -> Result<(), ShapeFault> {
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        headers.append(name.clone(), value.parse().unwrap());
    }
    agreement::check(&headers, &parse(body).unwrap())
}

#[test]
fn m1_headers_agree_with_the_body_or_the_request_is_refused() {
    let (method, name, version) = (header::MCP_METHOD, header::MCP_NAME, header::MCP_VERSION);
    let modern = CALL.replace(
        "\"arguments\"",
        "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"},\"arguments\"",
    );
    let whole = [(method.clone(), "tools/call"), (name.clone(), "echo"), (version.clone(), "2026-07-28")];
    assert_eq!(agreed(&[], CALL), Ok(()));
    assert_eq!(agreed(&whole, &modern), Ok(()));
    assert_eq!(agreed(&[(name.clone(), "=?base64?ZWNobw==?=")], CALL), Ok(()));
    for (header, value) in [
        (&method, "tools/list"),
        (&method, "Tools/Call"),
        (&method, ""),
        (&name, "other"),
        (&name, "=?base64?b3RoZXI=?="),
        (&name, "=?base64?!!?="),
        (&version, "2025-06-18"),
    ] {
        let refused = agreed(&[(header.clone(), value)], &modern).unwrap_err();
        assert_eq!(refused.code(), "header_mismatch", "{header}: {value}");
    }
    let twice = [(name.clone(), "echo"), (name.clone(), "echo")];
    assert_eq!(agreed(&twice, CALL).unwrap_err().code(), "header_repeated");
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(agreed(&[(name, "echo")], ping).unwrap_err().code(), "header_mismatch");
}

#[test]
fn no_debug_output_holds_what_a_message_carries() {
    let message = parse(&CALL.replace("\"x\":1", "\"x\":\"swordfish\"")).unwrap();
    let asks = format!("{message:?} {:?}", parse(CALL).unwrap().asks(&policy()));
    assert!(
        asks.contains("tools/call") && !asks.contains("swordfish") && !asks.contains("arguments"),
        "{asks}"
    );
}
