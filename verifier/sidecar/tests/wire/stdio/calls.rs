//! Calls that stand alone, to a server of MCP 2026-07-28.

use std::time::Duration;

use super::{PING, Place, refused, said};
use crate::{
    client::{Answer, open, post},
    issuer::{Credential, without_trust},
    stand::AUDIENCE,
};

fn arguments(text: &str) -> String {
    format!(r#"{{"cost":1,"text":"{text}"}}"#)
}

/// A call under the id 1.
fn call(credential: &Credential, text: &str) -> String {
    credential.call(AUDIENCE, &arguments(text))
}

/// The same, which wants to hear how it goes on.
fn progressing(credential: &Credential, text: &str, token: &str) -> String {
    call(credential, text).replacen("\"x\" : 1.0", &format!("\"progressToken\":{token}"), 1)
}

#[tokio::test]
async fn m2_the_judged_bytes_reach_the_process_as_one_line_with_another_id() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let asked = call(&credential, "hello").replacen(",\"method\"", ",\r\n\"method\"", 1);
    let answer = place.stand.post(&asked).await;
    assert!(said(&answer).starts_with("hello by "), "{answer:?}");
    assert_eq!(answer.json()["id"], 1);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let line = without_trust(&arguments("hello")).replacen(",\"method\"", ",  \"method\"", 1);
    assert_eq!(place.calls(), [line]);
}

#[tokio::test]
async fn a_refused_call_writes_nothing_to_any_process() {
    let place = Place::modern().await;
    let before = place.received();
    let credential = place.stand.issuer.mint();
    let too_much = credential.call(AUDIENCE, r#"{"cost":6,"text":"hello"}"#);
    assert_eq!(place.stand.post(&too_much).await.status, 403);
    assert_eq!(place.stand.post(&credential.call_by([8; 32], AUDIENCE, &arguments("x"))).await.status, 401);
    let hidden = call(&credential, "x").replacen("\"echo\"", "\"other\"", 1);
    assert_eq!(place.stand.post(&hidden).await.status, 403);
    // Notifications that stand alone tell of nothing that is there, and `initialize` must not change what all share.
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(place.stand.post(cancelled).await.status, 202);
    assert_eq!(place.received(), before);
    place.until_running(1).await;
}

#[tokio::test]
async fn attack_64_two_callers_use_one_id_at_once_and_each_gets_its_own_answer() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let held = open(place.stand.traffic, &post("", call(&credential, "hold").as_bytes())).await;
    place.until_received("\"hold\"").await;
    assert_eq!(said(&place.stand.post(&call(&credential, "release")).await), "release");
    let released = Answer::whole(held).await;
    assert_eq!((said(&released).as_str(), &released.json()["id"]), ("released", &serde_json::json!(1)));
    let ids: Vec<_> =
        place.calls().iter().map(|line| line.split("\"id\":").nth(1).unwrap()[..1].to_owned()).collect();
    assert_eq!(ids, ["1", "2"]);
}

#[tokio::test]
async fn what_a_call_does_on_the_way_reaches_its_caller_alone_under_its_own_token() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let waiting = progressing(&credential, "hold", "\"t\"");
    let held = open(place.stand.traffic, &post("", waiting.as_bytes())).await;
    place.until_received("\"hold\"").await;
    let answer = place.stand.post(&progressing(&credential, "progress", "\"t\"")).await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    for wanted in ["\"progress\":1,\"progressToken\":\"t\"", "\"progress\":2", "progressed"] {
        assert!(answer.body.contains(wanted), "{wanted} in {answer:?}");
    }
    let line = place.until_received("\"progress\"").await;
    assert!(line.contains("\"progressToken\":2") && line.contains("\"id\":2"), "{line}");
    // Nobody asked for news of it, and who takes no events gets none.
    assert_eq!(said(&place.stand.post(&call(&credential, "progress")).await), "progressed");
    let json_only = progressing(&credential, "progress", "3");
    let accepts = "Accept: application/json\r\n";
    let request = String::from_utf8(post("", json_only.as_bytes())).unwrap();
    let request = request.replacen("Accept: application/json, text/event-stream\r\n", accepts, 1);
    let plain = Answer::whole(open(place.stand.traffic, request.as_bytes()).await).await;
    assert_eq!(said(&plain), "progressed");
    assert_eq!(said(&place.stand.post(&call(&credential, "release")).await), "release");
    let released = Answer::whole(held).await;
    assert!(!released.body.contains("progress\":"), "{released:?}");
}

