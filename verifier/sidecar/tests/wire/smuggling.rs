//! Messages that two readers could read in two ways: refused, with nothing sent upstream.

use crate::stand::{AUDIENCE, Stand};

/// What is refused, with its status and its code.
pub(crate) struct Refused<'a> {
    pub(crate) headers: &'a str,
    pub(crate) body: Vec<u8>,
    pub(crate) told: (u16, &'a str),
}

pub(crate) async fn refuses(stand: &Stand, cases: impl IntoIterator<Item = Refused<'_>>) {
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
