//! Answers as event streams, several calls at once, and calls that are given up.

use crate::{
    child::{Bridge, Folder, call},
    server::{RESULT, Reply, Server},
};

#[test]
fn an_event_stream_is_written_message_by_message() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0}}"#;
    server.then(Reply::Events(vec![
        ": alive\n\n".to_owned(),
        format!("data: {progress}\n\n"),
        "data: {\"jsonrpc\":\"2.0\",\"id\":99,\"result\":{}}\n\n".to_owned(),
        "event: cut\ndata: {\"half\n\n".to_owned(),
        format!("id: 3\ndata: {RESULT}\n\n"),
    ]));
    bridge.write(call(1).to_string().as_bytes());
    assert_eq!(bridge.line(), progress);
    assert_eq!(bridge.line(), RESULT.replace("ID", "1"));
    assert_eq!(bridge.end().0, Vec::<String>::new());
}

#[test]
fn r9_a_stream_that_ends_by_a_refusal_is_an_answer_of_the_tool() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let error = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":401,"message":"revoked","data":{"reason":"revoked","request_id":"q"}}}"#;
    server.then(Reply::Events(vec![format!("data: {error}\n\n")]));
    let answer = bridge.call(1);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["error"], "revoked");
    server.then(Reply::Events(vec!["data: {}".to_owned()]));
    assert_eq!(bridge.call(2)["result"]["_meta"]["pact/refusal"]["error"], "answer_broken");
    server.then(Reply::Events(vec!["data: {}\n\n".to_owned()]));
    assert_eq!(bridge.call(3)["result"]["_meta"]["pact/refusal"]["error"], "answer_not_mcp");
}

#[test]
fn calls_do_not_wait_for_each_other_and_a_cancelled_one_closes_its_request() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.then(Reply::Silence).then(Reply::Silence);
    bridge.write(call(1).to_string().as_bytes());
    server.wait_for(1);
    bridge.write(call(2).to_string().as_bytes());
    server.wait_for(2);
    assert_eq!(bridge.call(3)["id"], 3);
    bridge.write(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    server.wait_for_gone(1);
    assert_eq!(bridge.call(4)["id"], 4);
    bridge.write(br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
    server.wait_for_gone(2);
    let (lines, _) = bridge.end();
    assert!(lines.is_empty(), "what was cancelled is not answered: {lines:?}");
    assert_eq!(server.seen().len(), 4, "without a session nothing else is told");
}

#[test]
fn more_calls_than_the_bound_are_refused_at_once() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let most = u32::try_from(pact_holder::limits::MAX_IN_FLIGHT).unwrap();
    for id in 0..most {
        server.then(Reply::Silence);
        bridge.write(call(id).to_string().as_bytes());
    }
    let answer = bridge.call(most);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["error"], "too_many_calls");
    assert_eq!(answer["id"], most);
}

#[test]
fn a_client_that_closes_its_side_still_reads_the_answers() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    for id in 0..10 {
        bridge.write(call(id).to_string().as_bytes());
    }
    let (lines, errors) = bridge.end();
    assert_eq!(lines.len(), 10, "{errors}");
}
