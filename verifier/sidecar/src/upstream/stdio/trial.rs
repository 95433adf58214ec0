//! Finding out whether the tool server starts and what it speaks, and keeping the process that serves nobody in particular.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use serde::Deserialize;

use super::{
    calls::Asker,
    child::{self, Child},
    children::{Children, Client},
    frame::Frame,
    says_yes,
    starts::{Backoff, Speaks},
};
use crate::{
    fault::UpstreamFault,
    limits::{CHILD_SWEEP, RAN_WELL},
};

/// MCP 2026-07-28: asks what a server speaks.
const DISCOVER: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"#,
    r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"pact-sidecar","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}}"#
);
/// MCP 2025-11-25: begins a session.
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"pact-sidecar","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);

#[derive(Deserialize)]
struct Discovered {
    result: Versions,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Versions {
    supported_versions: Vec<String>,
}

/// For ever.
pub(super) async fn upkeep(children: Arc<Children>, limit: Duration) {
    let sweeping = async {
        loop {
            tokio::time::sleep(CHILD_SWEEP).await;
            children.sweep();
        }
    };
    tokio::join!(sweeping, keep(&children, limit));
}

/// Keeps it known what the tool server speaks, and a process running for open messages where it needs no sessions.
async fn keep(children: &Arc<Children>, limit: Duration) {
    let mut backoff = Backoff::default();
    loop {
        match find_out(children, limit).await {
            Some((Speaks::Modern, child)) => {
                let how = child.finished().await;
                if child.age() >= RAN_WELL {
                    backoff.reset();
                }
                let wait = backoff.next();
                children.starts.lost(&format!("the process that serves open messages {how}"), wait);
                tokio::time::sleep(wait).await;
            }
            Some((Speaks::Legacy, child)) => {
                child.end();
                // A session's start will tell when it is time to look again.
                children.starts.failure().await;
            }
            None => {}
        }
        tokio::time::sleep(children.starts.wait()).await;
    }
}

/// Asks a process what it speaks. One that knows nothing of the newer protocol may answer no more, so another is asked
/// whether it knows the older.
async fn find_out(children: &Arc<Children>, limit: Duration) -> Option<(Speaks, Arc<Child>)> {
    let modern = ask(children, DISCOVER, limit).await;
    let (speaks, child) = match modern {
        Ok((text, child)) if is_modern(&text) => (Speaks::Modern, child),
        _ => {
            children.end(&Client::Anybody);
            let (text, child) =
                ask(children, INITIALIZE, limit).await.map_err(|why| children.starts.failed(why)).ok()?;
            if !says_yes(&text) {
                children.end(&Client::Anybody);
                children.starts.failed("it knows neither server/discover nor initialize".to_owned());
                return None;
            }
            (Speaks::Legacy, child)
        }
    };
    child.note_answer();
    children.starts.worked();
    children.starts.learnt(speaks);
    tracing::info!(?speaks, "the tool server answers");
    Some((speaks, child))
}

async fn ask(
    children: &Arc<Children>,
    text: &'static str,
    limit: Duration,
) -> Result<(Bytes, Arc<Child>), String> {
    let asking = async {
        let child = children.try_out().await.map_err(|fault| fault.to_string())?;
        let frame = Frame::read(text.as_bytes()).ok_or("our own message cannot be read")?;
        let asker = Asker { has_proven: false, takes_events: false };
        let answer = match child.ask(&frame, text.as_bytes(), asker).await {
            Ok(ticket) => child::answer(ticket).await,
            Err(fault) => Err(fault),
        };
        match answer {
            Ok(text) => Ok((text, child)),
            Err(UpstreamFault::Unreachable) => {
                Err(format!("it {} before it answered anything", child.finished().await))
            }
            Err(fault) => Err(fault.to_string()),
        }
    };
    tokio::time::timeout(limit, asking).await.unwrap_or_else(|_| {
        children.end(&Client::Anybody);
        Err(format!("it has not answered within {limit:?} (upstream.answer_timeout)"))
    })
}

fn is_modern(text: &[u8]) -> bool {
    serde_json::from_slice(text).is_ok_and(|found: Discovered| {
        found.result.supported_versions.iter().any(|version| version == "2026-07-28")
    })
}
