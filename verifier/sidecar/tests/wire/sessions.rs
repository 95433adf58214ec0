//! Sessions of the 2025 protocol over HTTP (protocol M4): whoever does not hold their owner's key gets nothing of them.

use std::time::Duration;

use pact_mandate::json::Number;
use pact_verifier::{Act, act::RequestId};

use crate::{
    client::{Answer, Open, open, post, raw},
    issuer::Credential,
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const ROOTS: &str = r#"{"jsonrpc":"2.0","id":"q1","method":"roots/list"}"#;
const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":"q1","result":{"roots":[]}}"#;

async fn stand() -> Stand {
    let stand = Stand::ready().await;
    stand.upstream.answers(Mode::Sessions);
    stand
}

/// Begins a session.
async fn begin(stand: &Stand) -> String {
    let answer = stand.post(INITIALIZE).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.header("mcp-session-id").expect("a session").to_owned()
}

/// What every message of a session carries.
fn session(id: &str) -> String {
    format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
}

/// A call in it, whose answer is an event stream.
async fn call(stand: &Stand, id: &str, credential: &Credential) -> Open {
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    open(stand.traffic, &post(&session(id), call.as_bytes())).await
}

/// Begins one and takes it: the call's answer stays open.
async fn own(stand: &Stand, credential: &Credential) -> (String, Open) {
    let id = begin(stand).await;
    let mut answer = call(stand, &id, credential).await;
    answer.until("{\"first\":1}").await;
    (id, answer)
}

fn request(method: &str, id: &str, headers: &str) -> Vec<u8> {
    format!(
        "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n{}{headers}\r\n",
        session(id)
    )
    .into_bytes()
}

async fn get(stand: &Stand, id: &str, headers: &str) -> Answer {
    raw(stand.traffic, &request("GET", id, headers)).await
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.reason().as_str()), (status, code), "{answer:?}");
}

fn other(stand: &Stand) -> Credential {
    stand.issuer.mint_for([9; 32], Duration::from_hours(1))
}

fn response_id(id: &str) -> RequestId {
    RequestId::Text(id.to_owned())
}

#[tokio::test]
async fn m4_a_session_is_passed_both_ways_and_belongs_to_the_key_of_its_first_permitted_call() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let id = begin(&stand).await;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(stand.post_with(&session(&id), initialized.as_bytes()).await.status, 202);
    // A refused call takes nothing.
    let too_much = other(&stand).call(AUDIENCE, r#"{"cost":6}"#);
    assert_eq!(stand.post_with(&session(&id), too_much.as_bytes()).await.status, 403);
    let mut answer = call(&stand, &id, &credential).await;
    answer.until("{\"first\":1}").await;
    for request in &stand.upstream.received()[1..] {
        let text = String::from_utf8(request.clone()).unwrap().to_ascii_lowercase();
        assert!(text.contains(&format!("mcp-session-id: {id}\r\n")), "{text}");
    }
    let before = stand.upstream.received().len();
    refused(&Answer::whole(call(&stand, &id, &other(&stand)).await).await, 403, "session_not_yours");
    assert_eq!(stand.upstream.received().len(), before);
    let mut again = call(&stand, &id, &credential).await;
    again.until("{\"first\":1}").await;
}

#[tokio::test]
async fn m4_ids_that_the_tool_server_did_not_give_are_unknown_and_reach_nobody() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    for id in ["session-99", "x", &"x".repeat(300)] {
        refused(&Answer::whole(call(&stand, id, &credential).await).await, 404, "session_unknown");
        refused(&get(&stand, id, &credential.act(&Act::listen(id, None))).await, 404, "session_unknown");
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        refused(&stand.post_with(&session(id), ping).await, 404, "session_unknown");
        refused(&stand.post_with(&session(id), RESPONSE.as_bytes()).await, 404, "session_unknown");
    }
    let id = begin(&stand).await;
    refused(&stand.post_with(&session(&id), INITIALIZE.as_bytes()).await, 400, "session_not_expected");
    assert_eq!(stand.upstream.received().len(), 1);
}

