//! Messages that two readers could read in two ways, and doors beside the one that is judged: refused, with nothing sent
//! upstream.

use crate::{
    issuer::{key_set, without_trust},
    stand::{AUDIENCE, Stand},
};

/// What is refused, with its status and its code.
struct Refused<'a> {
    headers: &'a str,
    body: Vec<u8>,
    told: (u16, &'a str),
}

async fn refuses(stand: &Stand, cases: impl IntoIterator<Item = Refused<'_>>) {
    for Refused { headers, body, told } in cases {
        let answer = stand.post_with(headers, &body).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(400)]).into_owned();
        assert_eq!((answer.status, answer.reason().as_str()), told, "{headers}{shown}");
        assert_eq!(stand.upstream.received(), Vec::<Vec<u8>>::new(), "{headers}{shown}");
    }
}

#[tokio::test]
async fn c1_headers_that_must_be_single_are_refused_twice() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    for header in [
        "Authorization: Bearer a",
        "DPoP: a",
        "X-Tenuo-Warrant: a",
        "X-Tenuo-PoP: a",
        "Mcp-Name: echo",
        "Mcp-Method: tools/call",
        "MCP-Protocol-Version: 2025-06-18",
        "Content-Type: application/json",
        "Host: localhost",
    ] {
        let name = header.split(':').next().unwrap();
        let twice =
            format!("{header}\r\n{}: {}\r\n", name.to_uppercase(), header.split(": ").nth(1).unwrap());
        let told = (400, "header_repeated");
        refuses(&stand, [Refused { headers: &twice, body: call.clone().into_bytes(), told }]).await;
    }
}

/// The call with one thing in it otherwise.
fn swapped(call: &str, from: &str, to: &str) -> Vec<u8> {
    assert!(call.contains(from), "{from}");
    call.replacen(from, to, 1).into_bytes()
}

#[tokio::test]
async fn m1_a_message_that_two_readers_could_read_in_two_ways_is_refused_whatever_it_carries() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let swap = |from, to: &str| swapped(&call, from, to);
    let wide = |unit: fn(char) -> Vec<u8>| call.chars().flat_map(unit).collect::<Vec<u8>>();
    let arguments = "\"arguments\":{\"cost\":1}";
    let deep = format!("\"arguments\":{{\"cost\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let many = (0..100_000).map(|at| format!("\"{at}\":1")).collect::<Vec<_>>().join(",");
    let raw = |byte: &[u8]| {
        let (head, tail) = call.split_once("\"cost\":1").unwrap();
        [head.as_bytes(), b"\"cost\":1,\"text\":\"", byte, b"\"", tail.as_bytes()].concat()
    };
    let cases = [
        (format!("[{call}]").into_bytes(), "batch"),
        (format!("[{call},{call}]").into_bytes(), "batch"),
        (format!("[[{call}]]").into_bytes(), "batch"),
        (format!("{call}\n{call}").into_bytes(), "json_trailing"),
        (format!("{call}\0").into_bytes(), "json_trailing"),
        (format!("{call},").into_bytes(), "json_trailing"),
        (format!("\u{feff}{call}").into_bytes(), "json_byte_order_mark"),
        (wide(|c| u16::try_from(u32::from(c)).unwrap().to_le_bytes().to_vec()), "json_syntax"),
        (wide(|c| u32::from(c).to_be_bytes().to_vec()), "json_syntax"),
        (raw(b"\xff"), "json_not_utf8"),
        (raw(b"\xc0\xaf"), "json_not_utf8"),
        (raw(b"\xed\xa0\x80"), "json_not_utf8"),
        (raw(b"\\ud800"), "json_lone_surrogate"),
        (raw(b"\n"), "json_syntax"),
        (raw(b"\\x41"), "json_syntax"),
        (swap("\"method\"", "\"method\":\"ping\",\"method\""), "json_duplicate_member"),
        (swap("\"method\"", "\"method\":\"ping\",\"\\u006dethod\""), "json_duplicate_member"),
        (swap("\"id\":1", "\"id\":2,\"id\":1"), "json_duplicate_member"),
        (swap("\"params\":{", "\"params\":{},\"params\":{"), "json_duplicate_member"),
        (swap("\"name\":\"echo\"", "\"name\":\"rm\",\"name\":\"echo\""), "json_duplicate_member"),
        (swap(arguments, "\"arguments\":{\"cost\":1,\"c\\u006fst\":2}"), "json_duplicate_member"),
        (
            swap(arguments, "\"arguments\":{\"cost\":1,\"text\":{\"a\":[{\"b\":1,\"b\":2}]}}"),
            "json_duplicate_member",
        ),
        (swap("\"x\" : 1.0", "\"x\" : 1.0,\"x\":2"), "json_duplicate_member"),
        (swap("\"cost\":1", "\"cost\":NaN"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":Infinity"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":01"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":+1"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":0x1"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":1/**/"), "json_syntax"),
        (swap("\"cost\":1", "\"cost\":1,"), "json_syntax"),
        (swap(arguments, &deep), "json_too_deep"),
        (swap("\"cost\":1", &many), "json_too_many"),
    ];
    let cases = cases.map(|(body, code)| Refused { headers: "", body, told: (400, code) });
    refuses(&stand, cases).await;
    // None of that used the proof up.
    assert_eq!(stand.post(&call).await.status, 200);
}

