//! One request that waits for its answer. Whoever drops it before takes it back.

use std::{
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use tokio::sync::mpsc;

use super::{calls::Part, child::Child};

pub(super) struct Ticket {
    child: Arc<Child>,
    number: u64,
    parts: mpsc::Receiver<Part>,
}

impl Ticket {
    pub(super) fn new(child: Arc<Child>, number: u64, parts: mpsc::Receiver<Part>) -> Ticket {
        Ticket { child, number, parts }
    }

    /// What comes next; `None` when the process has ended.
    pub(super) async fn next(&mut self) -> Option<Part> {
        self.parts.recv().await
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Part>> {
        self.parts.poll_recv(cx)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.child.calls().forget(self.number) {
            self.child.tell_at_once(cancelled(self.number));
        }
    }
}

/// MCP: the request is not to be answered.
fn cancelled(number: u64) -> Bytes {
    Bytes::from(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{number},"reason":"nobody waits for the answer"}}}}"#
    ))
}
