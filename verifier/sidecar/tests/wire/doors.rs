//! Calls that are for another tool, by another method, or from another place than was judged.

use crate::{
    issuer::{key_set, without_trust},
    smuggling::{Refused, refuses},
    stand::{AUDIENCE, Stand},
};

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
        "tools/List",
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
