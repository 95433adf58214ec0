//! How its processes start and end, and what whoever runs the sidecar is told.

use std::{
    io::{BufRead, BufReader, Read},
    process::{Child, Command, Stdio},
    time::Duration,
};

use super::{INITIALIZE, Place, peer, refused, until_running};
use crate::{
    client::{get, post, raw},
    stand::{AUDIENCE, Stand, Wish},
};

fn reason(ready: &serde_json::Value) -> String {
    ready["upstream"]["reason"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named_and_calls_are_refused() {
    let tool_server = Some("command = [\"no-such-program-at-all\"]".to_owned());
    let stand = Stand::with(Wish { tool_server, ..Wish::default() }).await;
    let said = reason(&stand.until_status(503).await.json());
    assert!(said.contains("no-such-program-at-all cannot be started: "), "{said}");
    refused(&stand.post(INITIALIZE).await, 502, "upstream_unreachable");
    let credential = stand.issuer.mint();
    while get(stand.admin, "/readyz").await.json()["issuers"]["acme"]["ok"] != true {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    refused(&stand.post(&call).await, 502, "upstream_unreachable");
}

#[tokio::test]
async fn a_server_that_breaks_at_its_start_is_tried_again_and_recovers() {
    let place = Place::unready(&["modern", "breaks"], "", "").await;
    let said = loop {
        let said = reason(&get(place.stand.admin, "/readyz").await.json());
        if said.contains("before it answered") {
            break said;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    };
    assert!(!said.contains("licence"), "{said}");
    std::fs::remove_file(place.folder.path().join("breaks")).unwrap();
    place.stand.until_ready().await;
    // The process for open messages ends, and is there again.
    let [id] = peer::running(place.folder.path())[..] else { panic!("one runs") };
    assert!(Command::new("kill").arg("-KILL").arg(id.to_string()).status().unwrap().success());
    place.until_running(0).await;
    place.until_running(1).await;
    place.stand.until_ready().await;
}

#[tokio::test]
async fn a_process_gets_its_own_environment_and_nothing_of_ours() {
    let place = Place::modern().await;
    let text = std::fs::read_to_string(place.folder.path().join("environment")).unwrap();
    assert!(text.contains("(\"PATH\", ") && text.contains(peer::FOLDER), "{text}");
    assert!(!text.contains("CARGO"), "{text}");
}

#[tokio::test]
async fn a_sidecar_that_stops_leaves_no_process_whatever_that_does() {
    let mut place = Place::modern().await;
    let credential = place.stand.issuer.mint();
    let call = credential.call(AUDIENCE, r#"{"cost":1,"text":"x"}"#);
    assert_eq!(place.stand.post(&call).await.status, 200);
    place.until_running(2).await;
    place.stand.stop();
    (&mut place.stand.ended).await.unwrap();
    place.until_running(0).await;
}

/// A sidecar of its own, whose log is read.
struct Running {
    sidecar: Child,
    log: String,
    lines: BufReader<std::process::ChildStderr>,
}

impl Running {
    fn start(stand: &Stand) -> Running {
        let text = std::fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
        let file = stand.folder.path().join("other.toml");
        std::fs::write(&file, text.replace("\"state\"", "\"other\"")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_pact-sidecar"));
        command
            .arg("--config")
            .arg(&file)
            .arg("--log-json")
            .env("RUST_LOG", "info")
            .env("OUR_SECRET", "swordfish");
        let mut sidecar = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(sidecar.stderr.take().unwrap());
        Running { sidecar, log: String::new(), lines }
    }

    fn until_logged(&mut self, wanted: &str) {
        while !self.log.contains(wanted) {
            assert_ne!(self.lines.read_line(&mut self.log).unwrap(), 0, "{}", self.log);
        }
    }

    fn signal(&self, name: &str) {
        let id = self.sidecar.id().to_string();
        assert!(Command::new("kill").arg(name).arg(id).status().unwrap().success());
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.sidecar.kill();
        let _ = self.sidecar.wait();
    }
}

#[tokio::test]
async fn what_a_process_complains_of_is_in_the_log_and_in_no_answer() {
    // No other sidecar runs on it: this one knows it under another name.
    let place = Place::unready(&["modern", "breaks"], "", "").await;
    let mut running = Running::start(&place.stand);
    running.until_logged("\"last_line\":\"no such licence\"");
    running.until_logged("it ended (exit status: 7) before it answered anything");
    assert!(running.log.contains("\"target\":\"tool_server\""), "{}", running.log);
    assert!(!running.log.contains("swordfish"));
}

/// Neither a signal to stop, nor a second one, nor the end that nobody can prepare for.
#[tokio::test]
async fn a_sidecar_that_is_killed_leaves_no_process() {
    for signals in [&["-TERM"][..], &["-TERM", "-TERM"], &["-KILL"]] {
        let stand = Stand::start().await;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("modern"), "").unwrap();
        let file = stand.folder.path().join("sidecar.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        let url = format!("url = \"http://{}/tool\"", stand.upstream.address);
        std::fs::write(&file, text.replace(&url, &super::section(folder.path(), ""))).unwrap();
        let mut running = Running::start(&stand);
        running.until_logged("the tool server answers");
        until_running(folder.path(), 1).await;
        for signal in signals {
            running.signal(signal);
        }
        until_running(folder.path(), 0).await;
        let _ = running.sidecar.wait().unwrap();
        let mut rest = String::new();
        running.lines.read_to_string(&mut rest).unwrap();
    }
}

/// It neither reads nor heeds SIGTERM, and it has a child of its own.
#[tokio::test]
async fn a_process_that_does_not_want_to_end_is_killed_with_all_that_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let script = format!(
        "trap '' TERM; sleep 600 & echo $! > {0}/$!.pid; echo > {0}/$$.pid; while :; do sleep 1; done",
        folder.path().display()
    );
    let tool_server = Some(format!("command = [\"sh\", \"-c\", {script:?}]\nanswer_timeout = \"1h\""));
    let mut stand = Stand::with(Wish { tool_server, ..Wish::default() }).await;
    until_running(folder.path(), 2).await;
    let ping = raw(stand.traffic, &post("", super::PING.as_bytes())).await;
    refused(&ping, 502, "upstream_unreachable");
    stand.stop();
    (&mut stand.ended).await.unwrap();
    until_running(folder.path(), 0).await;
}
