use std::time::Duration;

use pact_mandate::json::Number;

use super::*;
use crate::mcp::RpcId;

use pact_mandate::{KeyId, Monotonic};

fn at(seconds: u64) -> Monotonic {
    Monotonic::from_origin(Duration::from_secs(seconds))
}

fn id(text: &str) -> SessionId {
    SessionId::parse(text).unwrap()
}

fn key(name: &str) -> KeyId {
    name.parse().unwrap()
}

fn number(number: u64) -> RpcId {
    RpcId::Number(Number::from_u64(number))
}

fn book(count: usize) -> Arc<SessionBook> {
    Arc::new(SessionBook::new(SessionBounds { count, idle: Duration::from_mins(1) }))
}

#[test]
fn an_id_is_visible_ascii_and_shows_nothing() {
    for bad in ["", "a b", "a\u{e9}", "a\n", &"x".repeat(257)] {
        assert!(SessionId::parse(bad).is_none(), "{bad:?}");
    }
    assert_eq!(format!("{:?}", id("secret")), "SessionId(…)");
}

#[test]
fn m4_a_session_belongs_to_the_key_that_first_made_a_permitted_call_in_it() {
    let book = book(8);
    assert_eq!(book.claim(&id("s"), Some(key("a")), at(0)), Err(SessionFault::Unknown));
    book.begin(id("s"), at(0)).unwrap();
    assert_eq!(book.owned_by(&id("s"), &key("a"), at(0)), Err(SessionFault::NotOwned));
    assert_eq!(book.claim(&id("s"), None, at(0)), Err(SessionFault::NeedsHolder));
    for _ in 0..2 {
        assert_eq!(book.claim(&id("s"), Some(key("a")), at(0)), Ok(()));
        assert_eq!(book.claim(&id("s"), Some(key("b")), at(0)), Err(SessionFault::NotYours));
        assert_eq!(book.owned_by(&id("s"), &key("a"), at(0)), Ok(()));
        assert_eq!(book.owned_by(&id("s"), &key("b"), at(0)), Err(SessionFault::NotYours));
        // The tool server gives the same id once more.
        book.begin(id("s"), at(0)).unwrap();
    }
    book.end(&id("s"));
    assert_eq!(book.check(&id("s"), at(0)), Err(SessionFault::Unknown));
}

#[test]
fn m4_only_what_the_tool_server_asked_is_answered_once_and_by_the_owner() {
    let book = book(8);
    book.begin(id("s"), at(0)).unwrap();
    let visit = book.visit(&id("s"));
    visit.note_request(number(7)).unwrap();
    visit.note_request(number(7)).unwrap();
    let take = |holder, request| book.take_request(&id("s"), &key(holder), &request, at(0));
    assert_eq!(take("a", number(7)), Err(SessionFault::NotOwned));
    book.claim(&id("s"), Some(key("a")), at(0)).unwrap();
    assert_eq!(take("b", number(7)), Err(SessionFault::NotYours));
    assert_eq!(take("a", number(8)), Err(SessionFault::ResponseNotExpected));
    assert_eq!(take("a", RpcId::Text("7".to_owned())), Err(SessionFault::ResponseNotExpected));
    assert_eq!(take("a", number(7)), Ok(()));
    assert_eq!(take("a", number(7)), Err(SessionFault::ResponseNotExpected));
    visit.give_back(number(7));
    assert_eq!(take("a", number(7)), Ok(()));
    for count in 0..64 {
        visit.note_request(number(count)).unwrap();
    }
    assert!(visit.note_request(number(64)).is_err());
}

#[test]
fn s9_sessions_are_bounded_and_die_of_idleness_unless_one_of_their_answers_is_open() {
    let book = book(8);
    for count in 0..100 {
        book.begin(id(&format!("s{count}")), at(count)).unwrap();
        assert!(book.count() <= 4, "half of the room is for sessions that somebody owns");
    }
    assert_eq!(book.check(&id("s99"), at(100)), Ok(()));
    for garbage in 0..100 {
        assert_eq!(book.check(&id(&format!("g{garbage}")), at(100)), Err(SessionFault::Unknown));
    }
    assert_eq!(book.count(), 4);
    let visit = book.visit(&id("s99"));
    assert_eq!(book.check(&id("s99"), at(1000)), Ok(()));
    drop(visit);
    assert_eq!(book.check(&id("s99"), at(1061)), Err(SessionFault::Unknown));
    book.has_room(at(2000)).unwrap();
    assert_eq!(book.count(), 0);
}

#[test]
fn s9_owned_sessions_make_way_for_nobody_but_their_owner() {
    let book = book(200);
    let name = |count: u64| id(&format!("s{count}"));
    for count in 0..100 {
        book.begin(name(count), at(count / 10)).unwrap();
        book.claim(&name(count), Some(key("a")), at(count / 10)).unwrap();
    }
    assert_eq!(book.count(), 64);
    assert_eq!(book.check(&name(0), at(20)), Err(SessionFault::Unknown));
    assert_eq!(book.check(&name(99), at(20)), Ok(()));
    for count in 100..300 {
        let began = book.begin(name(count), at(20));
        let Ok(()) = began else { continue };
        book.claim(&name(count), Some(key(&format!("k{count}"))), at(20)).unwrap();
    }
    assert_eq!(book.has_room(at(20)), Err(SessionFault::Full));
    assert_eq!(book.begin(id("more"), at(20)), Err(SessionFault::Full));
    assert_eq!(book.check(&name(99), at(20)), Ok(()));
}
