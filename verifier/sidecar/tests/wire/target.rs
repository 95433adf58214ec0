//! Where a request is for, and headers that would have it be for somewhere or something else.

use crate::{
    client::raw,
    framing::{HEAD, PING, ping, refused},
    issuer::without_trust,
    stand::Stand,
    upstream::RESULT,
};

#[tokio::test]
async fn m1_a_path_that_can_be_read_in_two_ways_is_another_path() {
    let stand = Stand::start().await;
    let length = format!("Content-Length: {}\r\n", PING.len());
    for (target, status, code) in [
        ("/mcp/../admin", 404, "no_such_path"),
        ("/admin/../mcp", 404, "no_such_path"),
        ("/./mcp", 404, "no_such_path"),
        ("//mcp", 404, "no_such_path"),
        ("/mcp/", 404, "no_such_path"),
        ("/MCP", 404, "no_such_path"),
        ("/mcp.", 404, "no_such_path"),
        ("/mcp%20", 404, "no_such_path"),
        ("/%6dcp", 404, "no_such_path"),
        ("/%2e%2e/mcp", 404, "no_such_path"),
        ("/x%2f..%2fmcp", 404, "no_such_path"),
        ("/%2fmcp", 404, "no_such_path"),
        ("/%252fmcp", 404, "no_such_path"),
        ("/mcp;x=1", 404, "no_such_path"),
        ("/mcp%3Bx", 404, "no_such_path"),
        ("/mcp%00", 404, "no_such_path"),
        ("*", 404, "no_such_path"),
        ("/mcp?", 400, "target_not_plain"),
        ("/mcp?/livez", 400, "target_not_plain"),
        ("http://localhost/mcp", 400, "target_not_plain"),
        ("https://tools.example.org/mcp", 400, "target_not_plain"),
        ("localhost:80", 400, "target_not_plain"),
        ("/mcp#x", 400, ""),
        ("/mcp\\", 404, "no_such_path"),
        ("\\mcp", 400, ""),
        ("mcp", 400, "target_not_plain"),
        ("/mcp\u{e9}", 404, "no_such_path"),
        ("/mcp\0", 400, ""),
    ] {
        let request = ping(&length).replacen(" /mcp ", &format!(" {target} "), 1);
        assert_eq!(refused(&stand, &request).await, (status, code.to_owned()), "{target:?}");
    }
    for method in ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "post", "Post", "BREW"] {
        let request = ping(&length).replacen("POST", method, 1);
        let answer = raw(stand.traffic, request.as_bytes()).await;
        assert_eq!((answer.status, answer.header("allow")), (405, Some("POST")), "{method}");
    }
    assert!(stand.upstream.received().is_empty());
}

/// Neither a promise to wait nor the wish to speak otherwise, nor the wish that a header be stripped, changes anything.
#[tokio::test]
async fn m1_expect_upgrade_and_hop_by_hop_names_have_no_effect() {
    let stand = Stand::start().await;
    let length = format!("Content-Length: {}\r\n", PING.len());
    let unasked = format!("{HEAD}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n");
    assert_eq!(refused(&stand, unasked).await, (413, "body_too_large".to_owned()), "not even asked for");
    for (headers, status, code) in [
        (
            "Authorization: Bearer a\r\nX-Tenuo-Warrant: b\r\nConnection: X-Tenuo-Warrant\r\n",
            400,
            "credential_second",
        ),
        ("Mcp-Name: rm\r\nConnection: Mcp-Name\r\n", 400, "header_mismatch"),
        ("Mcp-Method: ping\r\nConnection: close, Mcp-Method\r\n", 400, "header_mismatch"),
    ] {
        let call = without_trust(r#"{"cost":1}"#);
        let request = format!("{HEAD}{headers}Content-Length: {}\r\n\r\n{call}", call.len());
        assert_eq!(refused(&stand, request).await, (status, code.to_owned()), "{headers}");
    }
    for (count, headers) in [
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n",
        "Expect: 100-continue\r\n",
        "X-HTTP-Method-Override: DELETE\r\nX-Method-Override: GET\r\nX-HTTP-Method: PUT\r\n",
        "X-Original-URL: /admin\r\nX-Rewrite-URL: /admin\r\nX-Forwarded-Uri: /admin\r\nX-Forwarded-Prefix: /x\r\n",
        "X-Forwarded-For: 127.0.0.1\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: evil\r\nForwarded: for=127.0.0.1\r\n",
        "X_Forwarded_For: 127.0.0.1\r\nmcp_name: rm\r\nmcp_method: tools/call\r\nx_tenuo_warrant: a\r\n",
        "Last-Event-ID: 7\r\nCookie: a=b\r\nTE: trailers\r\nVia: 1.1 a\r\nMax-Forwards: 0\r\n",
    ]
    .into_iter()
    .enumerate()
    {
        let answer = raw(stand.traffic, ping(&format!("{length}{headers}")).as_bytes()).await;
        let answer_text = format!("{}{}", answer.head, answer.body);
        assert!(answer_text.contains("200 OK") && answer_text.ends_with(RESULT), "{headers}: {answer:?}");
        assert!(!answer_text.contains("HTTP/1.1 101"), "{headers}: {answer:?}");
        let received = stand.upstream.received();
        assert_eq!(received.len(), count + 1, "{headers}");
        let sent = String::from_utf8(received[count].clone()).unwrap();
        let (head, body) = sent.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("POST /tool HTTP/1.1\r\n") && body == PING, "{sent}");
        let names: Vec<String> =
            head.lines().skip(1).map(|line| line.split(':').next().unwrap().to_ascii_lowercase()).collect();
        for name in names {
            let is_ours = ["content-type", "accept", "host", "content-length"].contains(&name.as_str());
            assert!(is_ours, "{name} reached the tool server: {headers}");
        }
    }
}

#[tokio::test]
async fn a_probe_on_the_traffic_port_is_a_call_like_any_other() {
    let stand = Stand::start().await;
    let call = without_trust(r#"{"cost":1}"#);
    for agent in ["kube-probe/1.30", "GoogleHC/1.0", "ELB-HealthChecker/2.0", "Envoy/HC"] {
        let headers = format!("User-Agent: {agent}\r\nX-Health-Check: 1\r\n");
        let request = format!("{HEAD}{headers}Content-Length: {}\r\n\r\n{call}", call.len());
        assert_eq!(refused(&stand, request).await, (401, "credential_missing".to_owned()));
        for path in ["/", "/livez", "/readyz", "/healthz", "/health", "/ready", "/ping", "/metrics"] {
            let request =
                format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n");
            assert_eq!(refused(&stand, request).await, (404, "no_such_path".to_owned()), "{path}");
        }
    }
}
