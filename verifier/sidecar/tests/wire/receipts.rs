//! Receipts: what is written of which decision, what is not, and what happens when they cannot be written.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use pact_mandate::{SecretKey, Signer, hex, jwks::KeySet};
use pact_verifier::receipt::{Keys, Line, Lines, ReceiptReader, Tally};
use serde_json::Value;

use crate::{
    client::{get, open, post, raw},
    issuer::HOLDER,
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

fn files(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        listed.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).collect();
    files.sort();
    files
}

fn folder(stand: &Stand) -> PathBuf {
    stand.folder.path().join("state/receipts")
}

/// The receipts, as JSON, in their order.
fn receipts(text: &str) -> Vec<Value> {
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.map(|line| line["entry"].clone()).filter(|entry| entry["typ"] == "pact-receipt/1").collect()
}

pub(crate) fn written(stand: &Stand) -> Vec<Value> {
    let texts = files(&folder(stand)).into_iter().map(|file| fs::read_to_string(file).unwrap());
    receipts(&texts.collect::<String>())
}

fn judged(files: &[PathBuf], keys: &KeySet) -> Tally {
    let mut reader = ReceiptReader::new(Keys::Known(keys));
    for file in files {
        reader.file();
        let mut lines = Lines::new(BufReader::new(File::open(file).unwrap()));
        loop {
            match lines.next().unwrap() {
                Line::Whole(line) => reader.line(line).unwrap(),
                Line::Torn(bytes) => reader.torn(bytes),
                Line::End => break,
            }
        }
    }
    reader.tally().clone()
}

async fn published(stand: &Stand) -> KeySet {
    let answer = get(stand.admin, "/.well-known/pact-receipt-keys.json").await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    KeySet::from_document(answer.body.as_bytes()).unwrap()
}

async fn stopped(mut stand: Stand) -> Stand {
    stand.stop();
    tokio::time::timeout(Duration::from_secs(30), &mut stand.ended).await.expect("it stops").unwrap();
    stand
}

