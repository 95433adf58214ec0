//! Hostile lines: each is answered, and none of them carries a credential anywhere.

use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, TestRunner},
};
use serde_json::Value;

use crate::{
    child::{Bridge, Folder, call},
    server::Server,
};

fn error_code(answer: &Value) -> (Option<i64>, bool) {
    (answer["error"]["code"].as_i64(), answer["id"].is_null())
}

#[test]
fn what_is_no_message_gets_one_answer_and_goes_nowhere() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(100),
        "]".repeat(100)
    );
    let doubled = call(1).to_string().replace(r#""name":"#, r#""name":"other","name":"#);
    let batch = format!("[{}]", call(1));
    let cases: [(&[u8], i64); 9] = [
        (b"hello", -32700),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", -32700),
        ("\u{feff}{}".as_bytes(), -32700),
        (deep.as_bytes(), -32700),
        (doubled.as_bytes(), -32700),
        (batch.as_bytes(), -32600),
        (br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":[]}}"#, -32600),
        (br#"{"jsonrpc":"2.0","id":1,"method":"ping","Params":{}}"#, -32600),
    ];
    for (line, code) in cases {
        bridge.write(line);
        assert_eq!(error_code(&bridge.answer()), (Some(code), true), "{}", String::from_utf8_lossy(line));
    }
    assert!(server.seen().is_empty(), "{:?}", server.seen());
    assert_eq!(bridge.call(1)["result"]["content"][0]["text"], "done");
}

#[test]
fn a_line_of_a_hundred_megabytes_is_thrown_away_as_it_comes() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    let mut line = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""#.to_vec();
    line.resize(100 * 1024 * 1024, b'x');
    bridge.write(&line);
    drop(line);
    let answer = bridge.answer();
    assert_eq!(answer["error"]["data"]["reason"], "line_too_long");
    assert!(bridge.resident_kib() < 64 * 1024, "{} KiB", bridge.resident_kib());
    assert_eq!(bridge.call(2)["id"], 2);
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn an_id_that_waits_for_its_answer_is_not_used_twice() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    server.then(crate::server::Reply::Silence);
    bridge.write(call(7).to_string().as_bytes());
    server.wait_for(1);
    assert_eq!(error_code(&bridge.call(7)), (Some(-32600), true));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_call_that_cannot_be_signed_is_answered_here() {
    let (server, folder) = (Server::start(), Folder::new());
    let mut bridge = Bridge::to(&server, &folder);
    for arguments in [r#"{"@aud":"x"}"#, "[]", "7"] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{arguments}}}}}"#
        );
        assert_eq!(
            bridge.ask(&text)["result"]["_meta"]["pact/refusal"]["error"],
            "not_signed",
            "{arguments}"
        );
    }
    let answer = bridge.ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#);
    assert_eq!(answer["result"]["_meta"]["pact/refusal"]["error"], "not_signed");
    assert!(server.seen().is_empty());
}

/// Lines made of pieces of messages, so that some are whole and most are nearly so.
const PIECES: [&str; 15] = [
    r#"{"jsonrpc":"2.0","#,
    r#""id":1"#,
    r#""id":"a""#,
    ",",
    r#""method":"tools/call""#,
    r#""method":"ping""#,
    r#""method":"notifications/progress""#,
    r#""params":{"name":"echo","arguments":{"project":"web"}}"#,
    r#""params":{"_meta":{"tenuo":1}}"#,
    r#""result":{}"#,
    "}",
    "[",
    "]",
    "\u{0}",
    " ",
];

fn line() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => proptest::sample::select(&PIECES[..]).prop_map(|text| text.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>().prop_filter("one line", |b| *b != b'\n'), 0..8),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

#[test]
fn whatever_is_sent_each_line_has_at_most_one_answer_and_no_broken_one_a_credential() {
    let (server, folder) = (Server::start(), Folder::new());
    let credential = folder.read("agent.tenuo");
    let mut bridge = Bridge::to(&server, &folder);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    let strategy = line();
    let lines: Vec<Vec<u8>> = (0..300).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect();
    for line in &lines {
        bridge.write(line);
    }
    let (answers, _) = bridge.end();
    let sent = lines.iter().filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    let broken = sent.clone().filter(|line| pact_mandate::Json::parse(line).is_err()).count();
    let nameless = answers.iter().filter(|answer| answer.contains(r#""id":null"#)).count();
    assert!(answers.len() <= sent.count(), "more answers than lines");
    assert!(broken > 0 && nameless >= broken, "{nameless} answers to {broken} broken lines");
    for seen in server.seen().iter().filter(|seen| seen.body.contains(&credential)) {
        assert_eq!(seen.json()["method"], "tools/call");
    }
    for answer in answers {
        serde_json::from_str::<Value>(&answer).unwrap();
    }
}

impl Bridge {
    fn resident_kib(&self) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process_id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    }
}
