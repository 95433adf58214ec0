//! Methods beside `tools/call`: every other door by which a tool server does something.

use crate::{
    stand::{AUDIENCE, Stand, Wish},
    upstream::RESULT,
};

const POLICY: &str = r#"
[limits]
cost_usd = 1

[tools.echo]
action = "task.read"
project = { const = "web" }
args = { cost_usd = { arg = "cost" } }

[methods."resources/read"]
action = "task.read"
project = { arg = "uri", prefix = { "file:///srv/web" = "web", "file:///srv/docs" = "docs" } }

[methods."prompts/get"]
action = "task.read"
project = { const = "web" }
unjudged = ["name", "arguments", "inputResponses", "requestState"]
"#;

async fn stand() -> Stand {
    let stand = Stand::with(Wish { policy: POLICY, ..Wish::default() }).await;
    stand.until_ready().await;
    stand
}

#[tokio::test]
async fn m1_a_mapped_method_is_judged_like_a_call() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let read = |uri: &str| {
        let params = format!(r#""uri":"{uri}""#);
        credential.request("resources/read", "resources/read", &format!("{{{params}}}"), &params)
    };
    let body = read("file:///srv/web/a");
    let answer = stand
        .post_with("Mcp-Method: resources/read\r\nMcp-Name: file:///srv/web/a\r\n", body.as_bytes())
        .await;
    assert_eq!((answer.status, answer.body.as_str()), (200, RESULT));
    let sent = stand.upstream.only_body();
    assert_eq!(
        sent,
        r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///srv/web/a","_meta":{}}}"#
    );
    for (body, status, code) in [
        (body, 401, "replayed"),
        (read("file:///srv/web/../docs/a"), 403, "path_not_plain"),
        (read("file:///srv/web/%2e%2e/docs/a"), 403, "path_not_plain"),
        (read("file:///etc/passwd"), 403, "value_not_mapped"),
        (read("file:///srv/docs/a"), 403, "issuer_scope"),
        (read("file:///srv/web/a").replace("web/a\"", "web/b\""), 401, "tenuo_proof_invalid"),
        (credential.shows("resources/read", r#""uri":"file:///srv/web/a","#), 401, "proof_missing"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///srv/web/a"}}"#
                .into(),
            401,
            "credential_missing",
        ),
    ] {
        let answer = stand.post(&body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, code));
    }
    assert_eq!(stand.upstream.received().len(), 1);
}

/// Attack 21 across doors: what was signed for a tool is good for no method, and the other way round.
#[tokio::test]
async fn attack_21_a_proof_for_a_tool_is_none_for_a_method() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    let arguments = r#"{"name":"x"}"#;
    for (method, tool) in [("prompts/get", "echo"), ("tools/call", "prompts/get")] {
        let body = credential.request(method, tool, arguments, r#""name":"x""#);
        let body = body.replace(&format!("\"method\":\"{method}\""), "\"method\":\"prompts/get\"");
        let answer = stand.post(&body).await;
        assert_eq!(
            (answer.status, answer.reason().as_str()),
            (401, "tenuo_proof_invalid"),
            "{method} {tool}"
        );
    }
    // Nor does a tool pass for a method by its name.
    let body = credential.request("tools/call", "prompts/get", "{}", r#""name":"prompts/get""#);
    let answer = stand.post(&body).await;
    assert_eq!((answer.status, answer.reason().as_str()), (403, "tool_not_mapped"));
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn attack_57_a_tool_by_another_spelling_of_its_name_is_unknown() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    for name in [
        "Echo",
        "ECHO",
        "echo ",
        " echo",
        "echo\\u0000",
        "ｅｃｈｏ",
        "есho",
        "echo\\t",
        "e\\u0301cho",
        "echo\\u200b",
        "./echo",
        "",
    ] {
        let call = credential
            .call(AUDIENCE, r#"{"cost":1}"#)
            .replace("\"name\":\"echo\"", &format!("\"name\":\"{name}\""));
        let answer = stand.post(&call).await;
        assert_eq!((answer.status, answer.reason().as_str()), (403, "tool_not_mapped"), "{name:?}");
    }
    assert!(stand.upstream.received().is_empty());
}

#[tokio::test]
async fn attack_58_a_response_is_refused_and_a_request_state_passes_only_with_fresh_authority() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    for response in [
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}"#,
    ] {
        let answer = stand.post(response).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "response_not_expected"));
    }
    let state = r#""requestState":"forged","inputResponses":{"a":{"action":"accept"}}"#;
    // Not without authority, not by the proof of the first round, and not by one for another answer.
    let bare = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"cost":1}},{state}}}}}"#
    );
    assert_eq!(stand.post(&bare).await.reason(), "credential_missing");
    let first = credential.call(AUDIENCE, r#"{"cost":1}"#);
    assert_eq!(stand.post(&first).await.status, 200);
    let retried = first.replace("\"name\":\"echo\"", &format!("\"name\":\"echo\",{state}"));
    assert_eq!(stand.post(&retried).await.reason(), "tenuo_proof_invalid");
    let params = format!(r#""name":"echo","arguments":{{"cost":1}},{state}"#);
    let fresh = credential.request("tools/call", "echo", r#"{"cost":1}"#, &params);
    let other = fresh.replace("accept", "cancel");
    assert_eq!(stand.post(&other).await.reason(), "tenuo_proof_invalid");
    assert_eq!(stand.upstream.received().len(), 1);
    assert_eq!(stand.post(&fresh).await.status, 200);
    assert_eq!(stand.post(&fresh).await.reason(), "replayed");
    assert_eq!(stand.upstream.received().len(), 2);
}

#[tokio::test]
async fn attack_59_every_other_door_is_shut_unless_the_policy_opens_it() {
    let stand = stand().await;
    let credential = stand.issuer.mint();
    for method in [
        "tasks/get",
        "tasks/update",
        "tasks/cancel",
        "tasks/result",
        "tasks/list",
        "completion/complete",
        "resources/list",
        "resources/templates/list",
        "resources/subscribe",
        "prompts/list",
        "logging/setLevel",
        "subscriptions/listen",
        "sampling/createMessage",
        "roots/list",
        "elicitation/create",
        "x/y",
        "Tools/call",
        "tools/Call",
        "tools/call ",
        "notifications/tools/list_changed",
        "notifications/x",
    ] {
        let signed = credential.request(method, method, r#"{"a":1}"#, r#""a":1"#);
        let bare = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"a":1}}}}"#);
        for body in [signed, bare] {
            let answer = stand.post(&body).await;
            let wanted = if method.ends_with(' ') { (400, "bad_method") } else { (403, "method_not_open") };
            assert_eq!((answer.status, answer.reason().as_str()), wanted, "{method}");
        }
    }
    assert!(stand.upstream.received().is_empty());
}

/// Whatever a tool has no argument for and a credential limits must be said in the policy.
#[tokio::test]
async fn m1_a_limit_that_nothing_maps_says_which_line_to_add() {
    const BARE: &str =
        "[tools.echo]\naction = \"task.read\"\nproject = { const = \"web\" }\nunjudged = [\"cost\"]";
    let stand = Stand::with(Wish { policy: BARE, ..Wish::default() }).await;
    stand.until_ready().await;
    let answer = stand.post(&stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#)).await;
    assert_eq!((answer.status, answer.reason().as_str()), (403, "limit_unmapped"));
    let message = answer.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(message.contains("cost_usd = … to [limits]"), "{message}");
    assert!(stand.upstream.received().is_empty());
}
