//! A connection whose requests are framed in one way only and whose peer takes its answers, or that ends.

use std::{
    future::Future,
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Sleep,
};

use crate::framing::{Broken, Framing};

/// A byte that no head and no chunk's frame may have: the HTTP server answers 400 to it, and closes.
const POISON: &[u8] = b"\0";

/// A stream of requests in, and of answers out.
#[derive(Debug)]
pub(crate) struct Framed<S> {
    inner: S,
    /// How long the peer may take no byte that we have for it. Meanwhile nobody asks whether an answer may go on (protocol
    /// R9), so this is what ends it.
    write_timeout: Duration,
    stalled: Option<Pin<Box<Sleep>>>,
    /// `None` once it was broken: there is nothing more to read.
    framing: Option<Framing>,
}

impl<S> Framed<S> {
    /// Heads beyond `head_bytes` are the HTTP server's to refuse; it reads no further than a buffer beyond that.
    pub(crate) fn new(inner: S, head_bytes: usize, write_timeout: Duration) -> Framed<S> {
        let framing = Some(Framing::new(head_bytes.saturating_mul(2)));
        Framed { inner, write_timeout, stalled: None, framing }
    }

    /// Waits for the peer to take something, and no longer than that.
    fn impatiently<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let timeout = self.write_timeout;
        let stalled = self.stalled.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        stalled.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Framed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let Some(framing) = this.framing.as_mut() else { return Poll::Ready(Ok(())) };
        let before = buffer.filled().len();
        ready!(Pin::new(&mut this.inner).poll_read(cx, buffer))?;
        if let Err(Broken { at }) = framing.take(buffer.filled().get(before..).unwrap_or_default()) {
            this.framing = None;
            // What went before the fault is handed on, so that the answer comes where it belongs.
            buffer.set_filled(before.saturating_add(at));
            buffer.put_slice(POISON);
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Framed<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.impatiently(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(cx, parts);
        self.impatiently(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
