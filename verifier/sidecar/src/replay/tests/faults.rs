//! Whatever the server does but answer well, the proof is refused, in bounded time, and the store recovers by itself.

use std::{
    net::TcpListener,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::{
    fake::{Fake, Mood},
    *,
};

fn quick(port: u16) -> SharedReplay {
    store_with(port, "timeout = \"100ms\"", Bounds::USUAL)
}

/// Refused with this fault, and accepted when the server is well again.
fn refused(mood: &Mood, fault: SharedFault) {
    let fake = Fake::start(Mood::Well);
    let is_slow = matches!(mood, Mood::Silent | Mood::Drips);
    let store = if is_slow { quick(fake.port) } else { store(fake.port) };
    until_connected(&store);
    assert_eq!(store.record(&proof(1, 1), now()), Ok(()));
    fake.becomes(mood.clone());
    assert_eq!(store.record(&proof(1, 2), now()), failure(fault), "{mood:?}");
    until("noted", || store.state().faults.contains_key(fault.code()));
    assert!(store.state().fault.is_some() && store.health().failed.is_some(), "{mood:?}");
    fake.becomes(Mood::Well);
    until("well again", || store.record(&proof(1, 3), now()).is_ok());
    assert_eq!(store.health().failed, None, "{mood:?}");
}

#[test]
fn p7_what_the_server_says_instead_of_an_answer_is_a_refusal_with_its_own_code() {
    let cases: [(&'static [u8], SharedFault); 16] = [
        (b"-NOAUTH Authentication required.\r\n", SharedFault::Password),
        (b"-WRONGPASS invalid username-password pair\r\n", SharedFault::Password),
        (b"-NOPERM this user has no permissions\r\n", SharedFault::Permission),
        (b"-READONLY You can't write against a read only replica.\r\n", SharedFault::ReadOnly),
        (b"-LOADING Redis is loading the dataset in memory\r\n", SharedFault::Loading),
        (b"-MISCONF Redis is configured to save RDB snapshots\r\n", SharedFault::CannotSave),
        (b"-NOREPLICAS Not enough good replicas to write.\r\n", SharedFault::CannotSave),
        (b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", SharedFault::MemoryFull),
        (b"-BUSY Redis is busy running a script.\r\n", SharedFault::Busy),
        (b"-MOVED 3999 127.0.0.1:6381\r\n", SharedFault::Cluster),
        (b"-NOSCRIPT No matching script.\r\n", SharedFault::ScriptLost),
        (b"-ERR unknown command\r\n", SharedFault::Refused),
        (b"-WRONGTYPE Operation against a key\r\n", SharedFault::Refused),
        (b"+OK\r\n", SharedFault::Garbage),
        (b":1\r\n", SharedFault::Garbage),
        (b"*2\r\n$1\r\n1\r\n$8\r\nrecorded\r\n", SharedFault::Garbage),
    ];
    for (said, fault) in cases {
        refused(&Mood::Says(said), fault);
    }
}

#[test]
fn p7_garbage_and_answers_to_other_questions_are_refused() {
    for said in [
        b"HTTP/1.1 400 Bad Request\r\n\r\n".as_slice(),
        b"*99999999999999999999\r\n",
        b"$9223372036854775807\r\n",
        b"\x15\x03\x03\x00\x02\x02\x50\r\n",
    ] {
        refused(&Mood::Says(said), SharedFault::Garbage);
    }
    refused(&Mood::Late, SharedFault::Garbage);
    refused(&Mood::Chatty, SharedFault::Garbage);
}

#[test]
fn p7_a_server_that_is_silent_slow_or_cut_off_is_refused_in_bounded_time() {
    refused(&Mood::Silent, SharedFault::TimedOut);
    refused(&Mood::Drips, SharedFault::TimedOut);
    refused(&Mood::Cuts(b""), SharedFault::Cut);
    refused(&Mood::Cuts(b"*7\r\n$1\r\n1"), SharedFault::Cut);
}

#[test]
fn p7_a_server_that_never_lets_us_in_is_refused() {
    for (said, fault) in [
        (b"-NOAUTH Authentication required.\r\n".as_slice(), SharedFault::Password),
        (b"-ERR invalid password\r\n", SharedFault::Password),
        (b"-LOADING Redis is loading the dataset in memory\r\n", SharedFault::Loading),
        (b"-ERR DB index is out of range\r\n", SharedFault::Refused),
        (b":1\r\n", SharedFault::Garbage),
    ] {
        let fake = Fake::start(Mood::Always(said));
        let store = store(fake.port);
        assert_eq!(store.record(&proof(1, 1), now()), failure(fault));
        fake.becomes(Mood::Well);
        until("well", || store.record(&proof(1, 1), now()).is_ok());
    }
}

#[test]
fn p7_nobody_there_is_refused_at_once_and_until_somebody_is() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let store = store(port);
    let refused = SharedFault::Unreachable(io::ErrorKind::ConnectionRefused);
    assert_eq!(store.health().since, UnixTime::MAX);
    for id in 0..100 {
        assert_eq!(store.record(&proof(1, id), now()), failure(refused));
    }
    assert_eq!(store.state().fault, Some(refused));
}

/// The server of requests has one thread here. While records wait, it does everything else.
#[test]
fn a_store_that_does_not_answer_keeps_no_thread_of_the_server() {
    let fake = Fake::start(Mood::Well);
    let store = Arc::new(store_with(fake.port, "timeout = \"3s\"", Bounds::USUAL));
    until_connected(&store);
    fake.becomes(Mood::Silent);
    let refused = Arc::new(AtomicUsize::new(0));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let records: Vec<_> = (0..32)
            .map(|id| {
                let (store, refused) = (Arc::clone(&store), Arc::clone(&refused));
                tokio::spawn(async move {
                    assert_eq!(store.record(&proof(1, id), now()), failure(SharedFault::TimedOut));
                    refused.fetch_add(1, Ordering::SeqCst);
                })
            })
            .collect();
        tokio::spawn(async {
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await
        .unwrap();
        assert_eq!(refused.load(Ordering::SeqCst), 0, "the other task ran while all records waited");
        for record in records {
            record.await.unwrap();
        }
    });
    assert_eq!(refused.load(Ordering::SeqCst), 32);
}

#[test]
fn p7_a_thread_that_has_died_lets_nothing_through() {
    let fake = Fake::start(Mood::Well);
    let clock = Clock::from_fn(|| panic!("the clock was told to"));
    let store = SharedReplay::start(server_at(fake.port, ""), clock).unwrap();
    until("dead", || store.state().fault == Some(SharedFault::ThreadDied));
    assert_eq!(store.record(&proof(1, 1), now()), failure(SharedFault::ThreadDied));
}
