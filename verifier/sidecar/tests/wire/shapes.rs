//! Shapes that are refused before anything in them is believed, with nothing sent upstream.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use crate::{
    client::{self, post, raw},
    issuer::without_trust,
    stand::{Stand, Wish},
};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

#[tokio::test]
async fn m1_bodies_that_two_readers_could_read_in_two_ways_are_refused() {
    let stand = Stand::start().await;
    let call = without_trust(r#"{"cost":1}"#);
    let utf16: Vec<u8> = call.encode_utf16().flat_map(u16::to_be_bytes).collect();
    for (body, code, rpc) in [
        (format!("[{call}]").into_bytes(), "batch", -32600),
        (format!("\u{feff}{call}").into_bytes(), "json_byte_order_mark", -32700),
        (utf16, "json_syntax", -32700),
        (
            call.replace("\"name\":\"echo\"", "\"name\":\"echo\",\"name\":\"rm\"").into_bytes(),
            "json_duplicate_member",
            -32700,
        ),
        (call.replace("\"cost\":1", "\"cost\":NaN").into_bytes(), "json_syntax", -32700),
        (call.replace("\"method\"", "\"Method\"").into_bytes(), "unknown_member", -32600),
        (call.replace("\"id\":1,", "").into_bytes(), "id_missing", -32600),
        (b"{".to_vec(), "json_truncated", -32700),
        (Vec::new(), "json_truncated", -32700),
        ([call.as_bytes(), b"\n", call.as_bytes()].concat(), "json_trailing", -32700),
    ] {
        let answer = stand.post_with("", &body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, code));
        assert_eq!(answer.json()["error"]["code"], rpc, "{answer:?}");
    }
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn m1_a_header_that_disagrees_is_refused_with_the_protocols_own_code() {
    let stand = Stand::start().await;
    for headers in ["Mcp-Method: tools/list\r\n", "Mcp-Name: echo\r\n"] {
        let answer = stand.post_with(headers, PING.as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "header_mismatch"));
        assert_eq!(answer.json()["error"]["code"], -32020);
    }
    let twice = stand.post_with("Mcp-Method: ping\r\nMcp-Method: ping\r\n", PING.as_bytes()).await;
    assert_eq!((twice.status, twice.reason().as_str()), (400, "header_repeated"));
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn heads_of_another_shape_are_refused() {
    let stand = Stand::start().await;
    let ordinary = String::from_utf8(post("", PING.as_bytes())).unwrap();
    for (from, to, status, code) in [
        ("application/json\r\n", "text/plain\r\n", 415, "content_type"),
        ("application/json\r\n", "application/json; charset=utf-16\r\n", 415, "content_type"),
        ("Connection", "Content-Encoding: gzip\r\nConnection", 415, "content_encoding"),
        ("POST /mcp", "GET /mcp", 405, "method_not_allowed"),
        ("POST /mcp", "DELETE /mcp", 405, "method_not_allowed"),
        ("POST /mcp", "POST /mcp/../admin", 404, "no_such_path"),
        ("POST /mcp", "POST //mcp", 404, "no_such_path"),
        ("POST /mcp", "POST /%6dcp", 404, "no_such_path"),
        ("POST /mcp", "GET /readyz", 404, "no_such_path"),
        ("POST /mcp", "POST /mcp?a=b", 400, "target_not_plain"),
        ("POST /mcp", "POST http://elsewhere/mcp", 400, "target_not_plain"),
        ("Host: localhost", "Host: localhost\r\nHost: other", 400, "header_repeated"),
    ] {
        let answer = raw(stand.traffic, ordinary.replacen(from, to, 1).as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, code), "{to}");
    }
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn framing_that_two_readers_could_read_in_two_ways_is_refused() {
    let stand = Stand::start().await;
    let head =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    for framing in [
        format!("Content-Length: {}\r\nContent-Length: 1\r\n\r\n{PING}", PING.len()),
        format!("Transfer-Encoding: xchunked\r\n\r\n{PING}"),
        format!("Content-Length: +{}\r\n\r\n{PING}", PING.len()),
        format!("Content-Length: {}\r\nX-A: b\0c\r\n\r\n{PING}", PING.len()),
        "Transfer-Encoding: chunked\r\n\r\nzz\r\n".to_owned(),
    ] {
        let answer = raw(stand.traffic, format!("{head}{framing}").as_bytes()).await;
        assert_eq!(answer.status, 400, "{framing:?}: {answer:?}");
    }
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn a_body_beyond_the_bound_is_refused_by_its_announced_length_or_while_it_comes() {
    let stand = Stand::with(Wish { more: "[limits]\nbody_bytes = 2048", ..Wish::default() }).await;
    let head =
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
    let announced = format!("{head}Content-Length: 99999999\r\n\r\n");
    let chunked =
        format!("{head}Transfer-Encoding: chunked\r\n\r\n1000\r\n{}\r\n0\r\n\r\n", "a".repeat(4096));
    for request in [announced, chunked] {
        let answer = raw(stand.traffic, request.as_bytes()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (413, "body_too_large"));
        assert!(answer.body.contains("2048") && answer.body.contains("limits.body_bytes"));
    }
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn a_head_beyond_the_bound_is_refused() {
    let stand = Stand::with(Wish { more: "[limits]\nhead_bytes = 8192", ..Wish::default() }).await;
    let long = format!("X-Long: {}\r\n", "a".repeat(20_000));
    assert_eq!(stand.post_with(&long, PING.as_bytes()).await.status, 431);
    let many = "X-Many: 1\r\n".repeat(200);
    assert_eq!(stand.post_with(&many, PING.as_bytes()).await.status, 431);
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn slow_clients_are_not_waited_for() {
    let limits = "[limits]\nbody_timeout = \"300ms\"\nhead_timeout = \"300ms\"";
    let stand = Stand::with(Wish { more: limits, ..Wish::default() }).await;
    let head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{";
    let answer = raw(stand.traffic, head.as_bytes()).await;
    assert_eq!((answer.status, answer.reason().as_str()), (408, "body_too_slow"));
    let mut slow = client::open(stand.traffic, b"POST /mcp HT").await;
    tokio::time::sleep(Duration::from_millis(600)).await;
    let _ = slow.stream.write_all(b"TP/1.1\r\n").await;
    assert!(!String::from_utf8_lossy(&slow.rest().await).contains("200 OK"));
    assert!(stand.upstream.received().is_empty());
}