#[tokio::test]
async fn m4_the_stream_of_a_session_opens_to_its_owners_proof_alone() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let unowned = begin(&stand).await;
    let listen = |id: &str| Act::listen(id, None);
    refused(&get(&stand, &unowned, &credential.act(&listen(&unowned))).await, 403, "session_not_owned");
    let (id, _answer) = own(&stand, &credential).await;
    let before = stand.upstream.received().len();
    refused(&get(&stand, &id, "").await, 401, "credential_missing");
    refused(&get(&stand, &id, &other(&stand).act(&listen(&id))).await, 403, "session_not_yours");
    refused(&get(&stand, &id, &credential.act(&listen("session-7"))).await, 401, "tenuo_proof_invalid");
    refused(&get(&stand, &id, &credential.act(&Act::close(&id))).await, 401, "tenuo_proof_invalid");
    // Resumption is in the proof: neither left out nor put in.
    let resumed = Act::listen(&id, Some("e1".to_owned()));
    refused(&get(&stand, &id, &credential.act(&resumed)).await, 401, "tenuo_proof_invalid");
    let sneaked = format!("Last-Event-ID: e1\r\n{}", credential.act(&listen(&id)));
    refused(&get(&stand, &id, &sneaked).await, 401, "tenuo_proof_invalid");
    assert_eq!(stand.upstream.received().len(), before);
    let proof = credential.act(&listen(&id));
    let mut stream = open(stand.traffic, &request("GET", &id, &proof)).await;
    stream.until("{\"first\":1}").await;
    refused(&get(&stand, &id, &proof).await, 401, "replayed");
    stand.upstream.event("data: {\"method\":\"notifications/message\"}\n\n");
    stream.until("notifications/message").await;
    let resumed = format!("Last-Event-ID: e1\r\n{}", credential.act(&resumed));
    let mut again = open(stand.traffic, &request("GET", &id, &resumed)).await;
    again.until("{\"first\":1}").await;
    let received = stand.upstream.received();
    let sent = String::from_utf8(received[received.len() - 1].clone()).unwrap().to_ascii_lowercase();
    assert!(sent.starts_with("get /tool ") && sent.contains("last-event-id: e1\r\n"), "{sent}");
    for never in ["tenuo", "pact", "authorization", "content-type"] {
        assert!(!sent.contains(never), "{never} in {sent}");
    }
}

#[tokio::test]
async fn r9_the_stream_of_a_session_ends_when_its_chain_is_revoked_and_when_it_expires() {
    let stand = stand().await;
    let revoked = stand.issuer.mint();
    let (id, answer) = own(&stand, &revoked).await;
    let brief = stand.issuer.mint_for([9; 32], Duration::from_secs(4));
    let (brief_id, _brief_answer) = own(&stand, &brief).await;
    let listen =
        |credential: &Credential, id: &str| request("GET", id, &credential.act(&Act::listen(id, None)));
    let mut stream = open(stand.traffic, &listen(&revoked, &id)).await;
    stream.until("{\"first\":1}").await;
    let mut expiring = open(stand.traffic, &listen(&brief, &brief_id)).await;
    expiring.until("{\"first\":1}").await;
    let whole = String::from_utf8(expiring.rest().await).unwrap();
    assert!(whole.contains("\"id\":null,\"error\":{\"code\":401") && whole.contains("expired"), "{whole}");
    stand.issuer.publish(&[revoked.entry()], 60);
    for open in [stream, answer] {
        let whole = String::from_utf8(open.rest().await).unwrap();
        assert!(whole.contains("\"reason\":\"revoked\"") && whole.ends_with("\r\n0\r\n\r\n"), "{whole}");
    }
    refused(&get(&stand, &id, &revoked.act(&Act::listen(&id, None))).await, 401, "revoked");
}

