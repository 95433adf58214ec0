//! Calls: what reaches the server, and what the client is told.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_holder::{Holder, call::tool_call, stack::unverified_leaf_id};
use pact_mandate::{Json, Signature, UnixTime};
use pact_verifier::proof::{FreshProof, tenuo::message_p1};
use serde_json::Value;

use crate::{
    child::{AGENT, Bridge, Folder, call},
    server::{JSON, Reply, Seen, Server},
};

const AUDIENCE: &str = "https://tools.example.org/mcp";

/// Checks the proof of a call of `echo`, and returns its id and time.
fn check_proof(seen: &Seen, stack: &str) -> (String, u64) {
    let meta = seen.meta();
    assert_eq!(meta["tenuo"]["warrant"], stack);
    let (id, iat) = (meta["pact/proof"]["id"].as_str().unwrap(), meta["pact/proof"]["iat"].as_u64().unwrap());
    let fresh = FreshProof {
        id: URL_SAFE_NO_PAD.decode(id).unwrap().try_into().unwrap(),
        issued_at: UnixTime::try_from(iat).unwrap(),
    };
    let arguments = Json::parse(br#"{"project":"web","text":"x"}"#).unwrap();
    let asked = tool_call("echo", arguments).unwrap();
    let message = message_p1(
        &unverified_leaf_id(stack).unwrap(),
        &"echo".parse().unwrap(),
        &asked,
        &AUDIENCE.parse().unwrap(),
        &fresh,
    );
    let signature = STANDARD.decode(meta["tenuo"]["signature"].as_str().unwrap()).unwrap();
    let signature = Signature::from_bytes(signature.try_into().unwrap());
    let holder = Holder::from_seed(&AGENT).unwrap();
    holder.public_key().verify(&message.unwrap(), &signature).unwrap();
    (id.to_owned(), iat)
}

#[test]
fn p1_each_call_goes_out_with_a_proof_of_its_own_for_the_configured_audience() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    for id in 1..3 {
        assert_eq!(bridge.call(id)["result"]["content"][0]["text"], "done");
    }
    let seen = server.seen();
    let proofs: Vec<_> = seen.iter().map(|seen| check_proof(seen, &folder.read("agent.tenuo"))).collect();
    assert_ne!(proofs[0].0, proofs[1].0);
    for (name, value) in [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "echo"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
    ] {
        assert_eq!(seen[0].header(name), Some(value), "{name}");
    }
    assert_eq!(bridge.end().0, Vec::<String>::new());
}

#[test]
fn a_clients_own_members_under_our_names_never_leave() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let mut smuggled = call(1);
    let meta = smuggled["params"]["_meta"].as_object_mut().unwrap();
    meta.insert("tenuo".into(), "theirs".into());
    meta.insert("pact/credential".into(), "theirs".into());
    meta.insert("pact/proof".into(), "theirs".into());
    bridge.ask(&smuggled.to_string());
    bridge.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"_meta":{"pact/credential":"theirs"}}}"#);
    let seen = server.seen();
    check_proof(&seen[0], &folder.read("agent.tenuo"));
    assert!(seen.iter().all(|seen| !seen.body.contains("theirs")), "{seen:?}");
    assert_eq!(seen[1].meta(), serde_json::json!({}));
}

#[test]
fn a_refused_call_is_an_answer_that_the_agent_can_act_on() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "tenuo_outside_constraint");
    let answer = bridge.call(1);
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"]["isError"], true);
    let structured = &answer["result"]["_meta"]["pact/refusal"];
    assert_eq!(structured["error"], "tenuo_outside_constraint");
    assert_eq!(structured["message"], "said no");
    assert_eq!(structured["request_id"], "q7");
    server.refuses(
        "503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 9",
        503,
        "list_stale",
    );
    let answer = bridge.call(2);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["retry_after_seconds"], 9);
    assert_eq!(server.seen().len(), 2, "what cannot be judged now is not tried again in secret");
    server.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    let answer = bridge.ask(r#"{"jsonrpc":"2.0","id":"x","method":"prompts/list"}"#);
    assert_eq!((answer["id"].as_str(), answer["error"]["code"].as_i64()), (Some("x"), Some(403)));
    assert_eq!(answer["error"]["data"]["reason"], "method_not_open");
}

#[test]
fn an_error_of_the_tool_server_is_passed_on_as_it_came() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let error =
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"no such tool","data":{"x":1.0}}}"#;
    server.then(Reply::Whole(JSON, error.to_owned()));
    bridge.write(call(1).to_string().as_bytes());
    assert_eq!(bridge.line(), error.replace("ID", "1"));
    let no_id = error.replace("ID", "null");
    server.then(Reply::Whole("400 Bad Request\r\nContent-Type: application/json", no_id));
    let answer = bridge.call(2);
    assert_eq!((answer["id"].as_i64(), answer["error"]["code"].as_i64()), (Some(2), Some(-32602)));
}

