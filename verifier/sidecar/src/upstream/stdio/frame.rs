//! The top of one JSON-RPC message: where in its bytes stand the few values by which messages and calls find each other.
//! Those are put in place of each other byte for byte, and nothing is serialised again (protocol M2).

use std::{borrow::Cow, ops::Range};

use bytes::{BufMut, Bytes, BytesMut};
use serde::Deserialize;
use serde_json::value::RawValue;

/// One message. Its spans are of the text that it was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) kind: Kind,
    pub(super) method: String,
    pub(super) id: Option<Range<usize>>,
    /// `params._meta.progressToken`: under which its sender wants to hear how it goes on.
    pub(super) wants_progress: Option<Range<usize>>,
    /// `params.progressToken`: of which request it tells how that goes on.
    pub(super) progress: Option<Range<usize>>,
    /// `params.requestId`: which request it cancels.
    pub(super) request: Option<Range<usize>>,
    /// The subscription (MCP 2026-07-28: the request that opened it) that it belongs to.
    pub(super) subscription: Option<Range<usize>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Request,
    Notification,
    Response,
}

#[derive(Deserialize)]
struct Top<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow)]
    request_id: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, rename = "progressToken")]
    progress_token: Option<&'a RawValue>,
    #[serde(borrow, rename = "io.modelcontextprotocol/subscriptionId")]
    subscription: Option<&'a RawValue>,
}

impl Frame {
    /// `None` for what is not one message, or could be two.
    pub(super) fn read(text: &[u8]) -> Option<Frame> {
        let top: Top<'_> = serde_json::from_slice(text).ok()?;
        let kind = match (&top.method, top.result, top.error, top.id) {
            (Some(_), None, None, Some(_)) => Kind::Request,
            (Some(_), None, None, None) => Kind::Notification,
            (None, Some(_), None, Some(_)) | (None, None, Some(_), _) => Kind::Response,
            _ => return None,
        };
        // Params of another shape name nothing that we look for.
        let params: Params<'_> = inner(top.params).unwrap_or_default();
        let meta: Meta<'_> = inner(params.meta).unwrap_or_default();
        let span = |value: Option<&RawValue>| value.and_then(|value| span_of(text, value));
        Some(Frame {
            kind,
            method: top.method.unwrap_or_default().into_owned(),
            id: span(top.id),
            wants_progress: span(meta.progress_token),
            progress: span(params.progress_token),
            request: span(params.request_id),
            subscription: span(meta.subscription),
        })
    }
}

fn inner<'a, T: Deserialize<'a>>(value: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

/// Where in the text a value stands that was borrowed from it.
fn span_of(text: &[u8], value: &RawValue) -> Option<Range<usize>> {
    let start = value.get().as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    let end = start.checked_add(value.get().len())?;
    (end <= text.len()).then_some(start..end)
}

/// What stands there, as JSON.
pub(super) fn at<'a>(text: &'a [u8], span: &Range<usize>) -> &'a str {
    text.get(span.clone()).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// The text with other values at these places, as one line without its end: a line's end between two tokens becomes a
/// space, and none can stand within one.
pub(super) fn replaced(text: &[u8], mut edits: Vec<(Range<usize>, &str)>) -> Bytes {
    edits.sort_by_key(|(span, _)| span.start);
    let more: usize = edits.iter().map(|(_, value)| value.len()).sum();
    let mut line = BytesMut::with_capacity(text.len().saturating_add(more).saturating_add(1));
    let mut from = 0;
    for (span, value) in edits {
        line.put_slice(text.get(from..span.start).unwrap_or_default());
        line.put_slice(value.as_bytes());
        from = span.end;
    }
    line.put_slice(text.get(from..).unwrap_or_default());
    line.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    line.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Frame> {
        Frame::read(text.as_bytes())
    }

    #[test]
    fn m2_only_the_named_values_change() {
        let text = "{ \"\\u0069d\" : 7 ,\n\"method\":\"tools/call\", \"params\":{\"_meta\":{\"progressToken\":\"a\",\"x\":1.0},\r\n\"arguments\":{\"id\":7,\"t\":\"a\\nb\u{2028}\"}}}";
        let frame = read(text).unwrap();
        let edits = vec![(frame.wants_progress.unwrap(), "12"), (frame.id.unwrap(), "12")];
        let line = String::from_utf8(replaced(text.as_bytes(), edits).to_vec()).unwrap();
        assert_eq!(
            line,
            "{ \"\\u0069d\" : 12 , \"method\":\"tools/call\", \"params\":{\"_meta\":{\"progressToken\":12,\"x\":1.0},  \"arguments\":{\"id\":7,\"t\":\"a\\nb\u{2028}\"}}}"
        );
    }

    #[test]
    fn what_could_be_taken_for_two_messages_is_none() {
        for text in [
            "",
            "hello",
            "[]",
            "{}",
            r#"{"id":1}"#,
            r#"{"id":1,"id":2,"result":{}}"#,
            r#"{"id":1,"\u0069d":2,"result":{}}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1,"method":"x","result":{}}"#,
            r#"{"id":1,"result":{}} {"id":2,"result":{}}"#,
            "{\"id\":1,\"result\":{\"a\":\"\n\"}}",
            r#"[{"id":1,"result":{}}]"#,
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_a_message_belongs_to_is_found() {
        let text = r#"{"method":"notifications/progress","params":{"progressToken":"t","_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#;
        let frame = read(text).unwrap();
        assert_eq!(frame.kind, Kind::Notification);
        assert_eq!(at(text.as_bytes(), &frame.progress.unwrap()), "\"t\"");
        assert_eq!(at(text.as_bytes(), &frame.subscription.unwrap()), "4");
        assert_eq!(read(r#"{"method":"x","params":[1]}"#).unwrap().request, None);
        assert_eq!(read(r#"{"id":null,"error":{}}"#).unwrap().kind, Kind::Response);
    }
}
