//! A key moves on: what the old one signed keeps working, and the new one signs on top of it (protocol K6).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::{path::Path, process::Command, time::Duration};

use serde_json::Value;

const HOLDER: &str = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

fn run(dir: &Path, args: &[&str]) -> Result<Value, Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pact-issuer"));
    let output = command.arg("--dir").arg(dir).arg("--json").args(args).output().unwrap();
    if output.status.success() {
        Ok(serde_json::from_slice(&output.stdout).unwrap())
    } else {
        Err(serde_json::from_slice(&output.stderr).unwrap())
    }
}

fn ok(dir: &Path, args: &[&str]) -> Value {
    run(dir, args).unwrap_or_else(|error| panic!("{args:?}: {error}"))
}

/// Names and states of the mandate keys.
fn states(dir: &Path) -> Vec<String> {
    let keys = ok(dir, &["keys"]);
    let mandate = keys["keys"].as_array().unwrap().iter().filter(|key| key["role"] == "mandate");
    mandate.map(|key| key["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn k6_old_chains_keep_working_when_the_key_moves_on() {
    let folder = tempfile::tempdir().unwrap();
    let dir = &folder.path().join("data");
    let out = folder.path().join("public");
    ok(dir, &["init", "--issuer", "example", "--key-cache", "1s"]);
    let scope = ["--scope", "task.read@project:web", "--holder", "agent-a"];
    let root = ok(dir, &[&["mint", "--human", "boss", "--delegations", "1"], &scope[..]].concat());
    let root = root["id"].as_str().unwrap();

    ok(dir, &["keys", "rotate", "--role", "mandate"]);
    assert_eq!(states(dir), ["active", "next"]);
    while let Err(error) = run(dir, &["keys", "rotate", "--role", "mandate"]) {
        assert!(error["error"].as_str().unwrap().contains("may sign from"), "{error}");
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(states(dir), ["retiring", "active"]);

    // The root carries the old signature, the hand-off and both credentials the new one.
    let child = ok(dir, &[&["delegate", "--parent", root], &scope[..]].concat());
    let child = child["id"].as_str().unwrap();
    for format in ["tenuo", "biscuit"] {
        ok(dir, &["export", child, "--format", format, "--holder-key", HOLDER]);
    }
    ok(dir, &["publish", "--out", out.to_str().unwrap()]);
    let set = std::fs::read(out.join(".well-known/pact-keys.json")).unwrap();
    assert_eq!(pact_mandate::jwks::KeySet::from_document(&set).unwrap().keys().len(), 2);

    // A revoked key takes everything that it signed along.
    let keys = ok(dir, &["keys"]);
    let old = keys["keys"].as_array().unwrap().iter().find(|key| key["state"] == "retiring").unwrap();
    ok(dir, &["revoke", "--key", old["kid"].as_str().unwrap()]);
    let error = run(dir, &["export", child, "--format", "tenuo", "--holder-key", HOLDER]).unwrap_err();
    assert!(error["error"].as_str().unwrap().contains("no key"), "{error}");
    let traced = ok(dir, &["trace", child]);
    assert_eq!(traced["chain"][0]["state"]["is"], "key_revoked", "{traced}");
    assert_eq!(traced["credentials"][0]["state"]["is"], "listed", "{traced}");
    ok(dir, &["revoke", "--key", HOLDER]);
    let fresh = ok(dir, &[&["mint", "--human", "boss"], &scope[..]].concat());
    let fresh = fresh["id"].as_str().unwrap();
    let error = run(dir, &["export", fresh, "--format", "tenuo", "--holder-key", HOLDER]).unwrap_err();
    assert!(error["error"].as_str().unwrap().contains("was revoked"), "{error}");
}

/// One key in 64 begins with a hyphen. Whoever must revoke it must not have to guess how.
#[test]
fn a_key_that_begins_with_a_hyphen_is_a_key_and_a_second_revocation_says_so() {
    const HYPHEN: &str = "-kg0FH9uaQw2k-_2EzYEZAPNiuKhTzGzxAc1hWkjlWU";
    let folder = tempfile::tempdir().unwrap();
    let dir = &folder.path().join("data");
    ok(dir, &["init", "--issuer", "example"]);
    let scope = ["--scope", "task.read@project:web", "--holder", "agent-a"];
    let root = ok(dir, &[&["mint", "--human", "boss"], &scope[..]].concat());
    ok(dir, &["export", root["id"].as_str().unwrap(), "--format", "tenuo", "--holder-key", HYPHEN]);
    let told = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pact-issuer"));
        let output = command.arg("--dir").arg(dir).args(["revoke", "--key", HYPHEN]).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(told().starts_with("Revoked"));
    assert!(told().contains("revoked already"));
    // Keys stand as a sidecar's configuration takes them.
    let keys =
        Command::new(env!("CARGO_BIN_EXE_pact-issuer")).arg("--dir").arg(dir).arg("keys").output().unwrap();
    let text = String::from_utf8(keys.stdout).unwrap();
    for key in ok(dir, &["keys"])["keys"].as_array().unwrap() {
        let both = format!("{}:{}", key["kid"].as_str().unwrap(), key["key"].as_str().unwrap());
        assert!(text.contains(&both), "{both} in\n{text}");
    }
}