#[test]
fn a_proof_refused_for_its_time_is_made_once_more_by_the_sidecars_clock() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let (_, before) = {
        bridge.call(1);
        check_proof(&server.seen()[0], &folder.read("agent.tenuo"))
    };
    let there = time::OffsetDateTime::from_unix_timestamp(i64::try_from(before).unwrap() + 1800).unwrap();
    let date = there.format(&time::format_description::well_known::Rfc2822).unwrap().replace("+0000", "GMT");
    let head = format!("401 Unauthorized\r\nContent-Type: application/json\r\nDate: {date}");
    let head: &'static str = head.leak();
    server.refuses(head, 401, "tenuo_proof_too_old");
    assert_eq!(bridge.call(2)["result"]["content"][0]["text"], "done");
    let seen = server.wait_for(3);
    let (_, after) = check_proof(&seen[2], &folder.read("agent.tenuo"));
    assert!((1700..2000).contains(&(after - before)), "{before} {after}");
    bridge.call(3);
    let (_, later) = check_proof(&server.seen()[3], &folder.read("agent.tenuo"));
    assert!(later >= after, "the offset is kept");
    for _ in 0..2 {
        server.refuses(head, 401, "tenuo_proof_too_old");
    }
    let answer = bridge.call(4);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["error"], "tenuo_proof_too_old");
    assert_eq!(server.seen().len(), 6, "once, and no more");
    let (_, errors) = bridge.end();
    assert!(errors.contains("Set the clocks"), "{errors}");
}

/// What the tool server says may look like a refusal: the call is not made again for it, since it ran, and nothing is believed.
#[test]
fn an_error_of_the_tool_server_is_not_taken_for_a_refusal_of_the_sidecar() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    bridge.call(0);
    let (_, now) = check_proof(&server.seen()[0], &folder.read("agent.tenuo"));
    let there = time::OffsetDateTime::from_unix_timestamp(i64::try_from(now).unwrap() + 1800).unwrap();
    let date = there.format(&time::format_description::well_known::Rfc2822).unwrap().replace("+0000", "GMT");
    let error = |reason: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":401,"message":"no","data":{{"reason":"{reason}","request_id":"q"}}}}}}"#
        )
    };
    for (mark, reason) in
        [("", "tenuo_proof_too_old"), ("\r\nPact-Refusal: replayed", "tenuo_proof_too_old"), ("", "revoked")]
    {
        for status in ["200 OK", "401 Unauthorized"] {
            let head = format!("{status}\r\nContent-Type: application/json\r\nDate: {date}{mark}");
            server.then(Reply::Whole(head.leak(), error(reason)));
            let before = server.seen().len();
            let answer = bridge.call(1);
            assert_eq!(answer["error"]["data"]["reason"], reason, "as the server said it: {answer}");
            assert_eq!(server.seen().len(), before + 1, "once");
        }
    }
    server.then(Reply::Events(vec![format!("data: {}\n\n", error("tenuo_proof_too_old"))]));
    let before = server.seen().len();
    assert_eq!(bridge.call(2)["result"]["_meta"]["pact/refusal"]["error"], "tenuo_proof_too_old");
    assert_eq!(server.seen().len(), before + 1, "once");
}

#[test]
fn a_clock_that_is_days_away_is_not_followed() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let head = "401 Unauthorized\r\nContent-Type: application/json\r\nDate: Thu, 03 Dec 2020 05:00:00 GMT";
    server.refuses(head, 401, "dpop_from_the_future");
    assert_eq!(bridge.call(1)["result"]["_meta"]["pact/refusal"]["error"], "dpop_from_the_future");
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let (server, elsewhere, folder) = (Server::start(), Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let head = format!("307 Temporary Redirect\r\nLocation: {}", elsewhere.url());
    server.then(Reply::Whole(head.leak(), String::new()));
    assert_eq!(bridge.call(1)["result"]["_meta"]["pact/refusal"]["error"], "redirected");
    assert!(elsewhere.seen().is_empty());
}

#[test]
fn what_is_no_answer_is_named() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    for (head, body, code) in [
        ("200 OK\r\nContent-Type: text/html", "<p>", "no_answer"),
        ("202 Accepted", "", "no_answer"),
        (JSON, "{", "answer_not_mcp"),
        (JSON, r#"{"jsonrpc":"2.0","id":"other","result":{}}"#, "answer_not_mcp"),
        (JSON, r#"{"jsonrpc":"2.0","method":"x"}"#, "answer_not_mcp"),
        (
            "500 Oops\r\nContent-Type: application/json",
            r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
            "no_answer",
        ),
    ] {
        server.then(Reply::Whole(head, body.to_owned()));
        assert_eq!(bridge.call(1)["result"]["_meta"]["pact/refusal"]["error"], code, "{head} {body}");
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let (server, folder) = (Server::start(), Folder::new());
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = Server { address: gone, ..server };
    let mut bridge = Bridge::to(&nobody, &folder);
    let answer: Value = bridge.call(1);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["error"], "sidecar_unreachable");
    let answer = bridge.ask(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    assert_eq!(answer["error"]["data"]["reason"], "sidecar_unreachable");
}
