//! What a body has ready, in one piece: so many small parts of a stream cost one turn, not one each. Nobody waits for more.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, SizeHint};

use crate::limits::MAX_GATHERED_BYTES;

/// A body that is let go when it ends.
pub(super) struct Gathered<B: Body> {
    inner: Option<B>,
    /// How it broke, told once what came before has passed.
    broken: Option<B::Error>,
}

impl<B: Body<Data = Bytes> + Unpin> Gathered<B> {
    pub(super) fn new(inner: B) -> Gathered<B> {
        Gathered { inner: Some(inner), broken: None }
    }

    /// The next bytes: those that are there, up to about the bound. A part that comes alone is not copied.
    pub(super) fn poll_data(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        let first = match self.broken.take() {
            Some(error) => Some(Err(error)),
            None => ready!(self.poll_part(cx)),
        };
        let Some(Ok(first)) = first else {
            self.let_go();
            return Poll::Ready(first);
        };
        let (mut first, mut more) = (Some(first), BytesMut::new());
        let mut gathered = first.as_ref().map_or(0, Bytes::len);
        while gathered < MAX_GATHERED_BYTES {
            match self.poll_part(cx) {
                Poll::Ready(Some(Ok(part))) => {
                    if let Some(first) = first.take() {
                        more.extend_from_slice(&first);
                    }
                    gathered = gathered.saturating_add(part.len());
                    more.extend_from_slice(&part);
                }
                Poll::Ready(end) => {
                    self.let_go();
                    self.broken = end.and_then(Result::err);
                    break;
                }
                Poll::Pending => break,
            }
        }
        Poll::Ready(Some(Ok(first.unwrap_or_else(|| more.freeze()))))
    }

    fn poll_part(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, B::Error>>> {
        let Some(inner) = self.inner.as_mut() else { return Poll::Ready(None) };
        // Trailers are headers that no allow-list saw.
        Pin::new(inner)
            .poll_frame(cx)
            .map(|frame| frame.map(|frame| frame.map(|frame| frame.into_data().unwrap_or_default())))
    }

    /// Nothing more comes of it.
    pub(super) fn let_go(&mut self) {
        (self.inner, self.broken) = (None, None);
    }

    pub(super) fn is_end_stream(&self) -> bool {
        self.broken.is_none() && self.inner.as_ref().is_none_or(Body::is_end_stream)
    }

    /// Of what has not passed yet.
    pub(super) fn size_hint(&self) -> SizeHint {
        match &self.inner {
            Some(inner) => inner.size_hint(),
            None if self.broken.is_some() => SizeHint::default(),
            None => SizeHint::with_exact(0),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::VecDeque, task::Waker};

    use http_body::Frame;

    use super::*;

    /// Parts that are there, `None` for a moment at which nothing is, then an error where there is one.
    struct Parts(VecDeque<Option<&'static str>>, Option<&'static str>);

    impl Body for Parts {
        type Data = Bytes;
        type Error = &'static str;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, &'static str>>> {
            match self.0.pop_front() {
                Some(Some(part)) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(part.as_bytes()))))),
                Some(None) => Poll::Pending,
                None => Poll::Ready(self.1.take().map(Err)),
            }
        }
    }

    fn polled(gathered: &mut Gathered<Parts>) -> Poll<Option<Result<Bytes, &'static str>>> {
        gathered.poll_data(&mut Context::from_waker(Waker::noop()))
    }

    #[test]
    fn what_is_there_comes_in_one_piece_and_nothing_waits_for_more() {
        let parts = [Some("a"), Some("b"), None, Some("c"), None];
        let mut gathered = Gathered::new(Parts(parts.into(), None));
        assert_eq!(polled(&mut gathered), Poll::Ready(Some(Ok(Bytes::from_static(b"ab")))));
        assert_eq!(polled(&mut gathered), Poll::Ready(Some(Ok(Bytes::from_static(b"c")))));
        assert!(!gathered.is_end_stream());
        assert_eq!(polled(&mut gathered), Poll::Ready(None));
        assert!(gathered.is_end_stream());
    }

    #[test]
    fn a_body_that_breaks_off_says_so_behind_what_came_before() {
        let mut gathered = Gathered::new(Parts([Some("a"), Some("b")].into(), Some("broken")));
        assert_eq!(polled(&mut gathered), Poll::Ready(Some(Ok(Bytes::from_static(b"ab")))));
        assert!(!gathered.is_end_stream());
        assert_eq!(polled(&mut gathered), Poll::Ready(Some(Err("broken"))));
        assert_eq!(polled(&mut gathered), Poll::Ready(None));
    }

    #[test]
    fn a_stream_that_never_pauses_comes_in_bounded_pieces() {
        let part = "x".repeat(MAX_GATHERED_BYTES / 4 + 1).leak();
        let mut gathered = Gathered::new(Parts(vec![Some(&*part); 9].into(), None));
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(Ok(bytes))) = polled(&mut gathered) {
            lengths.push(bytes.len() / part.len());
        }
        assert_eq!(lengths, [4, 4, 1]);
    }
}
