//! The body of a tool server's answer, whichever way it comes.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{pool::PooledBody, stdio::ChildBody};

pub(crate) enum UpstreamBody {
    Http(PooledBody),
    Child(ChildBody),
}

/// It ended before its end. Why is in the log, where anybody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BrokenOff;

impl Body for UpstreamBody {
    type Data = Bytes;
    type Error = BrokenOff;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BrokenOff>>> {
        match self.get_mut() {
            UpstreamBody::Http(body) => {
                Pin::new(body).poll_frame(cx).map(|frame| frame.map(|frame| frame.map_err(|_| BrokenOff)))
            }
            UpstreamBody::Child(body) => body.poll(cx).map(|part| part.map(|part| part.map(Frame::data))),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            UpstreamBody::Http(body) => body.is_end_stream(),
            UpstreamBody::Child(body) => body.left() == Some(0),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            UpstreamBody::Http(body) => body.size_hint(),
            UpstreamBody::Child(body) => body.left().map_or_else(SizeHint::default, SizeHint::with_exact),
        }
    }
}
