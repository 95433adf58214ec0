//! What goes wrong around the sidecar, and what it then does.

use std::{sync::atomic::Ordering, time::Duration};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::{
    client::{self, get, open, post},
    issuer::{Credential, Service, key_set},
    stand::{AUDIENCE, Stand, Wish},
    upstream::Mode,
};

const OFTEN: &str =
    "[lists]\nevery = \"200ms\"\n[keys]\ncooldown = \"200ms\"\nsoft = \"300ms\"\nhard = \"5s\"";

async fn call(stand: &Stand, credential: &Credential) -> (u16, String) {
    let answer = stand.post(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await;
    (answer.status, if answer.status == 200 { String::new() } else { answer.reason() })
}

/// Waits until `/readyz` has something to say of the issuer's list or keys.
async fn fault(stand: &Stand, of: &str) -> String {
    for _ in 0..300 {
        let ready = get(stand.admin, "/readyz").await.json();
        if let Some(fault) = ready["issuers"]["acme"][of]["fault"].as_str() {
            return fault.to_owned();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("nothing is said of {of}");
}

/// R6: what is no list leaves the held one, which ages on; when the server is well again, so is everything.
#[tokio::test]
async fn attack_30_a_list_server_that_serves_something_else_is_named_and_the_held_list_stays() {
    let stand = Stand::with(Wish { more: OFTEN, ..Wish::default() }).await;
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    for service in [Service::Down, Service::Page, Service::Half, Service::Endless, Service::Redirect] {
        stand.issuer.does(service);
        fault(&stand, "list").await;
        assert_eq!(call(&stand, &credential).await.0, 200, "{service:?}");
        stand.issuer.does(Service::Well);
        while get(stand.admin, "/readyz").await.json()["issuers"]["acme"]["list"]["fault"].is_string() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// R5: a server that takes its time is as good as none.
#[tokio::test]
async fn attack_28_a_list_server_that_never_answers_closes_the_door() {
    let stand = Stand::with(Wish { more: OFTEN, ..Wish::default() }).await;
    stand.issuer.publish(&[], 8);
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    stand.issuer.does(Service::Slow);
    stand.until_status(503).await;
    let (status, reason) = call(&stand, &credential).await;
    assert!(status == 503 && reason.starts_with("list_"), "{status} {reason}");
    assert!(stand.upstream.received().is_empty());
}

/// R6: a list that was seen stays seen.
#[tokio::test]
async fn attack_26_an_old_list_revives_nothing_and_is_told() {
    let stand = Stand::with(Wish { more: OFTEN, ..Wish::default() }).await;
    stand.until_ready().await;
    let (credential, old) = (stand.issuer.mint(), stand.issuer.list());
    stand.issuer.publish(&[credential.entry()], 60);
    while call(&stand, &credential).await.1 != "revoked" {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    stand.issuer.put_back(old);
    let said = fault(&stand, "list").await;
    assert!(said.contains("below"), "{said}");
    assert_eq!(call(&stand, &credential).await, (401, "revoked".to_owned()));
}

/// K4: good keys stay until their hard stop, whatever is served in between; then it is 503, not 401.
#[tokio::test]
async fn attack_13_a_key_set_that_is_empty_or_none_keeps_the_last_good_one_until_its_hard_stop() {
    let stand = Stand::with(Wish { pinned: false, more: OFTEN, ..Wish::default() }).await;
    stand.until_ready().await;
    let credential = stand.issuer.mint();
    for document in ["{\"keys\":[]}", "<html>", ""] {
        stand.issuer.publish_keys(document.to_owned());
        fault(&stand, "roots").await;
        assert_eq!(call(&stand, &credential).await.0, 200, "{document}");
        stand.issuer.publish_keys(key_set([1; 32]));
        while get(stand.admin, "/readyz").await.json()["issuers"]["acme"]["roots"]["fault"].is_string() {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
    stand.issuer.publish_keys("{\"keys\":[]}".to_owned());
    stand.until_status(503).await;
    assert_eq!(call(&stand, &credential).await, (503, "keys_missing".to_owned()));
}

/// T1: an earlier clock makes no used proof new and no list young.
#[tokio::test]
async fn attack_34_a_clock_that_is_set_back_an_hour_makes_nothing_valid_again() {
    let stand = Stand::with(Wish { more: OFTEN, ..Wish::default() }).await;
    stand.issuer.publish(&[], 6);
    stand.until_ready().await;
    let used = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    assert_eq!(stand.post(&used).await.status, 200);
    stand.issuer.does(Service::Down);
    stand.behind.store(3600, Ordering::SeqCst);
    assert_ne!(stand.post(&used).await.status, 200);
    stand.until_status(503).await;
    stand.behind.store(0, Ordering::SeqCst);
    assert_ne!(stand.post(&used).await.status, 200);
    assert_eq!(stand.upstream.received().len(), 1);
}

/// What a tool server left unfinished is never told as if it were whole.
#[tokio::test]
async fn a_tool_server_that_dies_in_the_middle_of_its_answer_breaks_the_answer_off() {
    let stand = Stand::ready().await;
    stand.upstream.answers(Mode::Half);
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let answer = open(stand.traffic, &post("", call.as_bytes())).await.rest().await;
    let text = String::from_utf8(answer).unwrap();
    // Either no answer of the tool server's at all, or one that whoever counts its bytes knows to be cut.
    let is_cut = text.to_ascii_lowercase().contains("content-length: 999") && text.ends_with("{\"jsonrpc\"");
    assert!(is_cut || text.starts_with("HTTP/1.1 502"), "{text}");
    assert_eq!(stand.post("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nothing\"}").await.status, 403);
}

/// Attack 44: they hold their places for as long as a head may take, and not longer.
#[tokio::test]
async fn attack_44_slow_clients_beyond_the_bound_wait_and_then_the_honest_one_is_served() {
    let more = "[limits]\nconnections = 32\nhead_timeout = \"500ms\"";
    slow_clients(1000, 32, more).await;
}

/// The same as many as no system keeps in a queue, under the bound on connections that stands by default.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs 16000 open files: ulimit -n 16000"]
async fn attack_44_ten_thousand_slow_clients_leave_room_for_the_honest_one() {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let files: u64 = files.split_whitespace().nth(3).unwrap().parse().unwrap();
    assert!(files >= 16_000, "this test opens as many files, and {files} are allowed: ulimit -n 16000");
    slow_clients(10_000, 4096, "[limits]\nhead_timeout = \"3s\"").await;
}

/// So many begin a head and never end it, all at once; at most `most` have a place at any time.
async fn slow_clients(count: usize, most: u32, more: &'static str) {
    let stand = Stand::with(Wish { more, ..Wish::default() }).await;
    stand.until_ready().await;
    let before = resident_kib();
    let traffic = stand.traffic;
    let clients: Vec<_> = (0..count).map(|_| tokio::spawn(slow_client(traffic))).collect();
    let mut peak = 0.0_f64;
    while clients.iter().any(|client| !client.is_finished()) {
        peak = peak.max(open_connections(&stand).await);
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    assert!(peak > 0.0 && peak <= f64::from(most), "{peak}");
    // Both ends of every connection are in this process.
    let grown = resident_kib().saturating_sub(before);
    assert!(grown < 64 * 1024 + 32 * count, "{grown} KiB");
    let call = stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let answer = client::raw(stand.traffic, &post("", call.as_bytes())).await;
    assert_eq!(answer.status, 200, "{answer:?}");
}

/// Comes in or gives up, says half a word, and stays until it is thrown out.
async fn slow_client(traffic: std::net::SocketAddr) {
    let connect = tokio::time::timeout(Duration::from_secs(10), tokio::net::TcpStream::connect(traffic));
    let Ok(Ok(mut stream)) = connect.await else { return };
    let _ = stream.write_all(b"POST /mcp HTTP/1.1\r\nHost: loc").await;
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut Vec::new())).await;
}

async fn open_connections(stand: &Stand) -> f64 {
    let metrics = get(stand.admin, "/metrics").await.body;
    let mut open = metrics.lines().filter_map(|line| line.strip_prefix("pact_sidecar_connections_open "));
    open.next().unwrap().parse().unwrap()
}

fn resident_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    resident.split_whitespace().next().unwrap().parse().unwrap()
}
