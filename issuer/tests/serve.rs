//! The server over real sockets: paths, headers, validators, and a revocation by another process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod http;

use std::{
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use http::Answer;
use pact_mandate::{Format, MandateId, Reissue, ReissueId, SecretKey, Signer, UnixTime, signed::Prepared};

struct Server {
    dir: tempfile::TempDir,
    child: Child,
    address: String,
    admin: String,
}

fn command(dir: &std::path::Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pact-issuer"));
    command.arg("--dir").arg(dir.join("data")).args(args);
    command
}

fn ok(dir: &std::path::Path, args: &[&str]) -> String {
    let output = command(dir, args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

impl Server {
    fn start() -> Server {
        Server::with(&[])
    }

    fn with(more: &[&str]) -> Server {
        let dir = tempfile::tempdir().unwrap();
        ok(dir.path(), &["init", "--issuer", "example", "--key-cache", "7s"]);
        let serve = [&["serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], more].concat();
        let mut child =
            command(dir.path(), &serve).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = || lines.next().unwrap().unwrap().rsplit("http://").next().unwrap().to_owned();
        let (address, admin) = (address(), address());
        Server { dir, child, address, admin }
    }

    fn ask(&self, method: &str, path: &str, more: &str) -> Answer {
        http::ask(&self.address, method, path, more)
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
    }

    fn admin(&self, path: &str) -> Answer {
        http::ask(&self.admin, "GET", path, "")
    }

    /// Once `/readyz` answers with that status and says so of that part.
    fn health(&self, status: u16, part: &str, ok: bool) -> serde_json::Value {
        let asked = instant();
        loop {
            let ready = self.admin("/readyz");
            let health: serde_json::Value = serde_json::from_slice(&ready.body).unwrap();
            if ready.status == status && health[part]["ok"] == ok {
                return health;
            }
            assert!(asked.elapsed() < Duration::from_secs(10), "{health}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const LIST: &str = "/.well-known/pact-revocations/pact";

#[test]
fn r2_a_revocation_by_another_process_is_published_at_once() {
    let server = Server::start();
    let dir = server.dir.path();
    assert_eq!(server.get(LIST).header("x-pact-revocations-version"), Some("1"));
    let id = ok(dir, &["mint", "--human", "boss", "--holder", "agent-a", "--scope", "task.read@project:web"]);
    ok(
        dir,
        &["export", &id, "--format", "tenuo", "--holder-key", "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
    );
    ok(dir, &["revoke", &id]);
    let asked = instant();
    while server.get(LIST).header("x-pact-revocations-version") != Some("2") {
        assert!(asked.elapsed() < Duration::from_secs(5), "the revocation is not published");
        std::thread::sleep(Duration::from_millis(50));
    }
    let tenuo = server.get("/.well-known/pact-revocations/tenuo");
    assert_eq!(tenuo.header("x-pact-revocations-version"), Some("1"));
    assert_eq!(tenuo.header("content-type"), Some("application/octet-stream"));
    assert_eq!(
        server.get("/.well-known/pact-revocations/biscuit").header("x-pact-revocations-version"),
        Some("0")
    );
}

#[expect(clippy::disallowed_methods, reason = "a test measures real time")]
fn instant() -> Instant {
    Instant::now()
}

#[test]
fn paths_headers_and_validators_are_those_of_board_rules_5_4_and_5_5() {
    let server = Server::start();
    let keys = server.get("/.well-known/pact-keys.json");
    assert_eq!(keys.status, 200);
    assert_eq!(keys.header("content-type"), Some("application/json"));
    assert_eq!(keys.header("access-control-allow-origin"), Some("*"));
    assert_eq!(keys.header("cache-control"), Some("public, max-age=7"));
    let set = pact_mandate::jwks::KeySet::from_document(&keys.body).unwrap();
    let list_keys = server.get("/.well-known/pact-list-keys.json");
    let list_set = pact_mandate::jwks::KeySet::from_document(&list_keys.body).unwrap();
    assert!(set.keys().len() == 1 && list_set.keys().len() == 1 && set != list_set, "k1: one key, one role");
    assert_eq!(server.get("/.well-known/jwks.json").body, br#"{"keys":[]}"#);
    let web: serde_json::Value =
        serde_json::from_slice(&server.get("/.well-known/biscuit-web-keys").body).unwrap();
    assert_eq!(web[0]["algorithm"], "ed25519");
    assert_eq!(web[0]["issuer"], "example");
    assert!(web[0].get("expires_at").is_none(), "absent rather than null");

    let head = server.get(LIST);
    assert_eq!(head.header("cache-control"), Some("max-age=5"));
    assert_eq!(head.header("access-control-expose-headers"), Some("x-pact-revocations-version"));
    let etag = head.header("etag").unwrap();
    let again = server.ask(
        "GET",
        "/.well-known/pact-keys.json",
        &format!("if-none-match: {}\r\n", keys.header("etag").unwrap()),
    );
    assert_eq!((again.status, again.body.len()), (304, 0));
    assert_ne!(etag, keys.header("etag").unwrap());
    let signed = pact_mandate::Signed::<pact_revocation::head::Head>::from_bytes(&head.body).unwrap();
    let body = signed.open(&list_set).unwrap().statement().entries().sha256.to_string();
    let body = server.get(&format!("{LIST}/{body}"));
    assert_eq!(body.status, 200);
    assert!(body.header("cache-control").unwrap().contains("immutable"));

    for path in ["/.well-known/pact-revocations/jwt", "/", "/.well-known/pact-keys.json/", "//"] {
        let missing = server.get(path);
        assert_eq!(missing.status, 404, "{path}");
        assert!(missing.body.starts_with(br#"{"error":"not_found""#));
    }
    assert_eq!(server.ask("POST", LIST, "content-length: 0\r\n").status, 405);
    assert_eq!(server.ask("HEAD", LIST, "").status, 200);
}

#[test]
fn nobody_gets_a_credential_anew_unless_the_operator_says_so_and_whoever_asks_is_told_why_not() {
    let closed = Server::start();
    assert_eq!(http::post(&closed.address, "/reissue", b"{}").status, 405, "nothing is posted there");

    let server = Server::with(&["--reissue"]);
    let ask = |body: &[u8]| {
        let answer = http::post(&server.address, "/reissue", body);
        let told: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
        assert_eq!(answer.header("cache-control"), Some("no-store"));
        (answer.status, told["error"]["code"].as_str().unwrap().to_owned())
    };
    assert_eq!(ask(b"{}"), (400, "malformed".to_owned()));
    assert_eq!(ask(&vec![b'x'; 17 * 1024]), (413, "body_too_large".to_owned()));
    let key = SecretKey::from_seed(&[7; 32]).unwrap();
    let named = key.public_key().to_string().parse().unwrap();
    let key = key.named(named);
    let request = |issuer: &str, ahead: u64| {
        let id = ReissueId::from_random([1; 16]);
        let mandate = MandateId::from_random([2; 16]);
        let request =
            Reissue::new(issuer.parse().unwrap(), mandate, Format::Tenuo, id, present().plus(ahead));
        Prepared::new(request).unwrap().sign(&key).unwrap().signed().to_bytes().unwrap()
    };
    assert_eq!(ask(&request("other", 0)), (401, "other_issuer".to_owned()));
    assert_eq!(ask(&request("example", 600)), (401, "from_the_future".to_owned()));
    assert_eq!(ask(&request("example", 0)), (503, "before_start".to_owned()));
    std::thread::sleep(Duration::from_secs(6));
    assert_eq!(ask(&request("example", 0)), (403, "not_registered".to_owned()));
    assert_eq!(server.ask("GET", "/reissue", "").status, 405);
}

#[expect(clippy::disallowed_methods, reason = "requests are dated by the present")]
fn present() -> UnixTime {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    UnixTime::try_from(since.as_secs()).unwrap()
}

#[test]
fn the_admin_port_tells_each_part_with_its_reason_and_nothing_of_it_is_public() {
    let server = Server::start();
    let dir = server.dir.path();
    assert_eq!((server.admin("/livez").status, server.admin("/livez").body), (200, b"alive\n".to_vec()));
    let health = server.health(200, "lists", true);
    assert_eq!(health["reasons"], serde_json::json!([]));
    for part in ["keyring", "lists", "journal"] {
        assert_eq!(health[part]["ok"], true, "{health}");
    }
    assert_eq!((&health["lists"]["version"], &health["journal"]["lines"]), (&1.into(), &1.into()));

    server.get(LIST);
    server.get("/nothing");
    let metrics = String::from_utf8(server.admin("/metrics").body).unwrap();
    for line in [
        "pact_issuer_ready 1",
        "pact_issuer_list_version 1",
        "pact_issuer_keys{role=\"mandate\",state=\"active\"} 1",
        "pact_issuer_requests_total{outcome=\"found\"} 1",
        "pact_issuer_requests_total{outcome=\"refused\"} 1",
        "# TYPE pact_issuer_publish_failures_total counter",
    ] {
        assert!(metrics.lines().any(|found| found == line), "{line} in\n{metrics}");
    }
    for path in ["/livez", "/readyz", "/metrics"] {
        assert_eq!(server.get(path).status, 404, "{path} is public");
        assert_eq!(http::ask(&server.admin, "POST", path, "content-length: 0\r\n").status, 405);
    }
    assert_eq!(server.admin(LIST).status, 404);

    // Without a mandate key the list is still signed, and readiness says what is missing.
    let key: serde_json::Value = serde_json::from_str(&ok(dir, &["--json", "keys"])).unwrap();
    ok(dir, &["revoke", "--key", key["keys"][0]["kid"].as_str().unwrap()]);
    let health = server.health(503, "keyring", false);
    assert_eq!(health["reasons"], serde_json::json!(["keyring: no mandate key is active"]));
    assert_eq!((&health["keyring"]["ok"], &health["lists"]["ok"]), (&false.into(), &true.into()));

    // A journal that cannot be read.
    let journal = dir.join("data/journal.jsonl");
    let whole = std::fs::read(&journal).unwrap();
    std::fs::write(&journal, [&whole, &b"{}\n"[..]].concat()).unwrap();
    let reasons = server.health(503, "journal", false)["reasons"].to_string();
    assert!(reasons.contains("journal: line 3 of"), "{reasons}");
}