#[tokio::test]
async fn m1_a_message_has_the_members_of_json_rpc_and_no_others() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let swap = |from, to: &str| swapped(&call, from, to);
    let cases = [
        (swap("\"jsonrpc\"", "\"JsonRpc\""), "unknown_member"),
        (swap("\"method\"", "\"Method\""), "unknown_member"),
        (swap("\"params\"", "\"PARAMS\""), "unknown_member"),
        (swap("\"id\"", "\"ID\""), "unknown_member"),
        (swap("\"name\"", "\"Name\""), "unknown_member"),
        (swap("\"arguments\"", "\"Arguments\""), "unknown_member"),
        (swap("\"method\"", "\"method\":\"tools/call\",\"meth\u{f6}d\""), "unknown_member"),
        (swap("\"id\":1,", ""), "id_missing"),
        (swap("\"id\":1", "\"id\":null"), "bad_id"),
        (swap("\"id\":1", "\"id\":1.0"), "bad_id"),
        (swap("\"id\":1", "\"id\":1e0"), "bad_id"),
        (swap("\"id\":1", "\"id\":[1]"), "bad_id"),
        (swap("\"id\":1", "\"id\":true"), "bad_id"),
        (swap("\"2.0\"", "2.0"), "jsonrpc_version"),
        (swap("\"2.0\"", "\"2.0 \""), "jsonrpc_version"),
        (swap("\"method\":\"tools/call\"", "\"result\":{}"), "response_not_expected"),
        (
            swap("\"method\":\"tools/call\"", "\"method\":\"tools/call\",\"result\":{}"),
            "response_not_expected",
        ),
        (
            swap("\"method\":\"tools/call\"", "\"error\":{\"code\":1,\"message\":\"\"}"),
            "response_not_expected",
        ),
        (swap("tools/call", "tools/call\\u0000"), "bad_method"),
        (swap("tools/call", "tools/call "), "bad_method"),
    ];
    let cases = cases.map(|(body, code)| Refused { headers: "", body, told: (400, code) });
    refuses(&stand, cases).await;
    assert_eq!(stand.post(&call).await.status, 200);
}

