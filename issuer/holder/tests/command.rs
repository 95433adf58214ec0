//! The command, run as its users run it.

use std::{
    fs, io,
    os::unix::fs::PermissionsExt,
    process::{Command, Output},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;

fn run(arguments: &[&str]) -> io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_pact-holder")).args(arguments).output()
}

fn printed(output: &io::Result<Output>) -> String {
    assert!(output.as_ref().is_ok_and(|output| output.status.success()), "{output:?}");
    output
        .as_ref()
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .unwrap_or_default()
}

#[test]
fn a_key_is_made_once_and_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("agent.key");
    let path = key.to_str().unwrap();
    let public = printed(&run(&["keygen", "--key", path]));
    assert_eq!(public.len(), 43);
    assert_eq!(fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(printed(&run(&["public", "--key", path])), public);
    let again = run(&["keygen", "--key", path]).unwrap();
    assert!(!again.status.success(), "an existing key was overwritten");
    let secret = fs::read_to_string(&key).unwrap();
    assert!(!String::from_utf8_lossy(&again.stderr).contains(secret.trim()));
}

#[test]
fn a_biscuit_proof_comes_as_headers_and_as_meta() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("agent.key");
    let token = folder.path().join("token");
    fs::write(&token, "dG9rZW4=\n").unwrap();
    let (key, token) = (key.to_str().unwrap(), token.to_str().unwrap());
    printed(&run(&["keygen", "--key", key]));
    let audience = "http://127.0.0.1:1/mcp";
    let sign = ["sign", "--key", key, "--biscuit", token, "--audience", audience, "--tool", "read"];
    let answer: Value = serde_json::from_str(&printed(&run(&sign))).unwrap();
    assert_eq!(answer["headers"]["Authorization"], "DPoP dG9rZW4=");
    assert_eq!(answer["_meta"]["pact/proof"]["dpop"], answer["headers"]["DPoP"]);
    let reserved = [&sign[..], &["--arguments", r#"{"@aud":1}"#]].concat();
    let refused = run(&reserved).unwrap();
    assert!(!refused.status.success());
    assert!(String::from_utf8_lossy(&refused.stderr).contains("@aud"), "{refused:?}");
    let whole = [&sign[..], &["--arguments", r#"{"cost":2.50}"#, "--request"]].concat();
    let text = printed(&run(&whole));
    assert!(text.contains(r#""arguments":{"cost":2.50}"#), "{text}");
    let request: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(request["params"]["name"], "read");
    assert_eq!(request["params"]["_meta"]["pact/credential"], "dG9rZW4=");
}

#[test]
fn m4_an_act_on_a_session_is_signed_for_headers() {
    let folder = tempfile::tempdir().unwrap();
    let (key, token) = (folder.path().join("agent.key"), folder.path().join("token"));
    fs::write(&token, "dG9rZW4=\n").unwrap();
    let (key, token) = (key.to_str().unwrap(), token.to_str().unwrap());
    printed(&run(&["keygen", "--key", key]));
    let audience = "http://127.0.0.1:1/mcp";
    let common = ["sign-act", "--key", key, "--biscuit", token, "--audience", audience, "--session", "s1"];
    let claims = |more: &[&str]| -> Value {
        let answer: Value = serde_json::from_str(&printed(&run(&[&common[..], more].concat()))).unwrap();
        assert_eq!(answer["headers"]["Authorization"], "DPoP dG9rZW4=");
        let claims = answer["headers"]["DPoP"].as_str().unwrap().split('.').nth(1).unwrap().to_owned();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
    };
    for (more, tool, method) in [
        (&["listen"][..], "GET session", "GET"),
        (&["listen", "--last-event-id", "e7"], "GET session", "GET"),
        (&["close"], "DELETE session", "DELETE"),
        (&["respond", "--body", r#"{"jsonrpc":"2.0","id":7,"result":{}}"#], "POST response", "POST"),
    ] {
        let claims = claims(more);
        assert_eq!((claims["pact_tool"].as_str(), claims["htm"].as_str()), (Some(tool), Some(method)));
    }
    assert_ne!(claims(&["listen"])["pact_args"], claims(&["listen", "--last-event-id", "e"])["pact_args"]);
    let without_id = run(&[&common[..], &["respond", "--body", "{}"]].concat()).unwrap();
    assert!(!without_id.status.success());
}
