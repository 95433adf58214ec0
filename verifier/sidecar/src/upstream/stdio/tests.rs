use std::collections::BTreeMap;

use http::HeaderMap;

use super::*;
use crate::{request_id::RequestIds, session::SessionBounds};

const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#;

fn stdio() -> Stdio {
    let command = CommandConfig {
        program: "no-such-program-at-all".into(),
        arguments: Vec::new(),
        folder: None,
        env: BTreeMap::new(),
        max_children: 4,
        message_bytes: 65_536,
    };
    let sessions = Arc::new(SessionBook::new(SessionBounds { count: 2, idle: Duration::from_secs(1) }));
    Stdio::new(command, Duration::from_secs(1), sessions, Clock::system())
}

async fn alone(stdio: &Stdio, proven: Proven) -> Fault {
    let body = Bytes::from_static(CALL);
    let id = RequestIds::new([0; 8]).next();
    let outgoing = Outgoing::new(Method::POST, &HeaderMap::new(), Leg::Alone, body, proven, id);
    stdio.send(outgoing).await.map(|_| ()).unwrap_err()
}

#[tokio::test]
async fn m4_a_credential_that_names_no_holder_has_no_process() {
    let stdio = stdio();
    stdio.children.starts.learnt(Speaks::Modern);
    assert_eq!(alone(&stdio, Proven::Call(None)).await, SessionFault::NeedsHolder.into());
    assert_eq!(stdio.children.starts.fault(), None);
}

#[tokio::test]
async fn a_start_that_failed_is_not_tried_again_by_the_next_caller() {
    let stdio = stdio();
    assert_eq!(alone(&stdio, Proven::Nothing).await, UpstreamFault::Unreachable.into());
    assert!(stdio.children.starts.wait().is_zero(), "nobody knows yet what it speaks, so nothing is started");
    stdio.children.starts.learnt(Speaks::Modern);
    assert_eq!(alone(&stdio, Proven::Nothing).await, UpstreamFault::Unreachable.into());
    let wait = stdio.children.starts.wait();
    assert!(!wait.is_zero());
    assert_eq!(alone(&stdio, Proven::Nothing).await, UpstreamFault::Unreachable.into());
    assert!(stdio.children.starts.wait() <= wait);
    let said = stdio.probe().unwrap_err();
    assert!(said.starts_with("no-such-program-at-all cannot be started: "), "{said}");
}
