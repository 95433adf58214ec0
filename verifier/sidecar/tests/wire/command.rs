//! The command itself.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    client::{get, open, post, raw},
    stand::{AUDIENCE, Stand},
    upstream::Mode,
};

fn command(config: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pact-sidecar"));
    command.arg("--config").arg(config).args(more).env("RUST_LOG", "trace");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[tokio::test]
async fn the_command_checks_and_prints_a_configuration_and_names_what_is_wrong_with_one() {
    let stand = Stand::start().await;
    let file = stand.folder.path().join("sidecar.toml");
    let checked = command(&file, &["--check"]).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let printed = command(&file, &["--print-config"]).output().unwrap();
    assert!(String::from_utf8(printed.stdout).unwrap().contains("recheck = \"1s\""));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("state_dir", "state_dri")).unwrap();
    let wrong = command(&file, &["--check"]).output().unwrap();
    assert!(!wrong.status.success());
    let said = String::from_utf8(wrong.stderr).unwrap();
    assert!(said.contains("`state_dri`") && said.contains("`state_dir`"), "{said}");
}

/// Whatever the level, no log holds what a caller could be robbed of.
#[tokio::test]
async fn no_log_holds_a_credential_a_proof_or_an_argument() {
    let stand = Stand::start().await;
    let text = std::fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
    let file = stand.folder.path().join("other.toml");
    std::fs::write(&file, text.replace("\"state\"", "\"other\"")).unwrap();
    let mut child = command(&file, &["--log-json"]).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("the sidecar listens") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    let address = log.split("\"traffic\":\"").nth(1).unwrap().split('"').next().unwrap().parse().unwrap();
    let rest = std::thread::spawn(move || {
        let mut rest = String::new();
        lines.read_to_string(&mut rest).unwrap();
        rest
    });
    let credential = stand.issuer.mint();
    let mut sent = Vec::new();
    // P7: the first seconds' proofs are refused.
    for _ in 0..30 {
        let call = credential.call(AUDIENCE, r#"{"cost":1,"text":"swordfish"}"#);
        let answer = raw(address, &post("Authorization: Bearer abracadabra\r\n", call.as_bytes())).await;
        assert_eq!(answer.status, 400);
        let answer = raw(address, &post("", call.as_bytes())).await;
        sent.push(call.split("\"signature\":\"").nth(1).unwrap()[..86].to_owned());
        if answer.status == 200 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    assert_eq!(stand.upstream.received().len(), 1);
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    assert!(child.wait().unwrap().success());
    let log = log + &rest.join().unwrap();
    // What receipts are signed and made with is as secret.
    for name in ["receipt.key", "receipt-digest.key"] {
        let key = std::fs::read_to_string(stand.folder.path().join("other").join(name)).unwrap();
        sent.push(key.trim().to_owned());
    }
    assert!(log.contains("\"decision\":\"permit\"") && log.contains("\"decision\":\"refuse\""), "{log}");
    for never in
        sent.iter().map(String::as_str).chain([&credential.warrant[..60], "swordfish", "abracadabra"])
    {
        assert!(!log.contains(never), "{never}");
    }
}

/// The second signal is for an operator who does not wait for open answers.
#[tokio::test]
async fn a_second_signal_ends_it_at_once() {
    let stand = Stand::start().await;
    stand.upstream.answers(Mode::Silent);
    let text = std::fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
    let file = stand.folder.path().join("other.toml");
    std::fs::write(&file, text.replace("\"state\"", "\"other\"") + "[limits]\ndrain = \"1h\"\n").unwrap();
    let mut child = command(&file, &["--log-json"]).env("RUST_LOG", "info").spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("the sidecar listens") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    let port = |name: &str| {
        log.split(&format!("\"{name}\":\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    let (traffic, admin) = (port("traffic"), port("admin"));
    let _waiting = open(traffic, &post("", br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#)).await;
    while stand.upstream.received().is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let terminate = || Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(terminate().success());
    while !get(admin, "/readyz").await.body.contains("draining: told to stop") {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(terminate().success());
    assert!(child.wait().unwrap().success());
    while lines.read_line(&mut log).unwrap() != 0 {}
    assert!(log.contains("told to stop twice"), "{log}");
}

/// What an operator does who does not want to wait.
#[tokio::test]
async fn a_hangup_takes_the_changed_policy_into_force_at_once() {
    let stand = Stand::start().await;
    let text = std::fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
    let file = stand.folder.path().join("other.toml");
    std::fs::write(&file, text.replace("\"state\"", "\"other\"")).unwrap();
    let mut child = command(&file, &[]).env("RUST_LOG", "info").spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("the sidecar listens") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    let hangup = || Command::new("kill").arg("-HUP").arg(child.id().to_string()).status().unwrap();
    assert!(hangup().success());
    while !log.contains("the changed configuration is in force") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
}

/// From a tool server that nobody has written a policy for to one that a person can go on from.
#[tokio::test]
async fn a_first_policy_is_suggested_from_what_a_tool_server_says() {
    let stand = Stand::start().await;
    let suggest = |more: &'static [&'static str]| {
        let upstream = format!("http://{}/tool", stand.upstream.address);
        tokio::task::spawn_blocking(move || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_pact-sidecar"));
            command
                .args(["suggest", "--upstream", &upstream, "--project", "web"])
                .args(more)
                .output()
                .unwrap()
        })
    };
    stand.upstream.says(
        "application/json",
        r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"read_file","inputSchema":{"properties":{"path":{}}},
            "annotations":{"readOnlyHint":true}},{"name":"run","inputSchema":{"type":"object"}}]}}"#,
    );
    let output = suggest(&["--own-actions"]).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    let policy = pact_verifier::Policy::from_toml(&text).unwrap();
    let tools: Vec<_> = policy.tools().map(|(tool, action)| (tool.to_owned(), action.to_string())).collect();
    let named = |tool: &str, action: &str| (tool.to_owned(), action.to_owned());
    assert_eq!(tools, [named("read_file", "tools.read_file"), named("run", "tools.run")]);
    assert!(text.contains("pact-issuer mint"), "{text}");
    stand.upstream.says("text/html", "<title>Log in</title>");
    let output = suggest(&[]).await.unwrap();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("does not list its tools"));
}
