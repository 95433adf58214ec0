//! The command, killed, and on a disk that is full: what must outlive that does, and what cannot be kept is not promised.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    time::Duration,
};

use crate::{
    client::{get, post, raw},
    stand::{AUDIENCE, Stand},
};

struct Running {
    child: Child,
    traffic: SocketAddr,
    admin: SocketAddr,
}

impl Running {
    /// The command on a folder of its own, under this shell's limits.
    fn start(stand: &Stand, limits: &str, more: &str) -> Running {
        let text = std::fs::read_to_string(stand.folder.path().join("sidecar.toml")).unwrap();
        let file = stand.folder.path().join("other.toml");
        std::fs::write(&file, text.replace("\"state\"", "\"other\"") + "[lists]\nevery = \"200ms\"\n" + more)
            .unwrap();
        // Where a limit is hit, writing fails as on a full disk, instead of ending the process.
        let run = format!("trap '' XFSZ; {limits} exec \"$0\" --config \"$1\" --log-json");
        let mut command = Command::new("bash");
        command.arg("-c").arg(run).arg(env!("CARGO_BIN_EXE_pact-sidecar")).arg(&file);
        let mut child =
            command.stdin(Stdio::null()).stderr(Stdio::piped()).env("RUST_LOG", "info").spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut log = String::new();
        while !log.contains("the sidecar listens") {
            assert_ne!(lines.read_line(&mut log).unwrap(), 0, "{log}");
        }
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        let address = |name: &str| {
            log.split(&format!("\"{name}\":\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
        };
        Running { traffic: address("traffic"), admin: address("admin"), child }
    }

    async fn until_ready(&self) {
        for _ in 0..300 {
            if get(self.admin, "/readyz").await.status == 200 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("never ready: {:?}", get(self.admin, "/readyz").await);
    }

    async fn call(&self, call: &str) -> (u16, String) {
        let answer = raw(self.traffic, &post("", call.as_bytes())).await;
        (answer.status, if answer.status == 200 { String::new() } else { answer.reason() })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// P7, R7: a kill at any moment forgets no used proof and lowers no floor.
#[tokio::test]
async fn attack_20_33_a_killed_sidecar_remembers_the_proofs_that_were_used_and_the_lists_that_were_seen() {
    let stand = Stand::start().await;
    let (credential, revoked, old) = (stand.issuer.mint(), stand.issuer.mint(), stand.issuer.list());
    let used = {
        let running = Running::start(&stand, "", "");
        running.until_ready().await;
        let used = credential.call(AUDIENCE, r#"{"cost":1}"#);
        assert_eq!(running.call(&used).await.0, 200);
        stand.issuer.publish(&[revoked.entry()], 60);
        while running.call(&revoked.call(AUDIENCE, r#"{"cost":1}"#)).await.1 != "revoked" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        used
    };
    let (received, new) = (stand.upstream.received().len(), stand.issuer.list());
    stand.issuer.put_back(old);
    let running = Running::start(&stand, "", "");
    let mut said = String::new();
    while !said.contains("below") {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ready = get(running.admin, "/readyz").await.json();
        said = ready["issuers"]["acme"]["list"]["fault"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(running.call(&used).await, (503, "list_missing".to_owned()));
    stand.issuer.put_back(new);
    stand.issuer.publish(&[], 60);
    let other = stand.issuer.mint();
    running.until_ready().await;
    assert_eq!(running.call(&other.call(AUDIENCE, r#"{"cost":1}"#)).await.0, 200);
    assert_eq!(running.call(&revoked.call(AUDIENCE, r#"{"cost":1}"#)).await, (401, "revoked".to_owned()));
    assert_eq!(running.call(&used).await, (401, "replayed".to_owned()));
    assert_eq!(stand.upstream.received().len(), received + 1);
}

/// P6, R7: what cannot be recorded is refused, and `/readyz` says which disk.
#[tokio::test]
async fn attack_24_a_full_disk_refuses_calls_and_raises_no_floor() {
    let stand = Stand::start().await;
    let credential = stand.issuer.mint();
    // In blocks of a kilobyte: room for the first proofs, and for no list of any size.
    let running = Running::start(&stand, "ulimit -f 8;", "[receipts]\nto = \"off\"\n");
    running.until_ready().await;
    let mut passed = 0;
    let refused = loop {
        match running.call(&credential.call(AUDIENCE, r#"{"cost":1}"#)).await {
            (200, _) => passed += 1,
            refused => break refused,
        }
        assert!(passed < 500, "the disk is not full");
    };
    assert_eq!(refused, (503, "replay_store_failed".to_owned()));
    assert_eq!(stand.upstream.received().len(), passed, "not one call without a record");
    let ready = get(running.admin, "/readyz").await;
    assert_eq!((ready.status, ready.json()["replay"]["ok"].as_bool()), (503, Some(false)));
    let many: Vec<_> = (0..2000_u32).map(|id| pact_revocation::Entry::of_block(&id.to_be_bytes())).collect();
    stand.issuer.publish(&many, 60);
    let mut said = String::new();
    while !said.contains("floor") {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ready = get(running.admin, "/readyz").await.json();
        said = ready["issuers"]["acme"]["list"]["fault"].as_str().unwrap_or_default().to_owned();
    }
}
