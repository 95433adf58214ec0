//! `pact-holder bridge` listening for local clients: who may come in, and what comes out.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    os::unix::{fs::PermissionsExt, net::UnixStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::Duration,
};

use serde_json::Value;

use crate::{
    child::{Folder, call},
    server::{JSON, Reply, Server},
};

const BOTH: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#;
const OPENED: &str = "200 OK\r\nContent-Type: application/json\r\nMcp-Session-Id: theirs";

/// A bridge that listens, and what it said of that.
struct Local {
    child: Child,
    said: String,
}

/// An answer, taken apart.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Local {
    fn start(folder: &Folder, server: &Server, listen: &str) -> Local {
        let config = folder.config(server, "[upstreams.actions]\necho = \"echo\"");
        let text = fs::read_to_string(&config).unwrap();
        fs::write(
            &config,
            text.replace("key = \"agent.key\"\n", &format!("key = \"agent.key\"\n{listen}\n")),
        )
        .unwrap();
        Local::run(Command::new(env!("CARGO_BIN_EXE_pact-holder")).args(["bridge", "--config"]).arg(&config))
    }

    fn run(command: &mut Command) -> Local {
        let mut child =
            command.stderr(Stdio::piped()).stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        Local { child, said: said.trim_end().to_owned() }
    }

    /// Where it listens, and the path with the secret.
    fn place(&self) -> (SocketAddr, String) {
        let url = self.said.split("http://").nth(1).unwrap();
        let (address, path) = url.split_once('/').unwrap();
        (address.parse().unwrap(), format!("/{path}"))
    }

    fn post(&self, body: &str) -> Answer {
        let (address, path) = self.place();
        tcp(address, &format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n{BOTH}"), body)
    }

    fn open_session(&self, server: &Server) -> String {
        server.then(Reply::Whole(OPENED, INITIALIZED.to_owned()));
        self.post(INITIALIZE).header("mcp-session-id").unwrap().to_owned()
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tcp(address: SocketAddr, head: &str, body: &str) -> Answer {
    exchange(TcpStream::connect(address).unwrap(), head, body)
}

fn exchange(mut stream: impl Read + Write, head: &str, body: &str) -> Answer {
    let text = format!("{head}Connection: close\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    // Who refuses a request early reads no more of it.
    let _ = stream.write_all(text.as_bytes());
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer but {answer:?}"));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} {}", self.status, self.body))
    }

    fn reason(&self) -> (u16, String) {
        (self.status, self.json()["error"]["data"]["reason"].as_str().unwrap().to_owned())
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")))
    }
}

const ANYWHERE: &str = "[listen]\naddress = \"127.0.0.1:0\"";

#[test]
fn a_call_goes_through_with_a_proof_and_without_the_local_secret() {
    let (server, folder) = (Server::start(), Folder::new());
    let local = Local::start(&folder, &server, ANYWHERE);
    let (address, path) = local.place();
    let answer = local.post(&call(1).to_string());
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("application/json")));
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    let secret = path.split('/').nth(1).unwrap();
    assert_eq!(secret.len(), 43, "256 bits");
    let bearer = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost:{}\r\nAuthorization: Bearer {secret}\r\n{BOTH}",
        address.port()
    );
    assert_eq!(tcp(address, &bearer, &call(2).to_string()).status, 200);
    for seen in server.seen() {
        assert!(seen.meta()["tenuo"]["signature"].is_string());
        assert!(!seen.head.contains(secret) && !seen.body.contains(secret), "{}", seen.head);
        assert_eq!(seen.header("Authorization"), None);
    }
}

#[test]
fn whoever_lacks_the_secret_or_comes_by_another_name_reaches_nothing() {
    let (server, folder) = (Server::start(), Folder::new());
    let local =
        Local::start(&folder, &server, &format!("{ANYWHERE}\nallowed_origins = [\"http://localhost:6274\"]"));
    let (address, path) = local.place();
    let body = call(1).to_string();
    let host = format!("Host: {address}\r\n");
    let wrong_end = format!("{}x/mcp", path.strip_suffix("/mcp").unwrap());
    let other_port = format!("Host: 127.0.0.1:{}\r\n", address.port() ^ 1);
    let refused = |method: &str, path: &str, heads: &str| {
        tcp(address, &format!("{method} {path} HTTP/1.1\r\n{heads}{BOTH}"), &body).reason()
    };
    let evil = format!("{host}Origin: http://evil.example\r\n");
    for (method, path, heads, wanted) in [
        ("POST", "/mcp", host.as_str(), (401, "secret_wrong")),
        ("GET", "/mcp", &host, (401, "secret_wrong")),
        ("POST", &wrong_end, &host, (401, "secret_wrong")),
        ("POST", "/wrong/mcp", &host, (401, "secret_wrong")),
        ("POST", "/", &host, (404, "no_such_path")),
        ("POST", &format!("{path}/"), &host, (404, "no_such_path")),
        ("POST", &format!("{path}?x"), &host, (404, "no_such_path")),
        ("POST", &path, "Host: evil.example\r\n", (421, "host_not_allowed")),
        ("POST", &path, &other_port, (421, "host_not_allowed")),
        ("POST", &path, "Host: localhost\r\n", (421, "host_not_allowed")),
        ("POST", &path, &evil, (403, "origin_not_allowed")),
        ("POST", &path, &format!("{host}Origin: null\r\n"), (403, "origin_not_allowed")),
        ("PUT", &path, &host, (405, "method_not_allowed")),
        ("GET", &path, &host, (405, "method_not_allowed")),
        ("DELETE", &path, &format!("{host}Mcp-Session-Id: x\r\n"), (404, "session_unknown")),
    ] {
        assert_eq!(refused(method, path, heads), (wanted.0, wanted.1.to_owned()), "{method} {path} {heads}");
    }
    assert_eq!(server.seen().len(), 0, "nothing of all that went on");
    let allowed = format!("POST {path} HTTP/1.1\r\n{host}Origin: http://localhost:6274\r\n{BOTH}");
    assert_eq!(tcp(address, &allowed, &body).status, 200);
}