#[tokio::test]
async fn a_client_that_leaves_its_stream_takes_the_tool_servers_connection_with_it() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let (id, _answer) = own(&stand, &credential).await;
    let proof = credential.act(&Act::listen(&id, None));
    let mut stream = open(stand.traffic, &request("GET", &id, &proof)).await;
    stream.until("{\"first\":1}").await;
    drop(stream);
    for _ in 0..100 {
        if stand.upstream.closed() == 1 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the tool server still streams to nobody");
}

#[tokio::test]
async fn m4_a_session_ends_by_its_owners_word_alone() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let (id, _answer) = own(&stand, &credential).await;
    let delete = |headers: String| raw_owned(&stand, request("DELETE", &id, &headers));
    refused(&delete(String::new()).await, 401, "credential_missing");
    refused(&delete(other(&stand).act(&Act::close(&id))).await, 403, "session_not_yours");
    refused(&delete(credential.act(&Act::listen(&id, None))).await, 401, "tenuo_proof_invalid");
    assert_eq!(delete(credential.act(&Act::close(&id))).await.status, 202);
    refused(&delete(credential.act(&Act::close(&id))).await, 404, "session_unknown");
    refused(&Answer::whole(call(&stand, &id, &credential).await).await, 404, "session_unknown");
}

async fn raw_owned(stand: &Stand, bytes: Vec<u8>) -> Answer {
    raw(stand.traffic, &bytes).await
}

#[tokio::test]
async fn attack_58_only_what_the_tool_server_asked_is_answered_once_by_the_owner() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let (id, mut answer) = own(&stand, &credential).await;
    let respond = |credential: &Credential, id: &str, rpc: &str, body: &str| {
        credential.act(&Act::respond(id, response_id(rpc), body.as_bytes())) + &session(id)
    };
    let post = |headers: String, body: &'static str| {
        let stand = &stand;
        async move { stand.post_with(&headers, body.as_bytes()).await }
    };
    // Nobody has asked.
    refused(&post(respond(&credential, &id, "q1", RESPONSE), RESPONSE).await, 400, "response_not_expected");
    // In parts, and among others.
    for part in ["event: message\r\nda", &format!("ta: {ROOTS}"), "\r\n", "\r\n"] {
        stand.upstream.event(part);
    }
    answer.until("roots/list").await;
    stand.upstream.event("data: {\"method\":\"notifications/message\"}\n\n");
    answer.until("notifications/message").await;
    let before = stand.upstream.received().len();
    refused(&post(session(&id), RESPONSE).await, 401, "credential_missing");
    refused(&post(respond(&other(&stand), &id, "q1", RESPONSE), RESPONSE).await, 403, "session_not_yours");
    let changed = r#"{"jsonrpc":"2.0","id":"q1","result":{"roots":[{"uri":"file:///"}]}}"#;
    refused(&post(respond(&credential, &id, "q1", RESPONSE), changed).await, 401, "tenuo_proof_invalid");
    let unasked = r#"{"jsonrpc":"2.0","id":"q2","result":{}}"#;
    refused(&post(respond(&credential, &id, "q2", unasked), unasked).await, 400, "response_not_expected");
    let number = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let one = credential.act(&Act::respond(&id, RequestId::Number(Number::from_u64(1)), number.as_bytes()));
    refused(&post(one + &session(&id), number).await, 400, "response_not_expected");
    refused(&post(String::new(), RESPONSE).await, 400, "response_not_expected");
    let modern = "MCP-Protocol-Version: 2026-07-28\r\n";
    refused(&post(modern.to_owned(), RESPONSE).await, 400, "response_not_expected");
    assert_eq!(stand.upstream.received().len(), before);
    assert_eq!(post(respond(&credential, &id, "q1", RESPONSE), RESPONSE).await.status, 202);
    let received = stand.upstream.received();
    let sent = String::from_utf8(received[before].clone()).unwrap();
    assert!(
        sent.ends_with(&format!("\r\n\r\n{RESPONSE}")) && !sent.to_ascii_lowercase().contains("tenuo"),
        "{sent}"
    );
    refused(&post(respond(&credential, &id, "q1", RESPONSE), RESPONSE).await, 400, "response_not_expected");
    assert_eq!(stand.upstream.received().len(), before + 1);
}

