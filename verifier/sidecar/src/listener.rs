//! Accepting connections, inside bounds, until told to stop.

use std::{convert::Infallible, future::Future, pin::pin, sync::Arc, time::Duration};

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics::Gauge;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

use crate::{
    answer::AnswerBody,
    framed::Framed,
    limits::{ACCEPT_PAUSE, MAX_HEADERS},
};

/// The bounds on connections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionBounds {
    pub(crate) connections: u32,
    pub(crate) head_bytes: usize,
    pub(crate) head_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) drain: Duration,
}

/// What connections are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Go on.
    Open,
    /// Finish the answer that is under way.
    Draining,
    /// Close, whatever is under way.
    Closed,
}

/// One more in a gauge for as long as it lives, however it ends.
struct Counted(Gauge);

impl Counted {
    fn new(gauge: Gauge) -> Counted {
        gauge.increment(1.0);
        Counted(gauge)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

/// Serves until `stop` is done, then lets what is open finish, for as long as the bound allows.
pub(crate) async fn serve<A, F>(
    listener: TcpListener,
    bounds: ConnectionBounds,
    open: Gauge,
    answer: A,
    stop: impl Future<Output = ()>,
) where
    A: Fn(Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<AnswerBody>> + Send + 'static,
{
    let places = Arc::new(Semaphore::new(usize::try_from(bounds.connections).unwrap_or(usize::MAX)));
    let (phase, phases) = watch::channel(Phase::Open);
    let mut stop = pin!(stop);
    loop {
        let (stream, place) = tokio::select! {
            next = next(&listener, &places) => next,
            () = &mut stop => break,
        };
        let kept = keep(stream, bounds, answer.clone(), phases.clone());
        let counted = Counted::new(open.clone());
        tokio::spawn(async move {
            kept.await;
            drop((counted, place));
        });
    }
    drop(listener);
    phase.send_replace(Phase::Draining);
    // Every place free again: every connection closed.
    if tokio::time::timeout(bounds.drain, places.acquire_many(bounds.connections)).await.is_err() {
        tracing::warn!(drain = ?bounds.drain, "open answers were cut off at the end of the drain (limits.drain)");
        phase.send_replace(Phase::Closed);
        // Each of them lets go at its next turn.
        let _ = places.acquire_many(bounds.connections).await;
    }
}

/// The next connection, once there is a place for it: beyond the bound, callers wait in the system's queue and cost nothing.
async fn next(listener: &TcpListener, places: &Arc<Semaphore>) -> (TcpStream, OwnedSemaphorePermit) {
    loop {
        // The semaphore is never closed.
        let Ok(place) = Arc::clone(places).acquire_owned().await else { return std::future::pending().await };
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
        }
    }
}

async fn keep<A, F>(
    stream: TcpStream,
    bounds: ConnectionBounds,
    answer: A,
    mut phases: watch::Receiver<Phase>,
) where
    A: Fn(Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<AnswerBody>> + Send + 'static,
{
    // Answers are written whole or event by event; waiting to fill a packet only delays them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let answered = answer(request);
        async move { Ok::<_, Infallible>(answered.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(bounds.head_timeout)
        .max_buf_size(bounds.head_bytes)
        .max_headers(MAX_HEADERS)
        .serve_connection(
            TokioIo::new(Framed::new(stream, bounds.head_bytes, bounds.write_timeout)),
            service,
        );
    let mut connection = pin!(connection);
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        _ = phases.changed() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                ended = connection.as_mut() => ended,
                _ = phases.wait_for(|phase| *phase == Phase::Closed) => Ok(()),
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::metrics::Metrics;

    /// A panic outside everything that catches one ends its connection, and leaves nothing behind.
    #[tokio::test]
    async fn a_connection_that_panics_is_counted_no_longer_and_frees_its_place() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seconds = Duration::from_secs;
        let bounds = ConnectionBounds {
            connections: 1,
            head_bytes: 8192,
            head_timeout: seconds(5),
            write_timeout: seconds(5),
            drain: seconds(5),
        };
        let metrics = Metrics::new();
        let answer = |request: Request<Incoming>| async move { panic!("in a test: {}", request.uri()) };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let serving = serve(listener, bounds, metrics.connections.clone(), answer, async {
            let _ = stopped.await;
        });
        let calling = async {
            // The second one finds the only place free.
            for _ in 0..2 {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
                let mut all = Vec::new();
                let _ = stream.read_to_end(&mut all).await;
                assert_eq!(all, b"");
            }
            drop(stop);
        };
        tokio::join!(serving, calling);
        let told = metrics.render();
        assert!(told.contains("pact_sidecar_connections_open 0"), "{told}");
    }
}