#[tokio::test]
async fn m1_headers_that_repeat_the_body_agree_with_it_or_the_call_is_refused() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let modern =
        call.replacen("\"x\" : 1.0", "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"", 1);
    for (headers, body, code) in [
        ("Mcp-Method: tools/list\r\n", &call, "header_mismatch"),
        ("Mcp-Method: ping\r\n", &call, "header_mismatch"),
        ("Mcp-Method: TOOLS/CALL\r\n", &call, "header_mismatch"),
        ("Mcp-Method: \r\n", &call, "header_mismatch"),
        ("Mcp-Name: Echo\r\n", &call, "header_mismatch"),
        ("Mcp-Name: rm\r\n", &call, "header_mismatch"),
        ("Mcp-Name: echo, rm\r\n", &call, "header_mismatch"),
        ("Mcp-Name: =?base64?cm0=?=\r\n", &call, "header_mismatch"),
        ("Mcp-Name: =?base64?ZWNobw?=\r\n", &call, "header_mismatch"),
        ("Mcp-Name: =?base64?ZWNobw==\r\n", &call, "header_mismatch"),
        ("Mcp-Name: =?BASE64?ZWNobw==?=\r\n", &call, "header_mismatch"),
        ("Mcp-Name: =?base64?/w==?=\r\n", &call, "header_mismatch"),
        ("Mcp-Name: \u{e9}cho\r\n", &call, "header_not_text"),
        ("MCP-Protocol-Version: 2025-06-18\r\n", &modern, "header_mismatch"),
        ("MCP-Protocol-Version: 2026-07-28, 2025-06-18\r\n", &modern, "header_mismatch"),
    ] {
        let told = (400, code);
        refuses(&stand, [Refused { headers, body: body.clone().into_bytes(), told }]).await;
    }
    let rpc = stand.post_with("Mcp-Name: rm\r\n", call.as_bytes()).await;
    assert_eq!(rpc.json()["error"]["code"], -32020);
}

/// Another spelling of a tool's name is another tool, whatever the server behind makes of it.
#[tokio::test]
async fn m1_a_tool_is_called_by_its_exact_name() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    for name in [
        "Echo",
        "ECHO",
        " echo",
        "echo ",
        "echo\\u0000",
        "\\u0000echo",
        "echo\\n",
        "ech\\u200bo",
        "\\uff45\\uff43\\uff48\\uff4f",
        "\\u0435cho",
        "e\\u0301cho",
        "echo/",
        "./echo",
        "mcp__echo",
        "",
        "*",
        "task.read",
    ] {
        let body = call.replacen("\"name\":\"echo\"", &format!("\"name\":\"{name}\""), 1).into_bytes();
        refuses(&stand, [Refused { headers: "", body, told: (403, "tool_not_mapped") }]).await;
    }
    // The same name, otherwise escaped, is the same tool: it is judged, and goes on as it was written.
    let escaped = call.replacen("\"name\":\"echo\"", "\"n\\u0061me\":\"\\u0065cho\"", 1);
    assert_eq!(stand.post(&escaped).await.status, 200);
    assert!(stand.upstream.only_body().contains("\"n\\u0061me\":\"\\u0065cho\""));
}

/// Everything that runs something, or reads something, by another method than the one that is judged.
#[tokio::test]
async fn m1_every_other_door_is_shut_with_a_credential_in_hand() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    for method in [
        "tools/list",
        "tools/Call",
        "tools//call",
        "tools/call/",
        "resources/read",
        "resources/list",
        "resources/templates/list",
        "resources/subscribe",
        "resources/unsubscribe",
        "prompts/get",
        "prompts/list",
        "completion/complete",
        "logging/setLevel",
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "tasks/result",
        "tasks/list",
        "subscriptions/listen",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "rpc.discover",
        "com.example/run",
        "notifications/anything",
        "notifications/message",
        "$/cancelRequest",
    ] {
        for body in [&call, &without_trust("{}")] {
            let body = body.replacen("tools/call", method, 1).into_bytes();
            refuses(&stand, [Refused { headers: "", body, told: (403, "method_not_open") }]).await;
        }
    }
    for (body, told) in [
        (call.replacen("\"id\":1,", "", 1), (400, "id_missing")),
        (call.replacen("tools/call", "ping", 1).replacen("\"id\":1,", "", 1), (400, "id_missing")),
        (call.replacen("tools/call", "notifications/cancelled", 1), (400, "id_not_expected")),
        (call.replacen("\"name\"", "\"task\":{\"ttl\":1},\"name\"", 1), (400, "unknown_member")),
    ] {
        refuses(&stand, [Refused { headers: "", body: body.into_bytes(), told }]).await;
    }
}

