//! The configuration file under hostile and mistaken hands: it is read or refused, never a panic, and a refusal names the key.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is a failure, also in what the tests share"
)]

use std::path::Path;

use pact_sidecar::{Config, ConfigError};
use proptest::prelude::*;

/// Every key there is, one a line.
const WHOLE: &str = r#"listen = "127.0.0.1:8080"
admin_listen = "127.0.0.1:9090"
admin_remote = false
allowed_hosts = ["tools.internal:8443"]
audience = "https://tools.example.org/mcp"
path = "/mcp"
policy = "policy.toml"
state_dir = "state"
[upstream]
url = "http://127.0.0.1:9000/mcp"
connect_timeout = "5s"
answer_timeout = "2m"
idle_timeout = "5m"
[limits]
body_bytes = 1048576
head_bytes = 65536
head_timeout = "10s"
body_timeout = "10s"
write_timeout = "30s"
connections = 4096
requests = 1024
recheck = "1s"
drain_delay = "5s"
drain = "10s"
[keys]
soft = "1m"
hard = "1h"
cooldown = "10s"
[lists]
every = "10s"
[receipts]
to = "file"
path = "state/receipts"
rotate_bytes = 67108864
rotate_after = "24h"
keep = 32
on_full = "refuse"
[replay]
redis = "redis://pact@10.0.0.5:6379/0"
password_file = "redis-password"
prefix = "pact"
timeout = "250ms"
[[issuers]]
id = "acme"
roots = ["11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"]
keys_url = "https://acme.example/keys"
list_keys = ["ours:FxJ2H2xNyXu2dSMNCtDaPDtUxE6mPkZ5hGR6cXxeVnA"]
list_keys_url = "https://acme.example/list-keys"
lists_url = "https://acme.example/list"
bearer = false
[issuers.speaks]
formats = ["tenuo", "biscuit"]
actions = ["task.*"]
projects = ["web"]
"#;

/// What a person might write instead of a value.
const VALUES: [&str; 24] = [
    "\"\"",
    "\" \"",
    "\"x y\"",
    "\"\\u0000\"",
    "\"*\"",
    "\"0s\"",
    "\"99999999999999999999h\"",
    "\"http://\"",
    "\"127.0.0.1\"",
    "[\"*\", \"*\"]",
    "[\"a:b:c\"]",
    "[\"é\"]",
    "[]",
    "[[]]",
    "{}",
    "{ a = 1 }",
    "true",
    "0",
    "-1",
    "9223372036854775807",
    "1.5",
    "nan",
    "1979-05-27",
    "07:32:00",
];

fn read(text: &str) -> Result<Config, ConfigError> {
    Config::from_toml(text, Path::new("/etc/pact"))
}

/// What is read is printed, and what is printed reads as the same.
fn is_sound(text: &str) {
    let Ok(config) = read(text) else { return };
    let again =
        read(config.effective()).unwrap_or_else(|error| panic!("{error}\n{text}\n{}", config.effective()));
    assert_eq!(again.effective(), config.effective());
}

/// Whether the text names the key: in backquotes, or by the line that it stands in.
fn names(error: &ConfigError, key: &str) -> bool {
    let text = error.to_string();
    let quoted = [format!("`{key}`"), format!(".{key}`"), format!("| {key} = ")];
    quoted.iter().any(|form| text.contains(form))
}

/// The lines that give a key its value, and those keys.
fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    WHOLE.lines().filter_map(|line| Some((line, line.split_once(" = ")?.0)))
}

#[test]
fn the_whole_file_is_read() {
    let config = read(WHOLE).unwrap();
    for (_, key) in keys() {
        assert!(config.effective().contains(&format!("{key} = ")), "{key} in\n{}", config.effective());
    }
}

#[test]
fn a_value_that_does_not_do_is_refused_by_the_name_of_its_key() {
    for (line, key) in keys() {
        for value in VALUES {
            let text = WHOLE.replacen(line, &format!("{key} = {value}"), 1);
            is_sound(&text);
            if let Err(error) = read(&text) {
                assert!(names(&error, key), "{key} = {value}: {error}");
            }
        }
    }
}

#[test]
fn a_key_that_is_missing_misspelt_or_there_twice_is_named() {
    for (line, key) in keys() {
        let without = WHOLE.replacen(&format!("{line}\n"), "", 1);
        is_sound(&without);
        if let Err(error) = read(&without) {
            assert!(names(&error, key), "without {key}: {error}");
        }
        let misspelt = WHOLE.replacen(line, &line.replacen(key, &format!("{key}x"), 1), 1);
        let error = read(&misspelt).unwrap_err().to_string();
        assert!(error.contains(&format!("{key}x`")) && error.contains(&format!("{key}`")), "{key}x: {error}");
        let twice = WHOLE.replacen(line, &format!("{line}\n{line}"), 1);
        let error = read(&twice).unwrap_err().to_string();
        assert!(error.contains("duplicate key") && error.contains(key), "{key} twice: {error}");
    }
}

#[test]
fn a_file_that_is_nested_without_end_is_refused_at_once() {
    for (open, close) in [("[", "]"), ("{a=", "}")] {
        let deep = format!("listen = {}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(read(&deep).is_err());
        assert!(read(&format!("{}1", "a.".repeat(100_000))).is_err());
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>(), lines in proptest::collection::vec("[a-z_.\\[\\]=\"'{}, 0-9#\n]{0,40}", 0..20)) {
        is_sound(&text);
        is_sound(&lines.join("\n"));
    }

    /// A slip of the hand: bytes changed, left out, put in, or a line somewhere else.
    #[test]
    fn a_file_with_slips_is_read_or_refused(
        slips in proptest::collection::vec((any::<prop::sample::Index>(), 0..4_u8, any::<char>()), 1..6),
        moved in any::<prop::sample::Index>(),
        to in any::<prop::sample::Index>(),
    ) {
        let mut lines: Vec<&str> = WHOLE.lines().collect();
        let line = lines.remove(moved.index(lines.len()));
        lines.insert(to.index(lines.len()), line);
        let mut text: Vec<char> = lines.join("\n").chars().collect();
        for (at, slip, letter) in slips {
            let at = at.index(text.len());
            match slip {
                0 => text[at] = letter,
                1 => text[at] = '\n',
                2 => text.insert(at, letter),
                _ => drop(text.drain(at..(at + 20).min(text.len() - 1).max(at))),
            }
        }
        is_sound(&text.into_iter().collect::<String>());
    }
}
