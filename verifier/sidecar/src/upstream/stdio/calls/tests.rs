use super::*;

fn calls(has_client: bool) -> Calls {
    Calls::new(Arc::default(), has_client)
}

fn ask(calls: &Calls, body: &str, asker: Asker) -> (u64, mpsc::Receiver<Part>) {
    calls.open(&Frame::read(body.as_bytes()).unwrap(), body.as_bytes(), asker).unwrap()
}

fn text(part: Option<Part>) -> String {
    match part.unwrap() {
        Part::Message(text) | Part::Answer(text) => String::from_utf8(text.to_vec()).unwrap(),
        other => panic!("{other:?}"),
    }
}

const CALLER: Asker = Asker { has_proven: true, takes_events: true };
const CALL: &str = r#"{"id":"a","method":"x","params":{"_meta":{"progressToken":7}}}"#;

#[tokio::test]
async fn attack_64_every_answer_reaches_the_one_who_asked_under_its_own_id() {
    let calls = calls(false);
    let (one, mut first) = ask(&calls, CALL, CALLER);
    let (two, mut second) = ask(&calls, CALL, CALLER);
    assert_eq!((one, two), (1, 2));
    for nobodys in ["\"1\"", "1.0", "01", "0", "3", "\"a\"", "7"] {
        calls.receive(format!(r#"{{"id":{nobodys},"result":{{}}}}"#).as_bytes());
        calls.receive(format!(r#"{{"method":"p","params":{{"progressToken":{nobodys}}}}}"#).as_bytes());
    }
    calls.receive(br#"{"method":"p","params":{"progressToken":2,"progress":1}}"#);
    calls.receive(br#"{"id":2,"result":{"b":1}}"#);
    calls.receive(br#"{"id":2,"result":{"again":1}}"#);
    calls.receive(br#"{"method":"p","params":{"progressToken":2,"progress":2}}"#);
    calls.receive(br#"{"result":{"a":1}, "id" : 1 }"#);
    assert_eq!(text(second.recv().await), r#"{"method":"p","params":{"progressToken":7,"progress":1}}"#);
    assert_eq!(text(second.recv().await), r#"{"id":"a","result":{"b":1}}"#);
    assert_eq!(second.recv().await, None);
    assert_eq!(text(first.recv().await), r#"{"result":{"a":1}, "id" : "a" }"#);
    assert_eq!(calls.count(), 0);
}

#[tokio::test]
async fn m4_what_belongs_to_no_call_reaches_the_client_of_the_session_and_nobody_else() {
    let message = br#"{"method":"notifications/message","params":{}}"#;
    let question = br#"{"id":9,"method":"roots/list"}"#;
    let shared = calls(false);
    let (_, mut caller) = ask(&shared, CALL, CALLER);
    assert_eq!(shared.receive(message), None);
    let refused = shared.receive(question).unwrap();
    assert!(refused.starts_with(br#"{"jsonrpc":"2.0","id":9,"error":{"code":-32601"#), "{refused:?}");
    assert!(caller.try_recv().is_err());
    // In a session: not to whoever proved nothing, or takes the answer alone.
    let own = calls(true);
    let unproven = Asker { has_proven: false, ..CALLER };
    let (_, mut ping) = ask(&own, CALL, unproven);
    let (_, mut plain) = ask(&own, CALL, Asker { takes_events: false, ..CALLER });
    assert!(own.receive(question).is_some());
    let (_, mut call) = ask(&own, CALL, CALLER);
    assert_eq!(own.receive(question), None);
    assert_eq!(text(call.recv().await).as_bytes(), question);
    let mut stream = own.listen().unwrap();
    own.receive(message);
    assert_eq!(text(stream.recv().await).as_bytes(), message);
    drop(stream);
    own.receive(message);
    assert_eq!(text(call.recv().await).as_bytes(), message);
    assert!(ping.try_recv().is_err() && plain.try_recv().is_err());
}

#[tokio::test]
async fn a_reader_that_is_behind_loses_messages_and_never_the_answer() {
    let calls = calls(false);
    let (_, mut parts) = ask(&calls, CALL, CALLER);
    for _ in 0..100 {
        calls.receive(br#"{"method":"p","params":{"progressToken":1}}"#);
    }
    calls.receive(br#"{"id":1,"result":{}}"#);
    let mut seen = Vec::new();
    while let Some(part) = parts.recv().await {
        seen.push(matches!(part, Part::Answer(_)));
    }
    assert_eq!(seen.len(), MAX_WAITING_MESSAGES + 1);
    assert_eq!(seen.last(), Some(&true));
}

#[tokio::test]
async fn a_caller_cancels_by_its_own_id_and_what_is_over_opens_nothing() {
    let calls = calls(true);
    let (number, mut parts) = ask(&calls, CALL, CALLER);
    assert_eq!(calls.cancel("\"b\""), None);
    assert_eq!(calls.cancel("1"), None);
    assert_eq!(calls.cancel("\"\\u0061\""), Some(number));
    assert_eq!(parts.recv().await, Some(Part::Cancelled));
    let (_, mut parts) = ask(&calls, CALL, CALLER);
    let mut stream = calls.listen().unwrap();
    calls.close();
    assert_eq!((parts.recv().await, stream.recv().await), (None, None));
    assert!(calls.listen().is_none() && calls.is_over());
    assert!(calls.open(&Frame::read(CALL.as_bytes()).unwrap(), CALL.as_bytes(), CALLER).is_none());
}
