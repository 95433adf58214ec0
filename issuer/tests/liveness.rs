//! A publisher that ended by itself: lists go stale, and whoever looks after the server is told to start it again.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod http;

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use pact_issuer::{
    keyring::{KeyEntry, Role},
    publish::Publisher,
    serve::{self, Ports},
    store::Store,
};
use pact_mandate::{SecretKey, Signer, UnixTime};
use tokio::{net::TcpListener, runtime::Runtime};

static BROKEN: AtomicBool = AtomicBool::new(false);

/// Panics in the publisher's own thread, which no runtime drives.
fn clock() -> UnixTime {
    let publisher = tokio::runtime::Handle::try_current().is_err();
    assert!(!publisher || !BROKEN.load(Ordering::SeqCst), "this is how a bug would end the publisher");
    UnixTime::try_from(1_000).unwrap()
}

fn publisher(dir: &Path) -> Publisher {
    let first = |seed, role| {
        let key = SecretKey::from_seed(&[seed; 32]).unwrap();
        (KeyEntry::first(key.key_id().clone(), role, *key.public_key(), clock()), key)
    };
    let keys = vec![first(1, Role::Mandate), first(2, Role::List)];
    let store = Store::create(&dir.join("data"), "example".parse().unwrap(), 60, keys, clock()).unwrap();
    Publisher::take(store).unwrap()
}

async fn bind() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[test]
fn r2_a_publisher_that_ended_is_neither_alive_nor_ready() {
    let dir = tempfile::tempdir().unwrap();
    let publisher = publisher(dir.path());
    let runtime = Runtime::new().unwrap();
    let (public, address) = runtime.block_on(bind());
    let (admin, admin_address) = runtime.block_on(bind());
    let ports = Ports { public, admin: Some(admin) };
    runtime.spawn(serve::run(ports, publisher, clock, std::future::pending()));
    let ask = |path| http::ask(&admin_address, "GET", path, "");
    assert_eq!((ask("/livez").status, ask("/readyz").status), (200, 200));
    assert_eq!(ask("/livez").header("cache-control"), Some("no-store"));

    BROKEN.store(true, Ordering::SeqCst);
    let mut alive = ask("/livez");
    for _ in 0..200 {
        if alive.status != 200 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
        alive = ask("/livez");
    }
    assert_eq!(alive.status, 503);
    assert!(String::from_utf8(alive.body).unwrap().contains("start"), "it says what to do");
    let ready = ask("/readyz");
    let health: serde_json::Value = serde_json::from_slice(&ready.body).unwrap();
    assert_eq!((ready.status, &health["publisher"]["ok"]), (503, &false.into()), "{health}");
    assert!(health["reasons"][0].as_str().unwrap().starts_with("publisher: "), "{health}");
    // What was signed is served for as long as it lasts.
    assert_eq!(http::ask(&address, "GET", "/.well-known/pact-revocations/pact", "").status, 200);
}
