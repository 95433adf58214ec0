//! Two replicas with one record of used proofs, in the real server.

use std::{
    net::TcpListener,
    process::{Child, Command, Stdio},
    time::Duration,
};

use tempfile::TempDir;

use crate::{
    client::get,
    stand::{AUDIENCE, Stand, Wish},
};

struct Redis {
    port: u16,
    folder: TempDir,
    child: Child,
}

impl Redis {
    fn start() -> Redis {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let folder = tempfile::tempdir().unwrap();
        let child = spawn(port, &folder);
        Redis { port, folder, child }
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn start_again(&mut self) {
        self.child = spawn(self.port, &self.folder);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn spawn(port: u16, folder: &TempDir) -> Child {
    Command::new("redis-server")
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--appendonly", "yes", "--dir"])
        .arg(folder.path())
        .stdout(Stdio::null())
        .spawn()
        .expect("this test needs redis-server (the Debian package of that name)")
}

async fn replica(redis: &Redis) -> Stand {
    let more = format!("[replay]\nredis = \"redis://127.0.0.1:{}\"\ntimeout = \"5s\"", redis.port);
    Stand::with(Wish { more: Box::leak(more.into_boxed_str()), ..Wish::default() }).await
}

/// Attack 20: the same proof at another replica. Then the server dies, and comes back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs redis-server"]
async fn attack_20_a_proof_counts_at_one_replica_alone_and_without_the_record_at_none() {
    let mut redis = Redis::start();
    let (one, other) = (replica(&redis).await, replica(&redis).await);
    one.until_ready().await;
    let ready = other.until_status(200).await.json();
    assert_eq!((&ready["replay"]["scope"], &ready["replay"]["ok"]), (&"shared".into(), &true.into()));
    let call = |stand: &Stand| stand.issuer.mint().call(AUDIENCE, r#"{"cost":1}"#);
    let used = call(&one);
    assert_eq!(one.post(&used).await.status, 200);
    for stand in [&other, &one] {
        let again = stand.post(&used).await;
        assert_eq!((again.status, again.reason().as_str()), (401, "replayed"));
    }
    assert_eq!(other.upstream.received().len(), 0);
    redis.kill();
    for stand in [&one, &other] {
        let refused = stand.post(&call(stand)).await;
        assert_eq!((refused.status, refused.reason().as_str()), (503, "replay_store_failed"), "{refused:?}");
        let ready = stand.until_status(503).await.json();
        assert_eq!(ready["replay"]["ok"], false, "{ready}");
        assert!(["unreachable", "cut"].contains(&ready["replay"]["fault"].as_str().unwrap()), "{ready}");
    }
    let metrics = get(one.admin, "/metrics").await.body;
    for line in [
        "pact_sidecar_replay_ok 0",
        "pact_sidecar_replay_shared 1",
        "pact_sidecar_replay_faults_total{fault=\"",
    ] {
        assert!(metrics.contains(line), "{line} in\n{metrics}");
    }
    let before = call(&other);
    redis.start_again();
    // P7: the log on disk came back, the server is another all the same.
    let refused = loop {
        let answer = other.post(&before).await;
        if answer.reason() != "replay_store_failed" {
            break answer;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    assert_eq!((refused.status, refused.reason().as_str()), (503, "proof_before_store"));
    other.until_ready().await;
    assert_eq!(other.post(&call(&other)).await.status, 200);
    assert_eq!((one.upstream.received().len(), other.upstream.received().len()), (1, 1));
}
