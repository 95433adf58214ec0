//! The bridge as a child process, and what its client writes and reads.

use std::{
    fs,
    io::{Read, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_holder::Holder;
use serde_json::{Value, json};
use tempfile::TempDir;
use tenuo::{ConstraintSet, Exact, SigningKey, Warrant, Wildcard, wire};

use crate::server::Server;

pub(crate) const AGENT: [u8; 32] = [2; 32];

/// A bridge that runs.
pub(crate) struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    errors: thread::JoinHandle<String>,
}

/// A folder with a key and a credential.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        Holder::from_seed(&AGENT).unwrap().write_file(&folder.path("agent.key")).unwrap();
        folder.write("agent.tenuo", &stack("echo", "web"));
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The configuration of one server and one credential, with more lines for the server.
    pub(crate) fn config(&self, server: &Server, more: &str) -> PathBuf {
        let url = server.url();
        self.write(
            "bridge.toml",
            &format!(
                r#"
key = "agent.key"
[[upstreams]]
url = "{url}"
audience = "https://tools.example.org/mcp"
{more}
[[credentials]]
upstreams = ["{url}"]
format = "tenuo"
file = "agent.tenuo"
"#
            ),
        );
        self.path("bridge.toml")
    }
}

/// A warrant for one tool in one project.
pub(crate) fn stack(tool: &str, project: &str) -> String {
    let root = SigningKey::from_bytes(&[1; 32]);
    let mut constraints = ConstraintSet::new();
    constraints.insert("project", Exact::new(project));
    constraints.insert("text", Wildcard::new());
    let warrant = Warrant::builder()
        .capability(tool, constraints)
        .holder(SigningKey::from_bytes(&AGENT).public_key())
        .ttl(Duration::from_hours(1))
        .build(&root)
        .unwrap();
    STANDARD.encode(wire::encode_stack(&wire::WarrantStack(vec![warrant])).unwrap())
}

impl Bridge {
    /// In front of one server, with the tool `echo` named.
    pub(crate) fn to(server: &Server, folder: &Folder) -> Bridge {
        Bridge::with(&folder.config(server, "[upstreams.actions]\necho = \"echo\""))
    }

    pub(crate) fn with(config: &Path) -> Bridge {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pact-holder"));
        command.args(["bridge", "--verbose", "--config"]).arg(config);
        Bridge::start(command)
    }

    pub(crate) fn start(mut command: Command) -> Bridge {
        let mut child = command
            .env_remove("RUST_LOG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = mpsc::channel();
        let mut output = child.stdout.take().unwrap();
        thread::spawn(move || {
            let mut text = Vec::new();
            let mut more = vec![0; 65536];
            while let Ok(count @ 1..) = output.read(&mut more) {
                text.extend_from_slice(&more[..count]);
                while let Some(end) = text.iter().position(|b| *b == b'\n') {
                    let line = text.drain(..=end).collect::<Vec<_>>();
                    let _ = sender.send(String::from_utf8(line).unwrap().trim_end_matches('\n').to_owned());
                }
            }
            assert!(text.is_empty(), "a line was cut off");
        });
        let mut errors = child.stderr.take().unwrap();
        let errors = thread::spawn(move || {
            let mut text = String::new();
            let _ = errors.read_to_string(&mut text);
            text
        });
        let input = child.stdin.take();
        Bridge { child, input, lines, errors }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.write_all(b"\n").unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn line(&mut self) -> String {
        self.lines.recv_timeout(Duration::from_mins(1)).expect("no line came")
    }

    pub(crate) fn answer(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    pub(crate) fn ask(&mut self, text: &str) -> Value {
        self.write(text.as_bytes());
        self.answer()
    }

    pub(crate) fn call(&mut self, id: u32) -> Value {
        self.ask(&call(id).to_string())
    }

    pub(crate) fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Closes the client's side, and returns the lines that still came and what was said on standard error.
    pub(crate) fn end(mut self) -> (Vec<String>, String) {
        drop(self.input.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
        (self.lines.iter().collect(), self.errors.join().unwrap())
    }
}

/// A call of `echo` in MCP 2026-07-28.
pub(crate) fn call(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": "echo", "arguments": {"project": "web", "text": "x"},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"},
    }})
}
