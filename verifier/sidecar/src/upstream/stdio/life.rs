//! The life of one process, from its start to its end, in one task: dropped with it, the process is killed.

use std::{fmt, io, pin::pin, process::ExitStatus, sync::Arc};

use bytes::Bytes;
use tokio::{
    io::{AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
};

use super::{
    child::Child,
    complaints::{Complaints, LastLine},
    lines::Lines,
    process::{Pipes, Process},
};
use crate::limits::CHILD_DRAIN;

/// How a process ended, for whoever runs the sidecar.
pub(super) enum Ending {
    /// It was told to.
    Told,
    /// Of itself.
    Itself(Option<ExitStatus>),
    /// It was ended, because it closed a pipe.
    Hung,
}

/// Closes the calls of a process, however its life ends.
struct Closing<'a>(&'a Child);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.calls().close();
    }
}

/// Comes back when the process has ended.
pub(super) async fn live(
    mut process: Process,
    pipes: Pipes,
    child: Arc<Child>,
    lines: mpsc::Receiver<Bytes>,
    complaints: Complaints,
    last: LastLine,
) -> Ending {
    let closing = Closing(&child);
    let Pipes { stdin, stdout, stderr } = pipes;
    let noting = tokio::spawn(complaints.follow(stderr, last));
    let mut hearing = Box::pin(hear(stdout, &child));
    let ending = {
        let writing = pin!(write(stdin, lines));
        tokio::select! {
            status = process.wait() => Ending::Itself(status.ok()),
            () = child.told_to_end() => Ending::Told,
            () = &mut hearing => Ending::Hung,
            _ = writing => Ending::Hung,
        }
    };
    if let Ending::Itself(_) = ending {
        // Its last answer may still be in the pipe.
        let _ = tokio::time::timeout(CHILD_DRAIN, &mut hearing).await;
    }
    drop(hearing);
    drop(closing);
    let ending = match ending {
        // Most often it is about to end, and that is seen here first.
        Ending::Hung => process.end().await.map_or(Ending::Hung, |status| Ending::Itself(Some(status))),
        Ending::Told => {
            process.end().await;
            Ending::Told
        }
        Ending::Itself(status) => {
            drop(process);
            Ending::Itself(status)
        }
    };
    let _ = tokio::time::timeout(CHILD_DRAIN, noting).await;
    ending
}

async fn hear(stdout: ChildStdout, child: &Child) {
    let mut lines = Lines::new(BufReader::new(stdout), child.most());
    while let Ok(Some(line)) = lines.next().await {
        child.hear(&line);
    }
}

/// Writes line after line; ends when nobody reads them.
async fn write(mut stdin: ChildStdin, mut lines: mpsc::Receiver<Bytes>) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        stdin.write_all(&line).await?;
        stdin.write_all(b"\n").await?;
        stdin.flush().await?;
    }
    Ok(())
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Told => f.write_str("was told to end"),
            Ending::Itself(Some(status)) => write!(f, "ended ({status})"),
            Ending::Itself(None) => f.write_str("ended"),
            Ending::Hung => f.write_str("closed its pipes and did not end"),
        }
    }
}
