//! Answers that stay open (protocol R9).

use std::time::Duration;

use crate::{
    client::{open, post},
    issuer::key_set,
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

async fn stream(stand: &Stand) -> (crate::issuer::Credential, crate::client::Open) {
    stand.upstream.answers(Mode::Events);
    let credential = stand.issuer.mint();
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    let mut answer = open(stand.traffic, &post("", call.as_bytes())).await;
    answer.until("{\"first\":1}\n\n").await;
    (credential, answer)
}

#[tokio::test]
async fn an_event_stream_passes_event_by_event() {
    let stand = Stand::ready().await;
    let (_, mut answer) = stream(&stand).await;
    let head = String::from_utf8_lossy(&answer.seen).to_ascii_lowercase();
    assert!(
        head.contains("x-accel-buffering: no\r\n") && head.contains("content-type: text/event-stream\r\n"),
        "{head}"
    );
    for count in 0..3 {
        let event = format!("data: {{\"count\":{count}}}\n\n");
        stand.upstream.event(&event);
        answer.until(&event).await;
    }
}

#[tokio::test]
async fn r9_a_stream_ends_with_an_error_event_when_its_chain_is_revoked() {
    let stand = Stand::ready().await;
    let (credential, mut answer) = stream(&stand).await;
    stand.upstream.event("data: {\"half");
    answer.until("{\"half").await;
    stand.issuer.publish(&[credential.entry()], 60);
    let whole = String::from_utf8(answer.rest().await).unwrap();
    assert!(
        whole.contains(
            "\nevent: cut\n\nevent: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":401"
        ),
        "{whole}"
    );
    assert!(whole.contains("\"reason\":\"revoked\"") && whole.ends_with("\r\n0\r\n\r\n"), "{whole}");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stand.upstream.closed(), 1);
}

#[tokio::test]
async fn r9_a_stream_ends_when_its_list_goes_stale() {
    let stand = Stand::start().await;
    stand.issuer.publish(&[], 5);
    stand.until_ready().await;
    let (_, answer) = stream(&stand).await;
    stand.issuer.go_down();
    let whole = String::from_utf8(answer.rest().await).unwrap();
    assert!(whole.contains("\"code\":503") && whole.contains("\"reason\":\"list_"), "{whole}");
}

#[tokio::test]
async fn r9_a_call_that_is_not_answered_yet_ends_too() {
    let stand = Stand::ready().await;
    stand.upstream.answers(Mode::Silent);
    let credential = stand.issuer.mint();
    let answer = open(stand.traffic, &post("", credential.call(AUDIENCE, r#"{"cost":1}"#).as_bytes())).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    stand.issuer.publish(&[credential.entry()], 60);
    let whole = String::from_utf8(answer.rest().await).unwrap();
    assert!(whole.starts_with("HTTP/1.1 401 ") && whole.contains("\"reason\":\"revoked\""), "{whole}");
}

#[tokio::test]
async fn a_client_that_goes_away_takes_the_tool_servers_connection_with_it() {
    let stand = Stand::ready().await;
    let (_, answer) = stream(&stand).await;
    drop(answer);
    stand.upstream.answers(Mode::Silent);
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let waiting = open(stand.traffic, &post("", call.as_bytes())).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    drop(waiting);
    for _ in 0..50 {
        if stand.upstream.closed() == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{} of 2 connections were closed", stand.upstream.closed());
}

#[tokio::test]
async fn r9_a_stream_ends_when_its_root_is_removed() {
    let bounds = "[keys]\ncooldown = \"200ms\"\nsoft = \"300ms\"";
    let stand = Stand::with(Wish { pinned: false, more: bounds, ..Wish::default() }).await;
    stand.until_ready().await;
    let (_, answer) = stream(&stand).await;
    stand.issuer.publish_keys(key_set([8; 32]));
    let whole = String::from_utf8(answer.rest().await).unwrap();
    assert!(
        whole.contains("\"code\":401") && whole.contains("\"reason\":\"tenuo_untrusted_root\""),
        "{whole}"
    );
}

/// R9: while a caller takes nothing, nobody asks whether its answer may go on. So it may not for long.
#[tokio::test]
async fn r9_an_answer_that_nobody_reads_ends_and_lets_go_of_the_tool_server() {
    let stand = Stand::with(Wish { more: "[limits]\nwrite_timeout = \"500ms\"", ..Wish::default() }).await;
    stand.until_ready().await;
    let (_, answer) = stream(&stand).await;
    // More than all buffers on the way hold together.
    stand.upstream.event(&format!("data: {}\n\n", "x".repeat(64 * 1024 * 1024)));
    for _ in 0..200 {
        if stand.upstream.closed() == 1 {
            drop(answer);
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the tool server is still waiting for a caller who does not read");
}