/// P1: the proof covers all that a call carries beside its arguments.
#[tokio::test]
async fn p1_what_is_added_to_a_proven_call_is_not_proven() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    for added in [
        "\"requestState\":\"forged\",",
        "\"inputResponses\":{\"a\":{\"action\":\"accept\"}},",
        "\"requestState\":null,",
    ] {
        let body = call.replacen("\"name\"", &format!("{added}\"name\""), 1).into_bytes();
        refuses(&stand, [Refused { headers: "", body, told: (401, "tenuo_proof_invalid") }]).await;
    }
    for (cost, told) in [
        ("1e400", (400, "tenuo_proof_inexact_number")),
        ("9007199254740993", (401, "tenuo_proof_invalid")),
        ("2", (401, "tenuo_proof_invalid")),
    ] {
        let body = call.replacen("\"cost\":1", &format!("\"cost\":{cost}"), 1).into_bytes();
        refuses(&stand, [Refused { headers: "", body, told }]).await;
    }
}

/// Arguments stay in the body: nothing in them reaches a path, a query or a header.
#[tokio::test]
async fn m2_no_argument_becomes_anything_but_an_argument() {
    let stand = Stand::ready().await;
    let arguments = r#"{"cost":1,"text":"../../admin?x=1#y\r\nX-Evil: 1\r\n\r\nGET / HTTP/1.1"}"#;
    let answer = stand.post(&stand.issuer.mint().call(AUDIENCE, arguments)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(stand.upstream.only_body(), without_trust(arguments));
    let sent = String::from_utf8(stand.upstream.received()[0].clone()).unwrap();
    let head = sent.split_once("\r\n\r\n").unwrap().0;
    assert!(head.starts_with("POST /tool HTTP/1.1\r\n") && !head.contains("vil"), "{head}");
}

/// A browser says where its page comes from. No page calls tools here.
#[tokio::test]
async fn m1_a_page_of_another_origin_calls_nothing() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    for origin in [
        "https://evil.example",
        "null",
        "",
        "http://tools.example.org",
        "https://tools.example.org.evil.example",
        "https://tools.example.org:8443",
        "https://tools.example.org/",
        "https://user@tools.example.org",
        "http://localhost",
        "http://127.0.0.1:8080",
    ] {
        let headers = format!("Origin: {origin}\r\n");
        let told = (403, "origin_not_allowed");
        refuses(&stand, [Refused { headers: &headers, body: call.clone().into_bytes(), told }]).await;
    }
    let twice = "Origin: https://tools.example.org\r\nOrigin: https://evil.example\r\n";
    let told = (400, "header_repeated");
    refuses(&stand, [Refused { headers: twice, body: call.clone().into_bytes(), told }]).await;
    assert_eq!(stand.post_with("Origin: https://tools.example.org\r\n", call.as_bytes()).await.status, 200);
    assert!(!String::from_utf8_lossy(&stand.upstream.received()[0]).to_ascii_lowercase().contains("origin"));
}

/// An issuer's published keys are its own business and nobody else's: a call does not bring any.
#[tokio::test]
async fn k1_keys_that_come_with_a_call_are_believed_for_nothing() {
    let stand = Stand::ready().await;
    let call = stand.issuer.mint().call_by([9; 32], AUDIENCE, r#"{"cost":1}"#);
    let with_keys =
        call.replacen("\"x\" : 1.0", &format!("\"pact/keys\":{}", key_set([9; 32])), 1).into_bytes();
    refuses(&stand, [Refused { headers: "", body: with_keys, told: (401, "tenuo_proof_invalid") }]).await;
}
