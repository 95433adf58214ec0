//! Requests that two servers in a row could frame in two ways: refused, with nothing sent upstream.

use std::time::Duration;

use crate::{
    client::{Answer, open, raw},
    issuer::without_trust,
    stand::{AUDIENCE, Stand},
    upstream::RESULT,
};

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
pub(crate) const HEAD: &str =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";

/// Status and code; the code is empty where the refusal came before there was a request.
fn told(answer: &Answer) -> (u16, String) {
    (answer.status, if answer.body.is_empty() { String::new() } else { answer.reason() })
}

pub(crate) async fn refused(stand: &Stand, request: impl AsRef<[u8]>) -> (u16, String) {
    let request = request.as_ref();
    let answer = raw(stand.traffic, request).await;
    let shown = String::from_utf8_lossy(&request[..request.len().min(300)]).into_owned();
    assert!(answer.status >= 400, "{shown:?} was answered {answer:?}");
    assert_eq!(stand.upstream.received(), Vec::<Vec<u8>>::new(), "{shown:?}");
    told(&answer)
}

/// A ping with this between the usual headers and the body.
pub(crate) fn ping(headers: &str) -> String {
    format!("{HEAD}{headers}\r\n{PING}")
}

#[tokio::test]
async fn m1_a_length_that_can_be_read_in_two_ways_is_refused() {
    let stand = Stand::start().await;
    let length = PING.len();
    let chunked = format!("{length:x}\r\n{PING}\r\n0\r\n\r\n");
    for headers in [
        format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n\r\n{chunked}"),
        format!("Content-Length: {length}\r\nTransfer-Encoding: identity\r\n\r\n{PING}"),
        format!("Transfer-Encoding: chunked, identity\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: identity, chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: gzip, chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: chunked, chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: \"chunked\"\r\n\r\n{chunked}"),
        format!("Transfer-Encoding: \u{b}chunked\r\n\r\n{chunked}"),
        format!("Transfer-Encoding : chunked\r\n\r\n{chunked}"),
        format!("Content-Length : {length}\r\n\r\n{PING}"),
        format!("Content-Length: {length}\r\nContent-Length: {length}\r\n\r\n{PING}"),
        format!("Content-Length: {length}, {length}\r\n\r\n{PING}"),
        format!("Content-Length: 0x{length:x}\r\n\r\n{PING}"),
        format!("Content-Length: -1\r\n\r\n{PING}"),
        format!("Content-Length: {length}.0\r\n\r\n{PING}"),
        format!("Content-Length: 99999999999999999999999\r\n\r\n{PING}"),
        format!("Content-Length: \r\n\r\n{PING}"),
    ] {
        let (status, code) = refused(&stand, format!("{HEAD}{headers}")).await;
        assert!(status == 400, "{headers:?}: {status} {code}");
    }
    let old = HEAD.replace("HTTP/1.1", "HTTP/1.0");
    let (status, _) = refused(&stand, format!("{old}Transfer-Encoding: chunked\r\n\r\n{chunked}")).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn m1_a_chunk_that_can_be_read_in_two_ways_is_refused() {
    let stand = Stand::start().await;
    let length = PING.len();
    for chunks in [
        format!("0x{length:x}\r\n{PING}\r\n0\r\n\r\n"),
        format!("+{length:x}\r\n{PING}\r\n0\r\n\r\n"),
        format!("-1\r\n{PING}\r\n0\r\n\r\n"),
        format!("{length:x}\n{PING}\r\n0\r\n\r\n"),
        format!("{length:x}\r\n{PING}\n0\r\n\r\n"),
        format!("{length:x}\r\n{PING}xx0\r\n\r\n"),
        format!("ffffffffffffffffff{length:x}\r\n{PING}\r\n0\r\n\r\n"),
        format!("\r\n{length:x}\r\n{PING}\r\n0\r\n\r\n"),
        format!("{length:x};a=\"\n\"\r\n{PING}\r\n0\r\n\r\n"),
        format!("{length:x};{}\r\n{PING}\r\n0\r\n\r\n", "a".repeat(1024 * 1024)),
        format!("{length:x}\r\n{PING}\r\n0\r\n{}\r\n", "X: y\r\n".repeat(100_000)),
    ] {
        let request = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{chunks}");
        let (status, code) = refused(&stand, &request).await;
        assert_eq!((status, code.as_str()), (400, "body_broken"), "{:?}", &chunks[..60.min(chunks.len())]);
    }
}

/// What comes after the body in a chunked request is no header, whatever it says.
#[tokio::test]
async fn m2_trailers_are_nobodys_headers() {
    let stand = Stand::start().await;
    let trailers =
        "Authorization: Bearer trailing\r\nMcp-Method: tools/call\r\nContent-Length: 7\r\nX-Tenuo-Warrant: a";
    let request = format!(
        "{HEAD}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\n\r\n{:x};a=b\r\n{PING}\r\n0\r\n{trailers}\r\n\r\n",
        PING.len()
    );
    let answer = raw(stand.traffic, request.as_bytes()).await;
    assert_eq!((answer.status, answer.body.as_str()), (200, RESULT));
    assert_eq!(stand.upstream.only_body(), PING);
    let sent = String::from_utf8(stand.upstream.received()[0].clone()).unwrap().to_ascii_lowercase();
    for never in ["trail", "authorization", "mcp-method", "warrant", "transfer-encoding", "content-length: 7"]
    {
        assert!(!sent.contains(never), "{never} in {sent}");
    }
}

#[tokio::test]
async fn m1_a_head_that_can_be_read_in_two_ways_is_refused() {
    let stand = Stand::start().await;
    let length = format!("Content-Length: {}\r\n", PING.len());
    for headers in [
        format!("{length}X-A: b\r\n c\r\n"),
        format!("{length}X-A: b\r\n\tMcp-Name: rm\r\n"),
        format!("{length}X-A: b\rMcp-Name: rm\r\n"),
        format!("{length}X-A: b\0c\r\n"),
        format!("{length}X\0A: b\r\n"),
        format!("{length}X A: b\r\n"),
        format!("{length}: b\r\n"),
        format!("{length}no colon\r\n"),
        format!("{length}X\u{e9}: b\r\n"),
        format!("{length}X-A: b\nMcp-Name: rm\r\n"),
        format!("Content-Length: {}\n", PING.len()),
    ] {
        let (status, code) = refused(&stand, ping(&headers)).await;
        assert_eq!(status, 400, "{headers:?}: {code}");
    }
    for line in [
        "POST /mcp HTTP/1.1\n",
        "POST /mcp\r\n",
        "POST  /mcp HTTP/1.1\r\n",
        "POST /mcp HTTP/1.1 \r\n",
        "POST\t/mcp\tHTTP/1.1\r\n",
        "POST /mcp HTTP/1.2\r\n",
        "POST /mcp HTTP/2.0\r\n",
        "POST /mcp http/1.1\r\n",
        " POST /mcp HTTP/1.1\r\n",
        "P\0ST /mcp HTTP/1.1\r\n",
        "PRI * HTTP/2.0\r\n",
    ] {
        let request = ping(&length).replacen("POST /mcp HTTP/1.1\r\n", line, 1);
        let (status, code) = refused(&stand, &request).await;
        assert!(matches!(status, 400 | 505), "{line:?}: {status} {code}");
    }
}

/// A connection on which the framing is in doubt is not read on: what follows is no request.
#[tokio::test]
async fn m1_nothing_that_follows_a_refused_body_is_taken_for_a_request() {
    let stand = Stand::start().await;
    let smuggled = format!(
        "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{PING}",
        PING.len()
    );
    let keep = HEAD.replace("Connection: close\r\n", "");
    for request in [
        format!("{keep}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{smuggled}"),
        format!("{keep}Content-Length: 3\r\nContent-Length: 0\r\n\r\n{smuggled}"),
        format!("{keep}Transfer-Encoding: xchunked\r\n\r\n{smuggled}"),
        format!("{keep}Transfer-Encoding: chunked\r\n\r\nzz\r\n{smuggled}"),
        format!("GET{}Content-Length: {}\r\n\r\n{smuggled}", &keep[4..], smuggled.len()),
        format!("{}Content-Length: {}\r\n\r\n{smuggled}", keep.replace("/mcp", "/x"), smuggled.len()),
        format!("{}Content-Length: {}\r\n\r\n{smuggled}", keep.replace("/json", "/x"), smuggled.len()),
        format!("{keep}Content-Encoding: gzip\r\nContent-Length: {}\r\n\r\n{smuggled}", smuggled.len()),
        format!("{keep}Content-Length: 9999999999\r\n\r\n{smuggled}"),
    ] {
        let all = open(stand.traffic, request.as_bytes()).await.rest().await;
        let all = String::from_utf8_lossy(&all);
        assert_eq!(all.matches("HTTP/1.1 ").count(), 1, "{request:?}: {all}");
        assert_eq!(stand.upstream.received(), Vec::<Vec<u8>>::new(), "{request:?}");
    }
}

/// Whereas two whole requests on one connection are two requests, each judged by itself.
#[tokio::test]
async fn two_requests_on_one_connection_are_judged_one_by_one() {
    let stand = Stand::ready().await;
    let credential = stand.issuer.mint();
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    let bare = without_trust(r#"{"cost":1}"#);
    let keep = HEAD.replace("Connection: close\r\n", "");
    let request = |body: &str| format!("{keep}Content-Length: {}\r\n\r\n{body}", body.len());
    let last = format!("{HEAD}Content-Length: {}\r\n\r\n{call}", call.len());
    let both = format!("{}{}{last}", request(&call), request(&bare));
    let all = String::from_utf8(open(stand.traffic, both.as_bytes()).await.rest().await).unwrap();
    let statuses: Vec<&str> = all.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
    assert_eq!(statuses, ["200", "401", "401"], "{all}");
    assert!(all.contains("credential_missing") && all.contains("replayed"), "{all}");
    assert_eq!(stand.upstream.received().len(), 1);
}

/// HTTP/2 is not served, so none of its floods is.
#[tokio::test]
async fn bytes_that_are_no_request_end_the_connection() {
    let stand = Stand::start().await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0".to_vec();
    let hello = b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03".to_vec();
    for bytes in [preface, hello, vec![0; 70_000], b"\r\n".repeat(40_000), b"GARBAGE\r\n\r\n".to_vec()] {
        let rest = open(stand.traffic, &bytes).await;
        let all = tokio::time::timeout(Duration::from_secs(15), rest.rest()).await.unwrap();
        assert!(!String::from_utf8_lossy(&all).contains("200 OK"));
        assert!(stand.upstream.received().is_empty());
    }
}