#[test]
fn what_is_no_message_goes_nowhere() {
    let (server, folder) = (Server::start(), Folder::new());
    let local = Local::start(&folder, &server, ANYWHERE);
    let (address, path) = local.place();
    assert_eq!(local.post("[]").reason(), (400, "batch".to_owned()));
    assert_eq!(local.post("{").reason(), (400, "not_json".to_owned()));
    let request = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\n");
    let text = tcp(address, &format!("{request}Content-Type: text/plain\r\nAccept: */*\r\n"), "{}");
    assert_eq!(text.reason(), (415, "content_type".to_owned()));
    let narrow = tcp(
        address,
        &format!("{request}Content-Type: application/json\r\nAccept: application/json\r\n"),
        "{}",
    );
    assert_eq!(narrow.reason(), (406, "not_acceptable".to_owned()));
    let twice =
        tcp(address, &format!("{request}{BOTH}Mcp-Method: a\r\nMcp-Method: a\r\n"), &call(1).to_string());
    assert_eq!(twice.reason(), (400, "header_broken".to_owned()));
    // As long as it says, and refused before it is all here.
    let long = format!("{request}{BOTH}Content-Length: {}\r\n\r\n", 5 * 1024 * 1024);
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(long.as_bytes()).unwrap();
    let _ = stream.write_all(&vec![b' '; 5 * 1024 * 1024]);
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    let many = format!("{request}{BOTH}{}", "X: y\r\n".repeat(100));
    assert_eq!(exchange(TcpStream::connect(address).unwrap(), &many, "{}").status, 431);
    assert_eq!(server.seen().len(), 0);
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    let (server, folder) = (Server::start(), Folder::new());
    for place in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80", "localhost:80"] {
        let local = Local::run(
            Command::new(env!("CARGO_BIN_EXE_pact-holder"))
                .args(["bridge", "--listen", place, "--config"])
                .arg(folder.config(&server, "")),
        );
        assert!(
            local.said.contains("loopback") || local.said.contains("an IP address"),
            "{place}: {}",
            local.said
        );
    }
}

#[test]
fn a_socket_is_for_its_owner_alone_and_goes_with_the_bridge() {
    let (server, folder) = (Server::start(), Folder::new());
    let listen = "[listen]\nsocket = \"agent.sock\"";
    let mut local = Local::start(&folder, &server, listen);
    let path = folder.path("agent.sock");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let head = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{BOTH}");
    let answer = exchange(UnixStream::connect(&path).unwrap(), &head, &call(1).to_string());
    assert_eq!(answer.json()["result"]["content"][0]["text"], "done");
    assert!(
        fs::read_dir(folder.path("")).unwrap().all(|entry| !entry
            .unwrap()
            .file_name()
            .to_string_lossy()
            .starts_with('.'))
    );
    let second = Local::start(&folder, &server, listen);
    assert!(second.said.contains("is there already"), "{}", second.said);
    terminate(&mut local.child);
    assert!(!Path::new(&path).exists());
}

fn terminate(child: &mut Child) {
    let killed = Command::new("kill").arg(child.id().to_string()).status().unwrap();
    assert!(killed.success() && child.wait().unwrap().success());
}

#[test]
fn a_secret_in_a_file_stays_the_same_and_is_shown_once() {
    let (server, folder) = (Server::start(), Folder::new());
    let listen = format!("{ANYWHERE}\nsecret_file = \"bridge.secret\"");
    let first = Local::start(&folder, &server, &listen);
    let secret = folder.read("bridge.secret").trim().to_owned();
    assert!(first.place().1.contains(&secret));
    let second = Local::start(&folder, &server, &listen);
    assert!(second.said.contains("bridge.secret") && !second.said.contains(&secret), "{}", second.said);
    let (address, _) = second.place();
    let head = format!("POST /{secret}/mcp HTTP/1.1\r\nHost: {address}\r\n{BOTH}");
    assert_eq!(tcp(address, &head, &call(1).to_string()).status, 200);
}

