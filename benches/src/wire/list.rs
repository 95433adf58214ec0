//! The issuer's list of 100 000 ids and the server of it.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
    time::Duration,
};

use pact_mandate::{IssuerId, SecretKey, UnixTime};
use pact_revocation::{Draft, Listed, Published};

use crate::{
    lists::nth,
    world::{Failure, wall},
};

/// How many ids.
const IDS: u32 = 100_000;
/// Seconds after which it is signed anew: well inside the minute for which a list counts.
const SIGNED_EVERY: u64 = 20;
const PATIENCE: Duration = Duration::from_secs(5);

/// A list and who signs it.
struct Lister {
    key: SecretKey,
    published: Published,
    signed: UnixTime,
}

/// Serves the list from a thread of this process for as long as that runs, and says where.
pub fn serve(issuer: IssuerId, key: SecretKey) -> Result<SocketAddr, Failure> {
    let signed = wall()?;
    let ids = (0..IDS).map(|number| Listed { entry: nth(number), expires_at: signed.plus(3600) });
    let published = Draft::first(issuer).revoke(ids).sign(&key, signed)?;
    let mut serving = Lister { key, published, signed };
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        // Who goes away while we answer comes again.
        for stream in listener.incoming().flatten() {
            let _ = serving.answer(stream);
        }
    });
    Ok(address)
}

impl Lister {
    fn answer(&mut self, mut stream: TcpStream) -> Result<(), Failure> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut request = [0; 8192];
        let count = stream.read(&mut request)?;
        let text = String::from_utf8_lossy(request.get(..count).unwrap_or_default()).into_owned();
        let path = text.split(' ').nth(1).unwrap_or_default();
        let (status, body) = match self.file(path)? {
            Some(body) => ("200 OK", body),
            None => ("404 Not Found", Vec::new()),
        };
        let length = body.len();
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")?;
        Ok(stream.write_all(&body)?)
    }

    fn file(&mut self, path: &str) -> Result<Option<Vec<u8>>, Failure> {
        if path == "/list" {
            let now = wall()?;
            if now.since(self.signed) >= SIGNED_EVERY {
                self.published = Draft::after(&self.published).sign(&self.key, now)?;
                self.signed = now;
            }
            return Ok(Some(self.published.head_bytes()?));
        }
        let body = format!("/list/{}", self.published.body().name());
        Ok((path == body).then(|| self.published.body_bytes().to_vec()))
    }
}
