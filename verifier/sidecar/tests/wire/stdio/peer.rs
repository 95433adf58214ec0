//! A tool server on standard input and output: this very test program, started by a sidecar, which keeps what reaches it.

use std::{
    fs::OpenOptions,
    io::{BufRead, Write},
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::{Value, json};

/// Where it keeps what reaches it; without it, it is no server.
pub(crate) const FOLDER: &str = "PACT_TEST_TOOL_SERVER";

struct Peer {
    folder: PathBuf,
    is_modern: bool,
    /// Requests that are answered later.
    held: Vec<Value>,
}

/// Not a test: the server. The words that the test program prints before it are what real servers print, too.
#[test]
fn serves() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let folder = PathBuf::from(folder);
    std::fs::write(folder.join(format!("{}.pid", std::process::id())), "").unwrap();
    std::fs::write(folder.join("environment"), format!("{:?}", std::env::vars().collect::<Vec<_>>()))
        .unwrap();
    if folder.join("breaks").exists() {
        eprintln!("no such licence");
        std::process::exit(7);
    }
    let is_modern = folder.join("modern").exists();
    let mut peer = Peer { folder, is_modern, held: Vec::new() };
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        peer.keep(&line);
        peer.answer(&serde_json::from_str(&line).unwrap_or_else(|_| panic!("no message: {line}")));
    }
    std::process::exit(0);
}

/// Every line that reached any process of it.
pub(crate) fn received(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("received")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// The processes of it that run.
pub(crate) fn running(folder: &Path) -> Vec<u32> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let started = names.filter_map(|name| name.to_str()?.strip_suffix(".pid")?.parse().ok());
    started.filter(|id| is_running(*id)).collect()
}

fn is_running(id: u32) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    !state.is_empty() && !state.contains(") Z ")
}

impl Peer {
    fn keep(&self, line: &str) {
        let path = self.folder.join("received");
        let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    fn answer(&mut self, message: &Value) {
        let id = &message["id"];
        match message["method"].as_str() {
            Some("initialize") if !self.is_modern => say(
                &json!({"jsonrpc":"2.0","id":id,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"peer","version":"1"}}}),
            ),
            Some("server/discover") if self.is_modern => {
                say(&json!({"jsonrpc":"2.0","id":id,"result":{"supportedVersions":["2026-07-28"]}}));
            }
            Some("ping") => say(&json!({"jsonrpc":"2.0","id":id,"result":{}})),
            Some("tools/list") => say(
                &json!({"jsonrpc":"2.0","id":id,"result":{"tools":[{"name":"echo","inputSchema":{}},{"name":"other"}]}}),
            ),
            Some("tools/call") => self.call(message),
            Some(_) if !id.is_null() => {
                say(&json!({"jsonrpc":"2.0","id":id,"error":{"code":-32601,"message":"unknown"}}));
            }
            // What the client answers is what the call that asked comes to.
            None => {
                if let Some(held) = self.held.pop() {
                    result_for(&held, &message["result"].to_string());
                }
            }
            Some(_) => {}
        }
    }

    fn call(&mut self, message: &Value) {
        let id = &message["id"];
        match message["params"]["arguments"]["text"].as_str().unwrap_or_default() {
            "progress" => {
                let token = &message["params"]["_meta"]["progressToken"];
                for progress in 1..3 {
                    say(
                        &json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":progress}}),
                    );
                }
                result(message, "progressed");
            }
            "hold" => self.held.push(id.clone()),
            "release" => {
                self.held.drain(..).rev().for_each(|id| result_for(&id, "released"));
                result(message, "release");
            }
            "ask" => {
                self.held.push(id.clone());
                say(&json!({"jsonrpc":"2.0","id":"q1","method":"roots/list"}));
            }
            "stray" => {
                say(&json!({"jsonrpc":"2.0","id":9999,"result":{"of":"nobody"}}));
                raw("this is no message");
                say(&json!({"jsonrpc":"2.0","method":"notifications/message","params":{"data":"whose?"}}));
                result(message, "stray");
            }
            "long" => result(message, &"x".repeat(5 * 1024 * 1024)),
            "die" => {
                let token = &message["params"]["_meta"]["progressToken"];
                if !token.is_null() {
                    say(
                        &json!({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":token,"progress":1}}),
                    );
                    std::thread::sleep(Duration::from_millis(300));
                }
                eprintln!("out of \u{1b}[31mcheese");
                std::process::exit(3);
            }
            text => result(message, &format!("{text} by {}", std::process::id())),
        }
    }
}

fn result(message: &Value, text: &str) {
    result_for(&message["id"], text);
}

fn result_for(id: &Value, text: &str) {
    say(&json!({"jsonrpc":"2.0","id":id,"result":{"content":[{"type":"text","text":text}]}}));
}

fn say(message: &Value) {
    raw(&message.to_string());
}

fn raw(line: &str) {
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}
