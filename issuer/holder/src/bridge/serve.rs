//! The loop over the client's lines. Standard input and output have threads of their own, because both block.

use std::{
    io::{self, BufRead, Write},
    sync::Arc,
    thread,
};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{
    Bridge, BridgeError, Relay,
    line::{self, Line},
    session::Session,
};
use crate::limits::{DRAIN, MAX_LINE_BYTES, MAX_LINES_WAITING, NOTIFY_TIMEOUT};

impl Bridge {
    /// Serves the client until it closes its side: then calls under way may still end, for a while.
    pub async fn serve(
        self,
        input: impl BufRead + Send + 'static,
        output: impl Write + Send + 'static,
    ) -> Result<(), BridgeError> {
        let mut incoming = reader(input);
        let (lines, written) = writer(output);
        let session = Arc::new(Session::new(self.upstreams.len()));
        let relay = Relay::new(Arc::new(self), session, lines);
        let mut tasks = JoinSet::new();
        let ended = loop {
            tokio::select! {
                line = incoming.recv() => match line {
                    Some(Ok(Line::End)) | None => break Ok(()),
                    Some(Ok(line)) => relay.take(line, &mut tasks).await,
                    Some(Err(fault)) => break Err(fault.into()),
                },
                Some(ended) = tasks.join_next_with_id() => {
                    if let Err(error) = ended {
                        relay.bury(&error).await;
                    }
                }
                () = relay.lines.closed() => break Ok(()),
            }
        };
        let drained = tokio::time::timeout(DRAIN, async { while tasks.join_next().await.is_some() {} });
        if drained.await.is_err() {
            tracing::warn!(
                "calls were still open {DRAIN:?} after the client had closed its side; they are dropped"
            );
        }
        tasks.shutdown().await;
        // A process of the tool server may stand behind each session, for as long as nobody ends it.
        if tokio::time::timeout(NOTIFY_TIMEOUT, relay.close()).await.is_err() {
            tracing::info!("a server did not say in {NOTIFY_TIMEOUT:?} that it has ended the session");
        }
        drop(relay);
        // A client that reads nothing more is not waited for.
        let written = tokio::time::timeout(DRAIN, written).await;
        ended.and(written.unwrap_or(Ok(Ok(()))).unwrap_or(Ok(())).map_err(BridgeError::Io))
    }
}

fn reader(mut input: impl BufRead + Send + 'static) -> mpsc::Receiver<io::Result<Line>> {
    let (sender, receiver) = mpsc::channel(1);
    thread::spawn(move || {
        loop {
            let line = line::next(&mut input, MAX_LINE_BYTES);
            let is_last = !matches!(line, Ok(Line::Bytes(_) | Line::TooLong));
            if sender.blocking_send(line).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

fn writer(
    mut output: impl Write + Send + 'static,
) -> (mpsc::Sender<Vec<u8>>, oneshot::Receiver<io::Result<()>>) {
    let (sender, mut receiver) = mpsc::channel::<Vec<u8>>(MAX_LINES_WAITING);
    let (done, written) = oneshot::channel();
    thread::spawn(move || {
        let mut result = Ok(());
        while let (true, Some(mut line)) = (result.is_ok(), receiver.blocking_recv()) {
            line.push(b'\n');
            result = output.write_all(&line).and_then(|()| output.flush());
        }
        // Nobody waits any more when the bridge was dropped.
        let _ = done.send(result);
    });
    (sender, written)
}
