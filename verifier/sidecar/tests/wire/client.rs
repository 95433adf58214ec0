//! A client that sends exactly the bytes that it is told to.

use std::{net::SocketAddr, time::Duration};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

/// An answer, its body put together.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// An answer that is still coming.
pub(crate) struct Open {
    pub(crate) stream: TcpStream,
    pub(crate) seen: Vec<u8>,
}

impl Answer {
    /// An open answer, to its end.
    pub(crate) async fn whole(open: Open) -> Answer {
        Answer::parse(&open.rest().await)
    }

    fn parse(bytes: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no head in {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        let chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if chunked { unchunk(body) } else { body.to_owned() };
        Answer { status, head: head.to_owned(), body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The refusal's code.
    pub(crate) fn reason(&self) -> String {
        let json = self.json();
        let data = &json["error"]["data"];
        assert!(data["request_id"].as_str().is_some_and(|id| id.len() == 32), "{self:?}");
        let reason = data["reason"].as_str().unwrap_or_else(|| panic!("no reason: {self:?}"));
        assert_eq!(self.header("pact-refusal"), Some(reason), "{self:?}");
        reason.to_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(':')?;
            found.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }
}

fn unchunk(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 || after.len() < size {
            break;
        }
        whole.push_str(&after[..size]);
        rest = after[size..].trim_start_matches("\r\n");
    }
    whole
}

/// Sends bytes, waits for the end.
pub(crate) async fn raw(to: SocketAddr, bytes: &[u8]) -> Answer {
    Answer::parse(&open(to, bytes).await.rest().await)
}

/// Sends bytes, hands over the connection.
pub(crate) async fn open(to: SocketAddr, bytes: &[u8]) -> Open {
    let mut stream = TcpStream::connect(to).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    Open { stream, seen: Vec::new() }
}

/// A POST to `/mcp` as ordinary clients make it.
pub(crate) fn post(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
         Content-Length: {}\r\nConnection: close\r\n{headers}\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

pub(crate) async fn get(to: SocketAddr, path: &str) -> Answer {
    raw(to, format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").as_bytes()).await
}

impl Open {
    /// Everything until the end.
    pub(crate) async fn rest(mut self) -> Vec<u8> {
        let read = self.stream.read_to_end(&mut self.seen);
        // A connection that is reset after the answer has still answered.
        let _ = tokio::time::timeout(Duration::from_secs(20), read).await.expect("the answer ends");
        self.seen
    }

    /// Waits until `wanted` was seen.
    pub(crate) async fn until(&mut self, wanted: &str) {
        let seen = async {
            while !String::from_utf8_lossy(&self.seen).contains(wanted) {
                let mut more = [0; 4096];
                let count = self.stream.read(&mut more).await.unwrap();
                assert_ne!(count, 0, "{wanted} never came: {}", String::from_utf8_lossy(&self.seen));
                self.seen.extend_from_slice(&more[..count]);
            }
        };
        tokio::time::timeout(Duration::from_secs(20), seen).await.expect(wanted);
    }
}