#[tokio::test]
async fn what_belongs_to_no_call_reaches_nobody_and_is_counted() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let answer = place.stand.post(&call(&credential, "stray")).await;
    assert_eq!(said(&answer), "stray");
    assert!(!answer.body.contains("nobody") && !answer.body.contains("whose"), "{answer:?}");
    for (why, count) in [("unknown_id", 1), ("nobodys", 1)] {
        let name = format!("pact_sidecar_children_dropped_total{{why=\"{why}\"}}");
        assert_eq!(place.metric(&name).await, format!("{name} {count}"));
    }
    // And what the test program prints before it becomes a server.
    let name = "pact_sidecar_children_dropped_total{why=\"not_a_message\"}";
    assert!(!place.metric(name).await.ends_with(" 0"));
    // A question of its own is answered at once: there is nobody whom it could be put to.
    let asked = place.stand.post(&call(&credential, "ask")).await;
    assert_eq!(said(&asked), "null");
    let told = place.until_received("-32601").await;
    assert!(told.contains("\"id\":\"q1\""), "{told}");
}

#[tokio::test]
async fn a_caller_who_leaves_is_told_of_to_the_process_and_a_late_answer_reaches_nobody() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let held = open(place.stand.traffic, &post("", call(&credential, "hold").as_bytes())).await;
    place.until_received("\"hold\"").await;
    drop(held);
    let line = place.until_received("notifications/cancelled").await;
    assert!(line.contains("\"requestId\":1"), "{line}");
    assert_eq!(said(&place.stand.post(&call(&credential, "release")).await), "release");
    let name = "pact_sidecar_children_dropped_total{why=\"unknown_id\"}";
    assert_eq!(place.metric(name).await, format!("{name} 1"));
}

#[tokio::test]
async fn r9_an_open_answer_ends_when_its_chain_is_revoked_and_the_process_is_told() {
    let place = Place::with(&["modern"], "", "[lists]\nevery = \"200ms\"\n").await;
    let credential = place.stand.issuer.mint();
    let held = open(place.stand.traffic, &post("", call(&credential, "hold").as_bytes())).await;
    place.until_received("\"hold\"").await;
    place.stand.issuer.publish(&[credential.entry()], 60);
    refused(&Answer::whole(held).await, 401, "revoked");
    place.until_received("notifications/cancelled").await;
}

#[tokio::test]
async fn an_answer_beyond_the_bound_is_refused_and_the_process_goes_on() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let first = said(&place.stand.post(&call(&credential, "x")).await);
    refused(&place.stand.post(&call(&credential, "long")).await, 502, "upstream_message_too_large");
    assert_eq!(said(&place.stand.post(&call(&credential, "x")).await), first);
}

#[tokio::test]
async fn m4_no_two_holders_share_a_process_and_open_messages_have_another() {
    let place = Place::modern().await;
    let (one, other) =
        (place.stand.issuer.mint(), place.stand.issuer.mint_for([9; 32], Duration::from_hours(1)));
    let again = place.stand.issuer.mint();
    let by = |credential: &Credential| call(credential, "who");
    let first = said(&place.stand.post(&by(&one)).await);
    assert_eq!(said(&place.stand.post(&by(&again)).await), first);
    assert_ne!(said(&place.stand.post(&by(&other)).await), first);
    let ping = place.stand.post(PING).await;
    assert_eq!((ping.status, &ping.json()["id"]), (200, &serde_json::json!("a")));
    let list = place.stand.post(&one.shows("tools/list", "")).await;
    assert!(list.body.contains("\"echo\"") && !list.body.contains("\"other\""), "{list:?}");
    place.until_running(3).await;
}

#[tokio::test]
async fn a_process_that_dies_breaks_its_calls_and_the_next_call_has_another() {
    let place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let first = said(&place.stand.post(&call(&credential, "x")).await);
    refused(&place.stand.post(&call(&credential, "die")).await, 502, "upstream_unreachable");
    let second = said(&place.stand.post(&call(&credential, "x")).await);
    assert_ne!(first, second);
    let half = open(place.stand.traffic, &post("", progressing(&credential, "die", "1").as_bytes())).await;
    let whole = String::from_utf8(half.rest().await).unwrap();
    assert!(whole.contains("\"progressToken\":1") && !whole.ends_with("\r\n0\r\n\r\n"), "{whole}");
}
