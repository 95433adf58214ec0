//! A tool server that the sidecar starts itself, on standard input and output.

use std::{path::Path, time::Duration};

use crate::{
    client::{Answer, get},
    stand::{Stand, Wish},
};

mod calls;
mod peer;
mod processes;
mod sessions;

/// A stand whose tool server is [`peer`], for MCP 2026-07-28 or the sessions before it.
struct Place {
    stand: Stand,
    folder: tempfile::TempDir,
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;

impl Place {
    async fn modern() -> Place {
        Place::with(&["modern"], "", "").await
    }

    async fn legacy() -> Place {
        Place::with(&[], "", "").await
    }

    /// With files that tell the server how to be, and more lines about it.
    async fn with(files: &[&str], more_of_it: &str, more: &'static str) -> Place {
        let place = Place::unready(files, more_of_it, more).await;
        place.stand.until_ready().await;
        place
    }

    async fn unready(files: &[&str], more_of_it: &str, more: &'static str) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for name in files {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let tool_server = Some(section(folder.path(), more_of_it));
        Place { stand: Stand::with(Wish { more, tool_server, ..Wish::default() }).await, folder }
    }

    fn received(&self) -> Vec<String> {
        peer::received(self.folder.path())
    }

    /// The calls that reached it.
    fn calls(&self) -> Vec<String> {
        self.received().into_iter().filter(|line| line.contains("tools/call")).collect()
    }

    /// Waits for a line that reached it.
    async fn until_received(&self, wanted: &str) -> String {
        for _ in 0..200 {
            if let Some(line) = self.received().into_iter().find(|line| line.contains(wanted)) {
                return line;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("{wanted} never came: {:?}", self.received());
    }

    /// Waits until so many processes of it run.
    async fn until_running(&self, count: usize) {
        until_running(self.folder.path(), count).await;
    }

    async fn metric(&self, name: &str) -> String {
        let text = get(self.stand.admin, "/metrics").await.body;
        let line = text.lines().find(|line| line.starts_with(name)).map(str::to_owned);
        line.unwrap_or_else(|| panic!("no {name}: {text}"))
    }
}

async fn until_running(folder: &Path, count: usize) {
    for _ in 0..300 {
        if peer::running(folder).len() == count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("{:?} run, not {count}", peer::running(folder));
}

fn section(folder: &Path, more: &str) -> String {
    let program = std::env::current_exe().unwrap();
    format!(
        "command = [{program:?}, \"--exact\", \"stdio::peer::serves\", \"--nocapture\"]\nfolder = {folder:?}\n{more}\n[upstream.env]\n{} = {folder:?}\n",
        peer::FOLDER
    )
}

/// What every message of a session carries.
fn session(id: &str) -> String {
    format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n")
}

#[track_caller]
fn refused(answer: &Answer, status: u16, code: &str) {
    assert_eq!((answer.status, answer.reason().as_str()), (status, code), "{answer:?}");
}

/// The text of a call's result.
#[track_caller]
fn said(answer: &Answer) -> String {
    let json = answer.json();
    let text = json["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {answer:?}")).to_owned()
}
