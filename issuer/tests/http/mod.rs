//! One plain HTTP/1.1 request, for tests that look at the bytes.

use std::{
    io::{Read, Write},
    net::TcpStream,
};

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
    headers: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let lines = self.headers.lines().filter_map(|line| line.split_once(": "));
        lines.filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    }
}

/// `more` are headers, each with its line end.
pub(crate) fn ask(address: &str, method: &str, path: &str, more: &str) -> Answer {
    send(address, &format!("{method} {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n{more}\r\n"), b"")
}

/// A body, whole.
#[allow(dead_code, reason = "not every test posts")]
pub(crate) fn post(address: &str, path: &str, body: &[u8]) -> Answer {
    let length = body.len();
    let head =
        format!("POST {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    send(address, &head, body)
}

fn send(address: &str, head: &str, body: &[u8]) -> Answer {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    // A server that has read enough may close before it has read all.
    let _ = stream.write_all(body);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let headers = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, headers, body: bytes[end + 4..].to_vec() }
}
