//! A server that records every request, and answers by a script.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{Arc, Condvar, Mutex},
    thread,
    time::Duration,
};

use serde_json::Value;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: String,
}

/// How one request is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// These bytes, whole: status line and headers without a length, and the body.
    Whole(&'static str, String),
    /// A stream of these events, then the end.
    Events(Vec<String>),
    /// Nothing, until the caller goes away.
    Silence,
}

#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) shared: Arc<(Mutex<Shared>, Condvar)>,
}

#[derive(Default)]
pub(crate) struct Shared {
    seen: Vec<Seen>,
    script: VecDeque<Reply>,
    /// Callers that went away while nothing was answered.
    gone: usize,
}

pub(crate) const JSON: &str = "200 OK\r\nContent-Type: application/json";
/// An answer to whatever was asked: `ID` becomes the id of the request.
pub(crate) const RESULT: &str =
    r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"done"}]}}"#;

impl Server {
    pub(crate) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = Server { address: listener.local_addr().unwrap(), shared: Arc::default() };
        let serving = server.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = serving.clone();
                thread::spawn(move || serving.keep(&stream));
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The next request is answered so; when the script is over, with [`RESULT`].
    pub(crate) fn then(&self, reply: Reply) -> &Server {
        self.shared.0.lock().unwrap().script.push_back(reply);
        self
    }

    pub(crate) fn refuses(&self, status: &'static str, code: u16, reason: &str) -> &Server {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":ID,"error":{{"code":{code},"message":"said no","data":{{"reason":"{reason}","request_id":"q7"}}}}}}"#
        );
        self.then(Reply::Whole(format!("{status}\r\nPact-Refusal: {reason}").leak(), body))
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.0.lock().unwrap().seen.clone()
    }

    /// Waits until so many requests have come.
    pub(crate) fn wait_for(&self, count: usize) -> Vec<Seen> {
        self.wait(|shared| shared.seen.len() >= count);
        self.seen()
    }

    /// Waits until so many callers have gone away.
    pub(crate) fn wait_for_gone(&self, count: usize) {
        self.wait(|shared| shared.gone >= count);
    }

    fn wait(&self, done: impl Fn(&Shared) -> bool) {
        let (lock, changed) = &*self.shared;
        let most = Duration::from_mins(1);
        let waited = changed.wait_timeout_while(lock.lock().unwrap(), most, |shared| !done(shared)).unwrap();
        assert!(!waited.1.timed_out(), "it never happened");
    }

    fn note(&self, change: impl FnOnce(&mut Shared)) {
        change(&mut self.shared.0.lock().unwrap());
        self.shared.1.notify_all();
    }

    fn keep(&self, stream: &TcpStream) {
        let mut reader = BufReader::new(stream);
        while let Some(seen) = read_request(&mut reader) {
            let id = serde_json::from_str(&seen.body).ok().and_then(|body: Value| body.get("id").cloned());
            let id = id.map_or("null".to_owned(), |id| id.to_string());
            let mut reply = None;
            self.note(|shared| {
                shared.seen.push(seen);
                reply = shared.script.pop_front();
            });
            let reply = reply.unwrap_or_else(|| Reply::Whole(JSON, RESULT.to_owned()));
            if !self.answer(reply, &id, stream, &mut reader) {
                return;
            }
        }
    }

    fn answer(&self, reply: Reply, id: &str, mut stream: &TcpStream, reader: &mut impl Read) -> bool {
        match reply {
            Reply::Whole(head, body) => {
                let body = body.replace("ID", id);
                let text = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                stream.write_all(text.as_bytes()).is_ok()
            }
            Reply::Events(events) => {
                let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
                let events: String = events.iter().map(|event| event.replace("ID", id)).collect();
                let _ = stream.write_all(format!("{head}{events}").as_bytes());
                false
            }
            Reply::Silence => {
                let _ = reader.read(&mut [0; 1]);
                self.note(|shared| shared.gone += 1);
                false
            }
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<Seen> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if reader.read_line(&mut head).ok()? == 0 {
            return None;
        }
    }
    let length = head.to_ascii_lowercase();
    let length =
        length.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    reader.read_exact(&mut body).ok()?;
    Some(Seen { head, body: String::from_utf8(body).unwrap() })
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let mut values =
            lines.filter(|(header, _)| header.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        let first = values.next();
        assert_eq!(values.next(), None, "{name} came twice");
        first
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    pub(crate) fn meta(&self) -> Value {
        self.json()["params"]["_meta"].clone()
    }
}
