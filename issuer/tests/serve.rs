//! The server over real sockets: paths, headers, validators, and a revocation by another process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

struct Server {
    dir: tempfile::TempDir,
    child: Child,
    address: String,
}

struct Answer {
    status: u16,
    headers: String,
    body: Vec<u8>,
}

impl Answer {
    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
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
        let dir = tempfile::tempdir().unwrap();
        ok(dir.path(), &["init", "--issuer", "example", "--key-cache", "7s"]);
        let mut child = command(dir.path(), &["serve", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        Server { dir, child, address }
    }

    fn ask(&self, method: &str, path: &str, more: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        write!(stream, "{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{more}\r\n").unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let headers = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, headers, body: bytes[end + 4..].to_vec() }
    }

    fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "")
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