#[test]
fn an_answer_comes_the_way_in_which_the_server_gave_it() {
    let (server, folder) = (Server::start(), Folder::new());
    let local = Local::start(&folder, &server, ANYWHERE);
    let told = r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{}}"#;
    let result = crate::server::RESULT;
    server.then(Reply::Events(vec![format!("data: {told}\n\ndata: {result}\n\n")]));
    let answer = local.post(&call(7).to_string());
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    let told_at = answer.body.find(told).unwrap();
    assert!(answer.body.find(r#""id":7"#).unwrap() > told_at, "{}", answer.body);
    server.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "method_not_open");
    let refused = local.post(r#"{"jsonrpc":"2.0","id":1,"method":"x/y"}"#);
    assert_eq!(refused.reason(), (403, "method_not_open".to_owned()));
    let mismatch = r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32020,"message":"no","data":{"reason":"header_mismatch","request_id":"q"}}}"#;
    let head = "400 Bad Request\r\nContent-Type: application/json\r\nPact-Refusal: header_mismatch";
    server.then(Reply::Whole(head, mismatch.to_owned()));
    let (address, path) = local.place();
    let head = format!("POST {path} HTTP/1.1\r\nHost: {address}\r\nMcp-Name: other\r\n{BOTH}");
    let refused = tcp(address, &head, &call(8).to_string());
    assert_eq!((refused.status, refused.json()["error"]["code"].as_i64()), (400, Some(-32020)));
    assert_eq!(server.seen().pop().unwrap().header("Mcp-Name"), Some("other"), "for the sidecar to compare");
    server.then(Reply::Whole("202 Accepted", String::new()));
    let accepted = local.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    assert_eq!((accepted.status, accepted.body.as_str()), (202, ""));
}

#[test]
fn sessions_are_told_apart_and_their_acts_are_proven() {
    let (server, folder) = (Server::start(), Folder::new());
    let local = Local::start(&folder, &server, ANYWHERE);
    let (address, path) = local.place();
    let (other, session) = (local.open_session(&server), local.open_session(&server));
    assert_ne!(other, session);
    assert_ne!(session, "theirs", "an id of the bridge's own");
    let within =
        format!("Host: {address}\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n{BOTH}");
    let called = tcp(address, &format!("POST {path} HTTP/1.1\r\n{within}"), &legacy_call());
    assert_eq!(called.status, 200);
    let seen = server.seen().pop().unwrap();
    assert_eq!(
        (seen.header("Mcp-Session-Id"), seen.header("MCP-Protocol-Version")),
        (Some("theirs"), Some("2025-11-25"))
    );
    let update = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{}}"#;
    server.then(Reply::Events(vec![format!("data: {update}\n\n")]));
    let heard = tcp(address, &format!("GET {path} HTTP/1.1\r\n{within}"), "");
    assert!(heard.status == 200 && heard.body.contains(update), "{} {}", heard.status, heard.body);
    server.then(Reply::Whole("200 OK", String::new()));
    assert_eq!(tcp(address, &format!("DELETE {path} HTTP/1.1\r\n{within}"), "").status, 200);
    let acts: Vec<_> = server.seen().into_iter().filter(|seen| !seen.head.starts_with("POST")).collect();
    assert_eq!(acts.len(), 2);
    for act in acts {
        assert_eq!(act.header("Mcp-Session-Id"), Some("theirs"));
        assert!(act.header("X-Tenuo-PoP").is_some() && act.header("X-Pact-Proof").is_some(), "{}", act.head);
    }
    let gone = tcp(address, &format!("POST {path} HTTP/1.1\r\n{within}"), &legacy_call());
    assert_eq!(gone.reason(), (404, "session_unknown".to_owned()));
}

#[test]
fn a_session_that_is_nobodys_yet_is_listened_to_once_a_call_was_permitted() {
    let (server, folder) = (Server::start(), Folder::new());
    let local = Local::start(&folder, &server, ANYWHERE);
    let (address, path) = local.place();
    let session = local.open_session(&server);
    let within =
        format!("Host: {address}\r\nMcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n{BOTH}");
    server.refuses("403 Forbidden\r\nContent-Type: application/json", 403, "session_not_owned");
    let mut listening = TcpStream::connect(address).unwrap();
    listening.write_all(format!("GET {path} HTTP/1.1\r\n{within}\r\n").as_bytes()).unwrap();
    server.wait_for(2);
    server.then(Reply::Whole(JSON, crate::server::RESULT.to_owned()));
    server.then(Reply::Events(vec![
        "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n".to_owned(),
    ]));
    assert_eq!(tcp(address, &format!("POST {path} HTTP/1.1\r\n{within}"), &legacy_call()).status, 200);
    listening.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("notifications/x") {
        let mut more = [0; 4096];
        let count = listening.read(&mut more).unwrap();
        assert!(count > 0, "{}", String::from_utf8_lossy(&heard));
        heard.extend_from_slice(&more[..count]);
    }
}

fn legacy_call() -> String {
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"project":"web"}}}"#
        .to_owned()
}
