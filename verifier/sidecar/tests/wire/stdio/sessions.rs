//! Sessions of the 2025 protocol: each has a process of its own, which lives and dies with it (protocol M4).

use std::time::Duration;

use pact_verifier::{Act, act::RequestId};

use super::{INITIALIZE, PING, Place, refused, said, session};
use crate::{
    client::{Answer, Open, open, post, raw},
    issuer::Credential,
    stand::AUDIENCE,
};

async fn begin(place: &Place) -> String {
    let answer = place.stand.post(INITIALIZE).await;
    assert_eq!((answer.status, &answer.json()["id"]), (200, &serde_json::json!(0)), "{answer:?}");
    let id = answer.header("mcp-session-id").expect("a session").to_owned();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(place.stand.post_with(&session(&id), initialized.as_bytes()).await.status, 202);
    id
}

async fn open_call(place: &Place, id: &str, credential: &Credential, text: &str) -> Open {
    let call = credential.call(AUDIENCE, &format!(r#"{{"cost":1,"text":"{text}"}}"#));
    open(place.stand.traffic, &post(&session(id), call.as_bytes())).await
}

async fn call(place: &Place, id: &str, credential: &Credential, text: &str) -> Answer {
    Answer::whole(open_call(place, id, credential, text).await).await
}

fn act(method: &str, id: &str, headers: &str) -> Vec<u8> {
    format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n{}{headers}\r\n",
        session(id)
    )
    .into_bytes()
}

#[tokio::test]
async fn m4_each_session_has_a_process_of_its_own_and_ends_with_it() {
    let place = Place::legacy().await;
    let (one, other) =
        (place.stand.issuer.mint(), place.stand.issuer.mint_for([9; 32], Duration::from_hours(1)));
    let (first, second) = (begin(&place).await, begin(&place).await);
    let by_first = said(&call(&place, &first, &one, "who").await);
    let by_second = said(&call(&place, &second, &other, "who").await);
    assert_ne!(by_first, by_second);
    assert_eq!(said(&call(&place, &first, &one, "who").await), by_first);
    let calls = place.calls().len();
    refused(&call(&place, &first, &other, "who").await, 403, "session_not_yours");
    assert_eq!(place.calls().len(), calls);
    place.until_running(2).await;
    let delete = |credential: &Credential| act("DELETE", &first, &credential.act(&Act::close(&first)));
    refused(&raw(place.stand.traffic, &delete(&other)).await, 403, "session_not_yours");
    assert_eq!(raw(place.stand.traffic, &delete(&one)).await.status, 204);
    refused(&call(&place, &first, &one, "who").await, 404, "session_unknown");
    place.until_running(1).await;
    assert_eq!(said(&call(&place, &second, &other, "who").await), by_second);
    // Its process dies, and the session with it.
    refused(&call(&place, &second, &other, "die").await, 502, "upstream_unreachable");
    place.until_running(0).await;
    refused(&call(&place, &second, &other, "who").await, 404, "session_unknown");
}

#[tokio::test]
async fn attack_58_a_question_of_the_server_reaches_the_sessions_client_and_its_answer_goes_back() {
    let place = Place::legacy().await;
    let credential = place.stand.issuer.mint();
    let id = begin(&place).await;
    // On the call's own stream, as long as nobody listens.
    let mut asking = open_call(&place, &id, &credential, "ask").await;
    asking.until("roots/list").await;
    let answer = r#"{"jsonrpc":"2.0","id":"q1","result":{"roots":[]}}"#;
    let respond = || {
        let act = Act::respond(&id, RequestId::Text("q1".to_owned()), answer.as_bytes());
        credential.act(&act) + &session(&id)
    };
    assert_eq!(place.stand.post_with(&respond(), answer.as_bytes()).await.status, 202);
    let whole = String::from_utf8(asking.rest().await).unwrap();
    assert!(whole.contains("{\\\"roots\\\":[]}"), "{whole}");
    // On the session's stream, once it is open.
    let listen = act("GET", &id, &credential.act(&Act::listen(&id, None)));
    let mut stream = open(place.stand.traffic, &listen).await;
    stream.until("text/event-stream").await;
    let asking = open_call(&place, &id, &credential, "ask").await;
    stream.until("roots/list").await;
    assert_eq!(place.stand.post_with(&respond(), answer.as_bytes()).await.status, 202);
    assert!(said(&Answer::whole(asking).await).contains("roots"));
    assert!(place.received().iter().any(|line| line == answer));
    let stray = call(&place, &id, &credential, "stray").await;
    assert_eq!(said(&stray), "stray");
    stream.until("whose?").await;
    let delete = act("DELETE", &id, &credential.act(&Act::close(&id)));
    assert_eq!(raw(place.stand.traffic, &delete).await.status, 204);
    assert!(stream.rest().await.ends_with(b"\r\n0\r\n\r\n"));
}

#[tokio::test]
async fn a_client_cancels_by_its_own_id() {
    let place = Place::legacy().await;
    let credential = place.stand.issuer.mint();
    let id = begin(&place).await;
    assert_eq!(place.stand.post_with(&session(&id), PING.as_bytes()).await.status, 200);
    let held = open_call(&place, &id, &credential, "hold").await;
    place.until_received("\"hold\"").await;
    let cancel = |id: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"mine"}}}}"#
        )
    };
    assert_eq!(place.stand.post_with(&session(&id), cancel("77").as_bytes()).await.status, 202);
    assert_eq!(place.stand.post_with(&session(&id), cancel("1").as_bytes()).await.status, 202);
    let line = place.until_received("\"reason\":\"mine\"").await;
    // `initialize` was its first request, and `ping` its second.
    assert_eq!(line, cancel("3"));
    let ended = Answer::whole(held).await;
    assert_eq!((ended.status, ended.body.as_str()), (200, ""));
}

#[tokio::test]
async fn a_server_of_sessions_serves_none_without_one() {
    let place = Place::legacy().await;
    place.until_running(0).await;
    let before = place.received();
    let credential = place.stand.issuer.mint();
    let answer = place.stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    refused(&answer, 400, "upstream_needs_session");
    assert_eq!(answer.json()["error"]["code"], -32022);
    refused(&place.stand.post(PING).await, 400, "upstream_needs_session");
    assert_eq!(place.received(), before);
}

#[tokio::test]
async fn sessions_that_nobody_owns_make_way_and_their_processes_end() {
    let place = Place::with(&[], "max_children = 4", "").await;
    let credential = place.stand.issuer.mint();
    let own = begin(&place).await;
    assert_eq!(call(&place, &own, &credential, "x").await.status, 200);
    for _ in 0..5 {
        begin(&place).await;
    }
    place.until_running(2).await;
    assert_eq!(call(&place, &own, &credential, "x").await.status, 200);
}

#[tokio::test]
async fn an_idle_session_ends_and_its_process_with_it() {
    let place = Place::with(&[], "", "[limits]\nsession_idle = \"1s\"\n").await;
    let id = begin(&place).await;
    place.until_running(1).await;
    place.until_running(0).await;
    refused(&place.stand.post_with(&session(&id), PING.as_bytes()).await, 404, "session_unknown");
}