#[tokio::test]
async fn attack_64_a_response_to_another_request_takes_no_effect_and_ends_the_stream() {
    let stand = stand().await;
    let (_, mut answer) = own(&stand, &stand.issuer.mint()).await;
    stand.upstream.event("data: {\"method\":\"notifications/progress\"}\n\n");
    answer.until("notifications/progress").await;
    stand
        .upstream
        .event("data: {\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"secret\":1}}\n\ndata: {\"more\":1}\n\n");
    let whole = Answer::whole(answer).await.body;
    let (wrong, last) = whole.split_once("event: cut\n\n").unwrap_or_else(|| panic!("{whole}"));
    assert!(wrong.ends_with("\"result\":{\"secret\":1}}\n") && !whole.contains("more"), "{whole}");
    assert!(
        last.contains("\"id\":1,\"error\":{\"code\":502") && last.contains("upstream_wrong_id"),
        "{last}"
    );
}

#[tokio::test]
async fn attack_64_an_answer_of_json_to_another_request_is_refused_or_breaks_off() {
    let stand = Stand::ready().await;
    stand.upstream.answers(Mode::WrongId);
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    refused(&stand.post(&call).await, 502, "upstream_wrong_id");
    // In parts: what has passed is no message, and nothing else follows.
    stand.upstream.answers(Mode::WrongIdInParts);
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let answer = stand.post(&call).await;
    assert!(serde_json::from_str::<serde_json::Value>(&answer.body).is_err(), "{answer:?}");
    let metrics = crate::client::get(stand.admin, "/metrics").await.body;
    assert!(metrics.contains("pact_sidecar_answers_ended_total{code=\"upstream_wrong_id\"} 1"), "{metrics}");
}

