//! A tool server that records every byte that reaches it.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::broadcast,
};

/// How it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// A JSON-RPC result.
    Json,
    /// [`Upstream::says`], whatever that is.
    Said,
    /// An event stream: one event at once, and one for each [`Upstream::event`].
    Events,
    /// As a server of the 2025 protocol: sessions, streams on GET and for calls, 202 where nothing is asked.
    Sessions,
    /// A response to another request than the one that came.
    WrongId,
    /// The same in two parts.
    WrongIdInParts,
    /// Not at all.
    Silent,
    /// By pointing elsewhere.
    Redirect,
    /// In an encoding that nobody asked for.
    Encoded,
    /// By closing the connection.
    Close,
    /// By dying in the middle of its answer.
    Half,
}

#[derive(Clone)]
pub(crate) struct Upstream {
    pub(crate) address: SocketAddr,
    pub(crate) mode: Arc<Mutex<Mode>>,
    said: Arc<Mutex<(String, String)>>,
    received: Arc<Mutex<Vec<Vec<u8>>>>,
    closed: Arc<AtomicUsize>,
    sessions: Arc<AtomicUsize>,
    events: broadcast::Sender<String>,
}

pub(crate) const RESULT: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"done"}]}}"#;

impl Upstream {
    pub(crate) async fn start() -> Upstream {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = Upstream {
            address: listener.local_addr().unwrap(),
            mode: Arc::new(Mutex::new(Mode::Json)),
            said: Arc::default(),
            received: Arc::default(),
            closed: Arc::default(),
            sessions: Arc::default(),
            events: broadcast::channel(16).0,
        };
        let serving = upstream.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move { serving.keep(stream).await });
            }
        });
        upstream
    }

    /// The requests that came, as they came.
    pub(crate) fn received(&self) -> Vec<Vec<u8>> {
        self.received.lock().unwrap().clone()
    }

    /// The body of the only request.
    pub(crate) fn only_body(&self) -> String {
        let received = self.received();
        assert_eq!(received.len(), 1);
        let text = String::from_utf8(received[0].clone()).unwrap();
        text.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    /// Streams whose reader went away.
    pub(crate) fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }

    pub(crate) fn answers(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Answers this from now on.
    pub(crate) fn says(&self, content_type: &str, body: &str) {
        *self.said.lock().unwrap() = (content_type.to_owned(), body.to_owned());
        self.answers(Mode::Said);
    }

    /// Sends bytes into every open stream.
    pub(crate) fn event(&self, text: &str) {
        self.events.send(text.to_owned()).unwrap();
    }

    async fn keep(&self, mut stream: TcpStream) {
        while let Some(request) = read_request(&mut stream).await {
            self.received.lock().unwrap().push(request.clone());
            let mode = *self.mode.lock().unwrap();
            let (method, message) = taken_apart(&request);
            let answer = match mode {
                Mode::Json => json_answer("Set-Cookie: a=b\r\nServer: fake\r\nPact-Refusal: revoked\r\n", &result_for(&message)),
                Mode::Said => {
                    let (content_type, body) = self.said.lock().unwrap().clone();
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n{body}",
                        body.len()
                    )
                }
                Mode::WrongId => json_answer("", &RESULT.replace("\"id\":1", "\"id\":12345")),
                Mode::WrongIdInParts => {
                    let whole = json_answer("", &RESULT.replace("\"id\":1", "\"id\":12345"));
                    let (first, second) = whole.split_at(whole.len() - 10);
                    stream.write_all(first.as_bytes()).await.unwrap();
                    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
                    second.to_owned()
                }
                Mode::Sessions if message["method"] == "initialize" => {
                    let count = self.sessions.fetch_add(1, Ordering::SeqCst);
                    json_answer(&format!("Mcp-Session-Id: session-{count}\r\n"), &result_for(&message))
                }
                Mode::Sessions if method == "GET" || message["method"] == "tools/call" => {
                    return self.stream_events(stream).await;
                }
                Mode::Sessions if message["id"].is_null() || message["method"].is_null() => {
                    "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n".into()
                }
                Mode::Sessions => json_answer("", &result_for(&message)),
                Mode::Events => return self.stream_events(stream).await,
                Mode::Silent => return self.wait_for_close(stream).await,
                Mode::Redirect => {
                    "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n".into()
                }
                Mode::Encoded => {
                    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\nxx".into()
                }
                Mode::Close => return,
                Mode::Half => {
                    let half = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 999\r\n\r\n{\"jsonrpc\"";
                    stream.write_all(half.as_bytes()).await.unwrap();
                    return;
                }
            };
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    }

    async fn stream_events(&self, mut stream: TcpStream) {
        let mut events = self.events.subscribe();
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .await
            .unwrap();
        let mut next = "data: {\"first\":1}\n\n".to_owned();
        loop {
            let chunk = format!("{:x}\r\n{next}\r\n", next.len());
            if stream.write_all(chunk.as_bytes()).await.is_err() {
                break;
            }
            let mut byte = [0; 1];
            tokio::select! {
                event = events.recv() => next = event.unwrap(),
                _ = stream.read(&mut byte) => break,
            }
        }
        self.closed.fetch_add(1, Ordering::SeqCst);
    }

    async fn wait_for_close(&self, mut stream: TcpStream) {
        let mut byte = [0; 1];
        let _ = stream.read(&mut byte).await;
        self.closed.fetch_add(1, Ordering::SeqCst);
    }
}

/// The method of a request, and the message in its body.
fn taken_apart(request: &[u8]) -> (String, Value) {
    let text = String::from_utf8_lossy(request);
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').next().unwrap().to_owned(), serde_json::from_str(body).unwrap_or_default())
}

/// The result under the id that was asked under.
fn result_for(message: &Value) -> String {
    let id = if message["id"].is_null() { "1".to_owned() } else { message["id"].to_string() };
    RESULT.replace("\"id\":1", &format!("\"id\":{id}"))
}

fn json_answer(headers: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{headers}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// One request, whole; `None` at the end.
async fn read_request(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut request = Vec::new();
    loop {
        let mut more = [0; 4096];
        let count = stream.read(&mut more).await.ok()?;
        if count == 0 {
            return None;
        }
        request.extend_from_slice(&more[..count]);
        let text = String::from_utf8_lossy(&request).to_ascii_lowercase();
        let Some((head, _)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .split("content-length: ")
            .nth(1)
            .map_or(0, |rest| rest.split("\r\n").next().unwrap().parse::<usize>().unwrap());
        if request.len() >= head.len() + 4 + length {
            return Some(request);
        }
    }
}
