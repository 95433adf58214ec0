//! The shared record against servers that misbehave, and against the real one.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use pact_mandate::{Monotonic, Now, SecretKey, Signer, UnixTime};
use pact_revocation::Entry;

use super::*;
use crate::config::Config;

mod fake;
mod faults;
mod record;
mod server;
mod unbroken;

#[expect(clippy::disallowed_methods, reason = "a test against the machine's own clock")]
fn now() -> Now {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    Now::new(UnixTime::try_from(wall).unwrap(), Monotonic::from_origin(Duration::ZERO))
}

#[expect(clippy::disallowed_methods, reason = "a test that measures")]
fn now_exactly() -> Instant {
    Instant::now()
}

/// The server at that port of this machine, with more lines in its `[replay]`.
fn server_at(port: u16, more: &str) -> RedisConfig {
    let named = format!("redis = \"redis://127.0.0.1:{port}/0\"");
    let more = if more.contains("redis =") { more.to_owned() } else { format!("{named}\n{more}") };
    let text = format!(
        r#"
listen = "127.0.0.1:0"
admin_listen = "127.0.0.1:0"
audience = "https://tools.example.org/mcp"
policy = "policy.toml"
state_dir = "state"
upstream = {{ url = "http://127.0.0.1:9000/mcp" }}

[replay]
{more}

[[issuers]]
id = "acme"
roots = ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
list_keys_url = "https://acme.example/keys"
lists_url = "https://acme.example/list"
speaks = {{ formats = ["tenuo"], actions = ["task.*"], projects = ["web"] }}
"#
    );
    Config::from_toml(&text, "/".as_ref()).unwrap().replay.unwrap()
}

fn store_with(port: u16, more: &str, bounds: Bounds) -> SharedReplay {
    SharedReplay::start_bounded(server_at(port, more), Clock::from_fn(now), bounds).unwrap()
}

fn store(port: u16) -> SharedReplay {
    store_with(port, "timeout = \"5s\"", Bounds::USUAL)
}

/// A proof of that holder, made so many seconds from now: a new record counts those alone that are made a while after it.
fn proof_in(seconds: u64, holder: u8, id: u8) -> ProofId {
    let holder = *SecretKey::from_seed(&[holder; 32]).unwrap().public_key();
    let made_at = now().wall.plus(seconds);
    ProofId::new(holder, Entry::of_warrant(&[1; 16]), [id; 32], made_at.minus(5), made_at.plus(61))
}

fn proof(holder: u8, id: u8) -> ProofId {
    proof_in(30, holder, id)
}

fn failure(fault: SharedFault) -> Result<(), ReplayFault> {
    Err(ReplayFault::Failed(fault.into()))
}

/// Waits until it holds; what it waits for takes milliseconds.
#[expect(clippy::disallowed_methods, reason = "a test's own patience")]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "never {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn until_connected(store: &SharedReplay) {
    until("connected", || store.state().fault.is_none());
}