#[tokio::test]
async fn attack_55_a_message_of_the_newer_protocol_has_no_session_and_must_say_so_everywhere() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let (id, _answer) = own(&stand, &credential).await;
    let modern = |call: String| {
        call.replacen("\"x\" : 1.0", "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"", 1)
    };
    stand.upstream.answers(Mode::Json);
    // Another key's, in a session that does not count.
    let call = modern(other(&stand).call(AUDIENCE, r#"{"cost":1}"#));
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
    let answer = stand.post_with(&format!("{headers}Mcp-Session-Id: {id}\r\n"), call.as_bytes()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let received = stand.upstream.received();
    let sent = String::from_utf8(received[received.len() - 1].clone()).unwrap().to_ascii_lowercase();
    assert!(!sent.contains("mcp-session-id"), "{sent}");
    let before = received.len();
    let call = modern(credential.call(AUDIENCE, r#"{"cost":1}"#));
    for (headers, code) in [
        (session(&id), "header_mismatch"),
        (format!("Mcp-Session-Id: {id}\r\n"), "header_missing"),
        ("MCP-Protocol-Version: 2026-07-28\r\nMcp-Name: echo\r\n".to_owned(), "header_missing"),
        ("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n".to_owned(), "header_missing"),
    ] {
        let answer = stand.post_with(&headers, call.as_bytes()).await;
        assert_eq!(answer.json()["error"]["code"], -32020, "{answer:?}");
        refused(&answer, 400, code);
    }
    let unsaid = credential.call(AUDIENCE, r#"{"cost":1}"#);
    let bare = stand.post_with(headers, unsaid.as_bytes()).await;
    assert_eq!(bare.json()["error"]["code"], -32602);
    refused(&bare, 400, "meta_missing");
    let unknown = stand.post_with("MCP-Protocol-Version: 2024-11-05\r\n", unsaid.as_bytes()).await;
    assert_eq!(unknown.json()["error"]["code"], -32022);
    let data = &unknown.json()["error"]["data"];
    assert_eq!((&data["supported"][0], &data["requested"]), (&"2026-07-28".into(), &"2024-11-05".into()));
    refused(&unknown, 400, "version_unknown");
    // Nobody says which protocol: the session counts.
    let theirs = other(&stand).call(AUDIENCE, r#"{"cost":1}"#);
    let headers = format!("Mcp-Session-Id: {id}\r\n");
    refused(&stand.post_with(&headers, theirs.as_bytes()).await, 403, "session_not_yours");
    for method in ["GET", "DELETE"] {
        let newer = String::from_utf8(request(method, &id, "")).unwrap().replace("2025-11-25", "2026-07-28");
        refused(&raw(stand.traffic, newer.as_bytes()).await, 405, "method_not_allowed");
    }
    assert_eq!(stand.upstream.received().len(), before);
}

#[tokio::test]
async fn s9_sessions_are_bounded_and_die_of_idleness() {
    let more = "[limits]\nsessions = 4\nsession_idle = \"1s\"";
    let stand = Stand::with(Wish { more, ..Wish::default() }).await;
    stand.upstream.answers(Mode::Sessions);
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.push(begin(&stand).await);
    }
    let metrics = crate::client::get(stand.admin, "/metrics").await.body;
    assert!(metrics.contains("pact_sidecar_sessions 2"), "{metrics}");
    let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    assert_eq!(stand.post_with(&session(&ids[9]), ping).await.status, 200);
    refused(&stand.post_with(&session(&ids[0]), ping).await, 404, "session_unknown");
    tokio::time::sleep(Duration::from_millis(2500)).await;
    refused(&stand.post_with(&session(&ids[9]), ping).await, 404, "session_unknown");
}

#[tokio::test]
async fn a_silent_stream_gets_comments_between_its_events() {
    let stand = Stand::with(Wish { more: "[limits]\nkeep_alive = \"300ms\"", ..Wish::default() }).await;
    stand.until_ready().await;
    stand.upstream.answers(Mode::Sessions);
    let (_, mut answer) = own(&stand, &stand.issuer.mint()).await;
    answer.until(": keep-alive\n\n\r\n").await;
    stand.upstream.event("data: {\"half");
    answer.until("{\"half").await;
    tokio::time::sleep(Duration::from_millis(700)).await;
    stand.upstream.event("\":2}\n\n");
    answer.until("\":2}").await;
    let seen = String::from_utf8(answer.seen).unwrap();
    let tail = seen.split_once("{\"half").unwrap().1;
    assert!(!tail.split_once("\":2}").unwrap().0.contains("keep-alive"), "{seen}");
}

#[tokio::test]
async fn m7_each_act_on_a_session_has_a_line() {
    let mut stand = stand().await;
    let credential = stand.issuer.mint();
    let (id, _answer) = own(&stand, &credential).await;
    let strange = get(&stand, &id, &other(&stand).act(&Act::listen(&id, None))).await;
    refused(&strange, 403, "session_not_yours");
    let close = raw(stand.traffic, &request("DELETE", &id, &credential.act(&Act::close(&id)))).await;
    assert!(close.status < 300, "{close:?}");
    stand.stop();
    tokio::time::timeout(Duration::from_secs(30), &mut stand.ended).await.expect("it stops").unwrap();
    let lines = crate::receipts::written(&stand);
    let acts: Vec<_> = lines.iter().filter(|line| line.get("act").is_some()).collect();
    let [strange, close] = acts.as_slice() else { panic!("{lines:#?}") };
    for (line, act, decision) in [(strange, "GET session", "refuse"), (close, "DELETE session", "permit")] {
        assert_eq!((line["act"].as_str(), line["decision"].as_str()), (Some(act), Some(decision)));
        assert_eq!((line["proof"].as_str(), line["list"]["version"].as_u64()), (Some("fresh"), Some(1)));
        assert_eq!((line.get("action"), line.get("call")), (None, None));
    }
    assert_eq!(strange["code"], "session_not_yours");
    assert_ne!(strange["credential"]["holder"], close["credential"]["holder"]);
}
