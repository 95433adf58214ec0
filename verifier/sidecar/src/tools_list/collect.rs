//! The whole answer to `tools/list`, within its bound: a JSON text, or the one event that answers.

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::BodyExt;

use super::{events::Events, unreadable};
use crate::{
    answer::{AnswerBody, AnswerBroken},
    fault::{Fault, UpstreamFault},
    limits::MAX_TOOLS_LIST_BYTES,
    mcp::RpcId,
    upstream::{is_content, is_event_stream},
};

/// The text of the JSON-RPC message that answers `id`. Other messages of an event stream are not for a caller who asked for
/// a list, and end here.
pub(crate) async fn answer(
    headers: &HeaderMap,
    body: &mut AnswerBody,
    id: Option<&RpcId>,
) -> Result<Bytes, Fault> {
    let mut whole = Whole::default();
    if is_event_stream(headers) {
        let mut events = Events::default();
        while let Some(part) = whole.next(body).await? {
            for event in events.take(&part) {
                if super::rebuild::answers(&event, id) {
                    return Ok(event);
                }
            }
        }
        return Err(unreadable("its event stream ended without an answer"));
    }
    if !is_content(headers, "application/json") {
        return Err(unreadable("it is neither JSON nor an event stream"));
    }
    let mut text = Vec::new();
    while let Some(part) = whole.next(body).await? {
        text.extend_from_slice(&part);
    }
    Ok(text.into())
}

/// Counts what has come of an answer.
#[derive(Default)]
struct Whole {
    bytes: usize,
}

impl Whole {
    async fn next(&mut self, body: &mut AnswerBody) -> Result<Option<Bytes>, Fault> {
        let Some(frame) = body.frame().await else { return Ok(None) };
        let data = frame.map_err(broken)?.into_data().unwrap_or_default();
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_TOOLS_LIST_BYTES {
            return Err(UpstreamFault::ListTooLarge { limit: MAX_TOOLS_LIST_BYTES }.into());
        }
        Ok(Some(data))
    }
}

fn broken(broken: AnswerBroken) -> Fault {
    match broken {
        AnswerBroken::Upstream => unreadable("it broke off"),
        AnswerBroken::Silent { limit } => UpstreamFault::TooSlow { limit }.into(),
        AnswerBroken::Ended(fault) => fault,
    }
}
