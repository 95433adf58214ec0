//! The load client: connections that are kept, one call at a time on each, every answer asserted.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    runtime::Runtime,
    task::JoinSet,
};

use super::{calls::Call, tools::DONE};
use crate::world::Failure;

/// Connections at once.
pub const CONNECTIONS: usize = 64;
/// How long a slice may take: a server that hangs ends the measuring.
const PATIENCE: Duration = Duration::from_mins(1);

/// One connection that is opened again when the server closes it.
pub(super) struct Connection {
    to: SocketAddr,
    stream: TcpStream,
    answer: Vec<u8>,
}

/// Makes all calls through [`CONNECTIONS`] connections, as fast as they are answered, and says how many that were in a second.
pub fn flood(runtime: &Runtime, to: SocketAddr, calls: &Arc<[Call]>) -> Result<f64, Failure> {
    let took = runtime.block_on(async { tokio::time::timeout(PATIENCE, all(to, calls)).await })??;
    Ok(f64::from(u32::try_from(calls.len())?) / took.as_secs_f64())
}

#[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
async fn all(to: SocketAddr, calls: &Arc<[Call]>) -> io::Result<Duration> {
    // Connecting is not what is measured.
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(to).await?);
    }
    let next = Arc::new(AtomicUsize::new(0));
    let start = Instant::now();
    let mut working = JoinSet::new();
    for mut connection in connections {
        let (next, calls) = (Arc::clone(&next), Arc::clone(calls));
        working.spawn(async move {
            while let Some(call) = calls.get(next.fetch_add(1, Ordering::Relaxed)) {
                connection.make(call).await?;
            }
            Ok::<_, io::Error>(())
        });
    }
    while let Some(ended) = working.join_next().await {
        ended??;
    }
    Ok(start.elapsed())
}

impl Connection {
    pub(super) async fn open(to: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(to).await?;
        stream.set_nodelay(true)?;
        Ok(Connection { to, stream, answer: Vec::with_capacity(8192) })
    }

    /// Makes one call, reads the answer to its end and asserts what it says.
    pub(super) async fn make(&mut self, call: &Call) -> io::Result<()> {
        self.stream.write_all(&call.bytes).await?;
        self.answer.clear();
        let (head_bytes, whole) = loop {
            if self.stream.read_buf(&mut self.answer).await? == 0 {
                return Err(io::Error::other(format!("no answer to a call that wants {}", call.status)));
            }
            if let Some((head, length)) = frame(&self.answer)?
                && self.answer.len() >= head + length
            {
                break (head, head + length);
            }
        };
        self.check(call, head_bytes, whole)?;
        let head = self.answer.get(..head_bytes).unwrap_or_default();
        if find(head, b"\r\nconnection: close").is_some() {
            *self = Connection::open(self.to).await?;
        }
        Ok(())
    }

    fn check(&self, call: &Call, head: usize, whole: usize) -> io::Result<()> {
        let status = self.answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
        let body = self.answer.get(head..whole).unwrap_or_default();
        if status == Some(call.status) && (call.status != 200 || body.ends_with(DONE.as_bytes())) {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&self.answer);
        Err(io::Error::other(format!("{} was wanted, and this came: {text}", call.status)))
    }
}

/// The bytes of the head, and how many follow, once the head is whole.
fn frame(answer: &[u8]) -> io::Result<Option<(usize, usize)>> {
    let Some(end) = find(answer, b"\r\n\r\n") else { return Ok(None) };
    let length = content_length(answer.get(..end).unwrap_or_default());
    Ok(Some((end + 4, length.ok_or_else(|| io::Error::other("an answer without a length"))?)))
}

fn content_length(head: &[u8]) -> Option<usize> {
    let name = b"\r\ncontent-length: ";
    let value = head.get(find(head, name)? + name.len()..)?;
    let digits = value.split(|byte| *byte == b'\r').next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Where the part begins in the text.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    text.windows(part.len()).position(|window| window == part)
}
