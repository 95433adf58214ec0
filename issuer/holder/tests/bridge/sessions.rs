//! MCP 2025-06-18 and 2025-11-25: `initialize`, and the session that a server may open.

use crate::{
    child::{Bridge, Folder},
    server::{JSON, Reply, Server},
};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"project":"web"}}}"#;

#[test]
fn a_session_and_its_revision_are_kept_and_sent() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.then(Reply::Whole(
        "200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s-1",
        ANSWER.to_owned(),
    ));
    server.then(Reply::Whole("202 Accepted", String::new()));
    assert_eq!(bridge.ask(INITIALIZE)["result"]["protocolVersion"], "2025-06-18");
    bridge.write(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let answer = bridge.ask(CALL);
    assert_eq!(answer["id"], 1);
    let seen = server.seen();
    assert_eq!(seen.len(), 3);
    assert_eq!((seen[0].header("Mcp-Session-Id"), seen[0].header("MCP-Protocol-Version")), (None, None));
    assert!(seen[1].body.contains("notifications/initialized"), "in the order of the client");
    for seen in &seen[1..] {
        assert_eq!(seen.header("Mcp-Session-Id"), Some("s-1"));
        assert_eq!(seen.header("MCP-Protocol-Version"), Some("2025-06-18"));
    }
    assert!(seen[2].meta()["tenuo"]["signature"].is_string());
    assert!(seen[..2].iter().all(|seen| !seen.body.contains("tenuo")), "what is open gets no credential");
    bridge.end();
    let last = server.seen().pop().unwrap();
    assert!(last.head.starts_with("DELETE /mcp "), "the session ends with the client: {}", last.head);
    assert_eq!(last.header("Mcp-Session-Id"), Some("s-1"));
    assert!(last.header("X-Pact-Proof").is_some(), "its end is proven");
}

#[test]
fn in_a_session_a_cancelled_call_is_told_to_the_server_as_well() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.then(Reply::Whole(
        "200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s-1",
        ANSWER.to_owned(),
    ));
    server.then(Reply::Silence).then(Reply::Whole("202 Accepted", String::new()));
    bridge.ask(INITIALIZE);
    bridge.write(CALL.as_bytes());
    server.wait_for(2);
    bridge.write(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    server.wait_for_gone(1);
    let seen = server.wait_for(3);
    assert!(seen[2].body.contains("notifications/cancelled"));
    assert!(bridge.end().0.is_empty());
}

#[test]
fn a_refusal_in_the_older_revisions_has_no_result_type() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "tenuo_outside_constraint");
    let answer = bridge.ask(CALL);
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["result"].get("resultType"), None);
}

#[test]
fn a_question_of_the_server_goes_to_the_client_and_its_answer_back() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let question = r#"{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{}}"#;
    let result = crate::server::RESULT;
    server.then(Reply::Events(vec![format!("data: {question}\n\ndata: {result}\n\n")]));
    server.then(Reply::Whole("202 Accepted", String::new()));
    bridge.write(CALL.as_bytes());
    assert_eq!(bridge.line(), question);
    bridge.line();
    let answer = r#"{"jsonrpc":"2.0","id":"s1","result":{"action":"decline"}}"#;
    bridge.write(answer.as_bytes());
    assert_eq!(server.wait_for(2)[1].body, answer);
    bridge.write(answer.as_bytes());
    server.then(Reply::Whole(JSON, crate::server::RESULT.to_owned()));
    bridge.ask(CALL);
    assert_eq!(server.seen().len(), 3, "what nobody asked is not passed on");
}

#[test]
fn m4_an_answer_to_a_server_in_a_session_is_proven() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.then(Reply::Whole(
        "200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: s-1",
        ANSWER.to_owned(),
    ));
    bridge.ask(INITIALIZE);
    let question = r#"{"jsonrpc":"2.0","id":"s1","method":"elicitation/create","params":{}}"#;
    server.then(Reply::Events(vec![format!("data: {question}\n\ndata: {}\n\n", crate::server::RESULT)]));
    server.then(Reply::Whole("202 Accepted", String::new()));
    bridge.write(CALL.as_bytes());
    assert_eq!(bridge.line(), question);
    bridge.line();
    let answer = r#"{"jsonrpc":"2.0","id":"s1","result":{"action":"decline"}}"#;
    bridge.write(answer.as_bytes());
    let seen = server.wait_for(3).pop().unwrap();
    assert_eq!((seen.body.as_str(), seen.header("Mcp-Session-Id")), (answer, Some("s-1")));
    for header in ["X-Tenuo-Warrant", "X-Tenuo-PoP", "X-Pact-Proof"] {
        assert!(seen.header(header).is_some(), "{header}");
    }
}
