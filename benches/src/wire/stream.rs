//! One stream of events, read to its end.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use super::{calls::Call, load::find, tools::EVENTS};
use crate::world::Failure;

const PATIENCE: Duration = Duration::from_secs(30);

/// Makes the call, reads its stream and says how many events came in a second.
#[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
pub fn events_per_second(to: SocketAddr, call: &Call) -> Result<f64, Failure> {
    let mut stream = TcpStream::connect(to)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut answer = Vec::with_capacity(8 << 20);
    let mut part = vec![0; 64 * 1024];
    let start = Instant::now();
    stream.write_all(&call.bytes)?;
    while !answer.ends_with(b"\r\n0\r\n\r\n") {
        let count = stream.read(&mut part)?;
        if count == 0 {
            return Err("the stream broke off".into());
        }
        answer.extend_from_slice(part.get(..count).unwrap_or_default());
    }
    let took = start.elapsed().as_secs_f64();
    let events = events(&answer)?;
    if events != EVENTS {
        return Err(format!("{events} events of {EVENTS} came").into());
    }
    Ok(f64::from(u32::try_from(events)?) / took)
}

/// How many events a chunked answer holds.
fn events(answer: &[u8]) -> Result<usize, Failure> {
    let end = find(answer, b"\r\n\r\n").ok_or("no head")?;
    let (head, mut rest) = (answer.get(..end).unwrap_or_default(), answer.get(end + 4..).unwrap_or_default());
    if !head.starts_with(b"HTTP/1.1 200 ") {
        return Err(format!("no stream: {}", String::from_utf8_lossy(answer)).into());
    }
    let mut text = Vec::with_capacity(answer.len());
    loop {
        let line = find(rest, b"\r\n").ok_or("a chunk without a size")?;
        let digits = std::str::from_utf8(rest.get(..line).unwrap_or_default())?;
        let size = usize::from_str_radix(digits, 16)?;
        if size == 0 {
            break;
        }
        text.extend_from_slice(rest.get(line + 2..line + 2 + size).ok_or("a chunk that is cut")?);
        rest = rest.get(line + size + 4..).ok_or("a chunk that is cut")?;
    }
    Ok(text.windows(2).filter(|pair| *pair == b"\n\n").count())
}
