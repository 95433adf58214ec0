//! The load client at a fixed rate: calls are due when they are due, whether the server is ready or not.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use tokio::{
    runtime::Runtime,
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinSet,
};

use super::{
    calls::Call,
    load::{CONNECTIONS, Connection},
};
use crate::world::Failure;

const PATIENCE: Duration = Duration::from_mins(1);

/// The number of a call, and when it was due.
type Due = (usize, Instant);

/// Makes the calls at `rate` in a second and says in how many seconds 99 of 100 were answered. A call that waits for a
/// busy connection is waiting already.
pub fn p99(runtime: &Runtime, to: SocketAddr, calls: &Arc<[Call]>, rate: f64) -> Result<f64, Failure> {
    let mut waits =
        runtime.block_on(async { tokio::time::timeout(PATIENCE, all(to, calls, rate)).await })??;
    waits.sort_by(f64::total_cmp);
    Ok(waits.get(waits.len() * 99 / 100).copied().ok_or("no calls")?)
}

async fn all(to: SocketAddr, calls: &Arc<[Call]>, rate: f64) -> io::Result<Vec<f64>> {
    let (mut senders, mut working) = (Vec::new(), JoinSet::new());
    for _ in 0..CONNECTIONS {
        let connection = Connection::open(to).await?;
        let (sender, due) = unbounded_channel();
        senders.push(sender);
        working.spawn(work(connection, Arc::clone(calls), due));
    }
    let count = calls.len();
    // The runtime's own timers know milliseconds only.
    let pacer = thread::spawn(move || pace(&senders, count, rate));
    let mut waits = Vec::with_capacity(count);
    while let Some(ended) = working.join_next().await {
        waits.extend(ended??);
    }
    pacer.join().map_err(|_| io::Error::other("the pacer died"))?;
    Ok(waits)
}

#[expect(clippy::disallowed_methods, reason = "measuring time is what a benchmark is for")]
fn pace(senders: &[UnboundedSender<Due>], count: usize, rate: f64) {
    let (start, between) = (Instant::now(), Duration::from_secs_f64(1.0 / rate));
    for (number, sender) in (0..count).zip(senders.iter().cycle()) {
        let due = between.mul_f64(f64::from(u32::try_from(number).unwrap_or(u32::MAX)));
        if let Some(left) = due.checked_sub(start.elapsed()) {
            thread::sleep(left);
        }
        // A connection that failed has said why.
        let _ = sender.send((number, Instant::now()));
    }
}

async fn work(
    mut connection: Connection,
    calls: Arc<[Call]>,
    mut due: UnboundedReceiver<Due>,
) -> io::Result<Vec<f64>> {
    let mut waits = Vec::new();
    while let Some((number, since)) = due.recv().await {
        connection.make(calls.get(number).ok_or_else(|| io::Error::other("no such call"))?).await?;
        waits.push(since.elapsed().as_secs_f64());
    }
    Ok(waits)
}