#[tokio::test]
async fn m7_each_decision_about_a_verified_credential_has_a_line() {
    let stand = Stand::ready().await;
    let keys = published(&stand).await;
    let credential = stand.issuer.mint();
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    assert_eq!(stand.post(&call).await.status, 200);
    let replayed = stand.post(&call).await;
    let too_much = stand.post(&credential.call(AUDIENCE, r#"{"cost":6}"#)).await;
    let not_held = stand.post(&credential.call_by([9; 32], AUDIENCE, r#"{"cost":1}"#)).await;
    let stand = stopped(stand).await;
    let lines = written(&stand);
    assert_eq!(lines.len(), 4, "{lines:#?}");
    let permit = &lines[0];
    let thumbprint = |seed| SecretKey::from_seed(&seed).unwrap().public_key().thumbprint().to_string();
    assert_eq!(permit["decision"], "permit");
    assert_eq!((&permit["action"], &permit["proof"]), (&"task.read".into(), &"fresh".into()));
    let of = &permit["credential"];
    assert_eq!(of["ids"][0], format!("tnu_wrt_{}", hex::encode(&credential.id)));
    assert_eq!((of["format"].as_str(), of["issuer"].as_str()), (Some("tenuo"), Some("acme")));
    assert_eq!(of["holder"], thumbprint(HOLDER));
    assert_eq!(of["root"], thumbprint(stand.issuer.root));
    assert_eq!(permit["list"]["version"], 1);
    assert_eq!((permit.get("code"), permit.get("left_out")), (None, None));
    for (line, answer, proof) in
        [(&lines[1], replayed, "fresh"), (&lines[2], too_much, "fresh"), (&lines[3], not_held, "none")]
    {
        assert_eq!((line["decision"].as_str(), line["proof"].as_str()), (Some("refuse"), Some(proof)));
        assert_eq!(line["code"], answer.reason());
        assert_eq!(line["request"], answer.json()["error"]["data"]["request_id"]);
        assert_eq!(line["credential"], *of);
        for digest in ["policy", "trust"] {
            assert_eq!(line[digest], permit[digest], "{digest}");
        }
    }
    assert_eq!(lines[1]["call"], permit["call"], "the same call has the same digest");
    assert_ne!(lines[2]["call"], permit["call"]);
    assert_eq!((lines[3].get("list"), lines[1].get("list").is_some()), (None, true));
    let tally = judged(&files(&folder(&stand)), &keys);
    assert_eq!((tally.permitted, tally.refused, tally.unsealed), (1, 3, 0));
    assert!(tally.closed);
}

#[tokio::test]
async fn m6_refusals_of_whom_nobody_knows_are_sampled_and_their_ids_are_called_unverified() {
    let stand = Stand::ready().await;
    for _ in 0..40 {
        assert_eq!(stand.post("[]").await.status, 400);
    }
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let warrant = call.split("\"warrant\":\"").nth(1).unwrap().split('"').next().unwrap();
    // Its signature is over other bytes: what it says of itself is nobody's word.
    let broken = call.replace(&warrant[40..80], &warrant[80..120]);
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert!(stand.post(&broken).await.status >= 400);
    let metrics = get(stand.admin, "/metrics").await.body;
    let stand = stopped(stand).await;
    let lines = written(&stand);
    let left_out: u64 = lines.iter().map(|line| line["left_out"].as_u64().unwrap()).sum();
    assert!(lines.len() < 41 && left_out > 0, "{lines:#?}");
    assert_eq!(u64::try_from(lines.len()).unwrap() + left_out, 41, "each is written or counted");
    assert!(metrics.contains(&format!("pact_sidecar_receipts_left_out_total {left_out}")), "{metrics}");
    let last = lines.last().unwrap();
    assert_eq!(last["unverified_credential"]["format"], "tenuo");
    for never in ["credential", "action", "call", "list", "proof"] {
        assert_eq!(last.get(never), None, "{never} in {last}");
    }
}

#[tokio::test]
async fn m7_the_receipt_is_there_when_the_call_reaches_the_tool_server() {
    let stand = Stand::ready().await;
    stand.upstream.answers(Mode::Silent);
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let _waiting = open(stand.traffic, &post("", call.as_bytes())).await;
    for _ in 0..400 {
        if !stand.upstream.received().is_empty() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(stand.upstream.received().len(), 1);
    assert_eq!(written(&stand)[0]["decision"], "permit");
}

#[tokio::test]
async fn a_trace_is_carried_on_and_named_in_the_receipt() {
    const PARENT: &str = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";
    let stand = Stand::ready().await;
    let credential = stand.issuer.mint();
    for (headers, carried) in [(PARENT.to_owned(), true), (PARENT.replace("00-", "00_"), false)] {
        let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
        assert_eq!(stand.post_with(&headers, call.as_bytes()).await.status, 200);
        let reached = String::from_utf8(stand.upstream.received().last().unwrap().clone()).unwrap();
        assert_eq!(reached.contains("4bf92f3577b34da6a3ce929d0e0e4736"), carried, "{reached}");
    }
    let traces: Vec<Value> = written(&stand).iter().map(|receipt| receipt["trace"].clone()).collect();
    assert_eq!(traces, [Value::from("4bf92f3577b34da6a3ce929d0e0e4736"), Value::Null]);
}

#[tokio::test]
async fn r9_an_answer_that_was_ended_has_a_receipt_of_its_end() {
    let stand = Stand::with(Wish { more: "[lists]\nevery = \"100ms\"", ..Wish::default() }).await;
    stand.until_ready().await;
    stand.upstream.answers(Mode::Events);
    let credential = stand.issuer.mint();
    let call = credential.call(AUDIENCE, r#"{"cost":1}"#);
    let mut flowing = open(stand.traffic, &post("", call.as_bytes())).await;
    flowing.until("{\"first\":1}").await;
    stand.issuer.publish(&[credential.entry()], 60);
    flowing.until("\"reason\":\"revoked\"").await;
    let stand = stopped(stand).await;
    let lines = written(&stand);
    assert_eq!(lines.len(), 2, "{lines:#?}");
    assert_eq!((lines[1]["decision"].as_str(), lines[1]["code"].as_str()), (Some("end"), Some("revoked")));
    assert_eq!(lines[1]["request"], lines[0]["request"]);
}

/// What cannot be written into: a file where the folder was.
fn obstruct(stand: &Stand) {
    fs::remove_dir_all(folder(stand)).unwrap();
    fs::write(folder(stand), "").unwrap();
}

#[tokio::test]
async fn m7_without_a_receipt_no_call_is_forwarded_and_afterwards_the_log_tells_of_it() {
    let stand = Stand::ready().await;
    obstruct(&stand);
    let credential = stand.issuer.mint();
    let refused = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    assert_eq!((refused.status, refused.reason().as_str()), (503, "receipt_unwritten"));
    assert!(refused.header("retry-after").is_some());
    // The next one is refused before it is judged, so its proof is not used up.
    let waits = credential.call(AUDIENCE, r#"{"cost":2}"#);
    assert_eq!(stand.post(&waits).await.reason(), "receipt_unwritten");
    assert_eq!(stand.upstream.received(), Vec::<Vec<u8>>::new());
    let ready = stand.until_status(503).await.json();
    assert_eq!(ready["receipts"]["ok"], false);
    assert!(ready["reasons"][0].as_str().unwrap().starts_with("receipts: "), "{ready}");
    assert!(get(stand.admin, "/metrics").await.body.contains("pact_sidecar_receipts_ok 0"));
    fs::remove_file(folder(&stand)).unwrap();
    stand.until_ready().await;
    assert_eq!(stand.post(&waits).await.status, 200);
    let text = fs::read_to_string(&files(&folder(&stand))[0]).unwrap();
    assert!(text.contains("pact-receipts-gap/1"), "{text}");
}

#[tokio::test]
async fn m7_calls_go_through_without_a_receipt_where_the_operator_says_so_and_are_counted() {
    let stand = Stand::with(Wish { more: "[receipts]\non_full = \"permit\"", ..Wish::default() }).await;
    stand.until_ready().await;
    obstruct(&stand);
    let credential = stand.issuer.mint();
    for cost in 1..=2 {
        let call = credential.call(AUDIENCE, &format!("{{\"cost\":{cost}}}"));
        assert_eq!(stand.post(&call).await.status, 200);
    }
    let ready = stand.until_status(200).await.json();
    assert_eq!(
        (ready["receipts"]["ok"].as_bool(), ready["receipts"]["lost"].as_u64()),
        (Some(false), Some(2))
    );
    assert!(get(stand.admin, "/metrics").await.body.contains("pact_sidecar_receipts_lost_total 2"));
}

#[tokio::test]
async fn receipts_that_are_off_are_shown_to_be() {
    let stand = Stand::with(Wish { more: "[receipts]\nto = \"off\"", ..Wish::default() }).await;
    stand.until_ready().await;
    assert_eq!(stand.post(&stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    assert!(!folder(&stand).exists());
    assert_eq!(get(stand.admin, "/.well-known/pact-receipt-keys.json").await.status, 404);
    assert_eq!(get(stand.admin, "/readyz").await.json()["receipts"]["to"], "off");
}

#[tokio::test]
async fn k1_the_receipt_key_is_not_on_the_traffic_port() {
    let stand = Stand::start().await;
    assert_eq!(get(stand.traffic, "/.well-known/pact-receipt-keys.json").await.status, 404);
    assert_eq!(published(&stand).await.keys().len(), 1);
}

#[tokio::test]
async fn m7_a_restart_goes_on_from_what_was_written() {
    let stand = Stand::ready().await;
    let keys = published(&stand).await;
    let credential = stand.issuer.mint();
    assert_eq!(stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    let mut stand = stopped(stand).await;
    stand.restart().await;
    stand.until_ready().await;
    assert_eq!(stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await.status, 200);
    let stand = stopped(stand).await;
    let tally = judged(&files(&folder(&stand)), &keys);
    assert_eq!((tally.logs, tally.permitted, tally.killed, tally.unsealed), (2, 2, 0, 0));
}

/// A file of a configuration like the stand's, with a state folder of its own.
fn other_config(stand: &Stand, more: &str) -> PathBuf {
    let text = fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
    let file = stand.folder.path().join("other.toml");
    fs::write(&file, format!("{}\n{more}\n", text.replace("\"state\"", "\"other\""))).unwrap();
    file
}

/// Through a shell, which can hold a process to a size of files.
fn sidecar(before: &str, config: &Path) -> Command {
    let mut command = Command::new("sh");
    let script = format!("{before}\nexec \"$0\" --config \"$1\" --log-json");
    command.args(["-c", &script, env!("CARGO_BIN_EXE_pact-sidecar")]).arg(config);
    command.env("RUST_LOG", "info").stdin(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Reads the log until both ports are told, and then on in the background.
fn ports(child: &mut std::process::Child) -> [std::net::SocketAddr; 2] {
    let mut lines = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("the sidecar listens") {
        assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
    }
    std::thread::spawn(move || lines.lines().for_each(drop));
    ["traffic", "admin"].map(|port| {
        log.split(&format!("\"{port}\":\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    })
}

#[tokio::test]
async fn m7_a_full_disk_stops_calls_and_what_was_written_before_holds() {
    let stand = Stand::start().await;
    let file = other_config(&stand, "");
    // 64 blocks of 512 or 1024 bytes, and no signal when they are used up.
    let mut child = sidecar("trap '' XFSZ; ulimit -f 64", &file).stdout(Stdio::null()).spawn().unwrap();
    let [traffic, admin] = ports(&mut child);
    let credential = stand.issuer.mint();
    let mut last = String::new();
    for _ in 0..400 {
        // Each of these proofs is somebody else's, so each has a line of its own.
        let call = credential.call_by([9; 32], AUDIENCE, r#"{"cost":1}"#);
        last = raw(traffic, &post("", call.as_bytes())).await.reason();
        if last == "receipt_unwritten" {
            break;
        }
    }
    assert_eq!(last, "receipt_unwritten");
    assert!(stand.upstream.received().is_empty());
    let ready = get(admin, "/readyz").await;
    assert_eq!((ready.status, ready.json()["receipts"]["ok"].as_bool()), (503, Some(false)));
    let keys = get(admin, "/.well-known/pact-receipt-keys.json").await.body;
    assert!(Command::new("kill").args(["-9", &child.id().to_string()]).status().unwrap().success());
    child.wait().unwrap();
    let keys = KeySet::from_document(keys.as_bytes()).unwrap();
    let tally = judged(&files(&stand.folder.path().join("other/receipts")), &keys);
    assert!(tally.refused > 10 && tally.torn == 0, "{tally:?}");
}

#[tokio::test]
async fn m7_receipts_on_standard_output_are_lines_of_the_same_kind() {
    let stand = Stand::start().await;
    let file = other_config(&stand, "[receipts]\nto = \"stdout\"");
    let mut child = sidecar("", &file).stdout(Stdio::piped()).spawn().unwrap();
    let [traffic, admin] = ports(&mut child);
    // A credential is believed when the list has come.
    for _ in 0..100 {
        let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":6}"#);
        if raw(traffic, &post("", call.as_bytes())).await.status == 403 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let keys = get(admin, "/.well-known/pact-receipt-keys.json").await.body;
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let path = stand.folder.path().join("captured.jsonl");
    fs::write(&path, &output.stdout).unwrap();
    let tally = judged(&[path], &KeySet::from_document(keys.as_bytes()).unwrap());
    assert!(tally.refused > 0 && tally.closed && tally.unsealed == 0, "{tally:?}");
    assert!(!stand.folder.path().join("other/receipts").exists());
}

#[tokio::test]
async fn standard_output_that_takes_nothing_is_told_at_the_start() {
    let stand = Stand::start().await;
    let file = other_config(&stand, "[receipts]\nto = \"stdout\"");
    let output = sidecar("exec >/dev/full", &file).output().unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("receipts cannot be written"), "{said}");
}

/// Attack 68: whatever is written down or answered, nobody can be robbed by it.
#[tokio::test]
async fn m7_no_receipt_metric_or_answer_holds_an_argument_a_credential_a_proof_or_a_key() {
    let stand = Stand::ready().await;
    let credential = stand.issuer.mint();
    let mut never =
        vec![credential.warrant[..60].to_owned(), "swordfish".to_owned(), "abracadabra".to_owned()];
    let mut answers = Vec::new();
    for (arguments, by) in [
        (r#"{"cost":1,"text":"swordfish"}"#, HOLDER),
        (r#"{"cost":77,"text":"swordfish"}"#, HOLDER),
        (r#"{"cost":1,"text":"swordfish"}"#, [9; 32]),
        (r#"{"cost":1,"other":"swordfish"}"#, HOLDER),
    ] {
        let call = credential.call_by(by, AUDIENCE, arguments);
        never.push(call.split("\"signature\":\"").nth(1).unwrap()[..86].to_owned());
        answers.push(stand.post(&call).await);
        answers.push(stand.post(&call).await);
        answers.push(stand.post_with("Authorization: Bearer abracadabra\r\n", call.as_bytes()).await);
    }
    let mut told = format!("{answers:?}");
    for path in ["/metrics", "/readyz", "/.well-known/pact-receipt-keys.json"] {
        told += &get(stand.admin, path).await.body;
    }
    let stand = stopped(stand).await;
    for name in ["receipt.key", "receipt-digest.key"] {
        never.push(
            fs::read_to_string(stand.folder.path().join("state").join(name)).unwrap().trim().to_owned(),
        );
    }
    told += &fs::read_to_string(&files(&folder(&stand))[0]).unwrap();
    assert!(told.contains("\"decision\":\"permit\"") && told.contains("\"decision\":\"refuse\""));
    for never in never {
        assert!(!told.contains(&never), "{never}");
    }
}
