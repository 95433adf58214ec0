//! Connections to the tool server that are kept for the next call.
//!
//! A connection is driven by the task whose call is on it, and while it idles by nobody: no other task has to be woken for a
//! call to go out, or for each part of its answer to come in.

use std::{
    collections::VecDeque,
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, Uri, header, uri::PathAndQuery};
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::http1::{Builder, Connection, SendRequest},
};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::{client::legacy::connect::HttpConnector, rt::TokioIo};
use tokio::{net::TcpStream, time::Instant};
use tower_service::Service;

use crate::limits::{POOL_CONNECTIONS, POOL_IDLE};

/// Connections to one place.
pub(super) struct Pool {
    connector: HttpsConnector<HttpConnector>,
    to: Uri,
    /// What stands in the request line, and in `Host`.
    target: Uri,
    host: HeaderValue,
    idle: Arc<Idle>,
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoAnswer {
    /// The URL names nothing that a request can be sent to.
    #[error("the URL has no host")]
    NoHost,
    /// There was no connection to be had.
    #[error("no connection")]
    Connect(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The connection broke, or what came on it was no answer.
    #[error(transparent)]
    Broken(#[from] hyper::Error),
}

/// An answer's body, with the connection that it comes on: that is kept when the body ends, and closed when it is dropped
/// before.
pub(super) struct PooledBody {
    inner: Incoming,
    line: Option<Box<Line>>,
    idle: Arc<Idle>,
}

/// One connection. It is large, and handed about in a box.
struct Line {
    sender: SendRequest<Full<Bytes>>,
    driver: Connection<MaybeHttpsStream<TokioIo<TcpStream>>, Full<Bytes>>,
    /// The driver has ended, and must not be asked again.
    is_over: bool,
}

/// Those on which nothing is asked, the one that was used last behind all others.
#[derive(Default)]
struct Idle(Mutex<VecDeque<(Instant, Box<Line>)>>);

impl Pool {
    /// Connects to nothing yet.
    pub(super) fn new(connector: HttpsConnector<HttpConnector>, to: Uri) -> Pool {
        let target = to.path_and_query().cloned().unwrap_or_else(|| PathAndQuery::from_static("/"));
        Pool {
            connector,
            host: host(&to).unwrap_or_else(|| HeaderValue::from_static("")),
            target: Uri::from(target),
            to,
            idle: Arc::default(),
        }
    }

    /// Sends the request, whose target and `Host` are set here, and comes back with the head of the answer.
    pub(super) async fn request(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<PooledBody>, NoAnswer> {
        if self.host.is_empty() {
            return Err(NoAnswer::NoHost);
        }
        *request.uri_mut() = self.target.clone();
        request.headers_mut().insert(header::HOST, self.host.clone());
        loop {
            let (mut line, is_kept) = match self.idle.take().await {
                Some(line) => (line, true),
                None => (self.connect().await?, false),
            };
            match line.ask(request).await {
                Ok(answer) => return Ok(self.watched(answer, line).await),
                // The tool server closed it while it idled, and none of the request was written.
                Err((_, Some(unsent))) if is_kept => request = unsent,
                Err((error, _)) => return Err(error.into()),
            }
        }
    }

    async fn connect(&self) -> Result<Box<Line>, NoAnswer> {
        let mut connector = self.connector.clone();
        poll_fn(|cx| connector.poll_ready(cx)).await.map_err(NoAnswer::Connect)?;
        let stream = connector.call(self.to.clone()).await.map_err(NoAnswer::Connect)?;
        let (sender, driver) = Builder::new().handshake(stream).await?;
        Ok(Box::new(Line { sender, driver, is_over: false }))
    }

    /// The answer, whose connection is free again at once where there is no body.
    async fn watched(&self, answer: Response<Incoming>, line: Box<Line>) -> Response<PooledBody> {
        let idle = Arc::clone(&self.idle);
        let mut answer = answer.map(|inner| PooledBody { inner, line: Some(line), idle });
        let body = answer.body_mut();
        poll_fn(|cx| {
            body.keep_at_end(cx);
            Poll::Ready(())
        })
        .await;
        answer
    }

    /// Closes what has idled for too long.
    pub(super) fn let_go(&self) {
        self.idle.let_go();
    }
}

/// As RFC 9110 7.2 wants it: a port that the scheme implies is left out.
fn host(to: &Uri) -> Option<HeaderValue> {
    let implied = if to.scheme_str() == Some("https") { 443 } else { 80 };
    let host = to.host()?;
    match to.port_u16().filter(|port| *port != implied) {
        Some(port) => HeaderValue::try_from(format!("{host}:{port}")).ok(),
        None => HeaderValue::try_from(host).ok(),
    }
}

impl Line {
    /// Sends the request and waits for the head of its answer. An error brings it back if none of it was written.
    async fn ask(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Incoming>, (hyper::Error, Option<Request<Full<Bytes>>>)> {
        let mut answer = pin!(self.sender.try_send_request(request));
        let (driver, is_over) = (&mut self.driver, &mut self.is_over);
        poll_fn(|cx| {
            drive(driver, is_over, cx);
            answer.as_mut().poll(cx)
        })
        .await
        .map_err(|mut error| {
            let unsent = error.take_message();
            (error.into_error(), unsent)
        })
    }

    fn drive(&mut self, cx: &mut Context<'_>) {
        drive(&mut self.driver, &mut self.is_over, cx);
    }

    /// Whether the next request can go out on it.
    fn is_free(&self) -> bool {
        !self.is_over && self.sender.is_ready()
    }
}

/// Reads and writes what can be read and written. How it ended is told to whoever waits for an answer or its body.
fn drive(driver: &mut (impl Future + Unpin), is_over: &mut bool, cx: &mut Context<'_>) {
    *is_over = *is_over || Pin::new(driver).poll(cx).is_ready();
}

impl Idle {
    /// The one that was used last, if the tool server has not closed it.
    async fn take(&self) -> Option<Box<Line>> {
        loop {
            let mut line = self.pop()?;
            poll_fn(|cx| {
                line.drive(cx);
                Poll::Ready(())
            })
            .await;
            if line.is_free() {
                return Some(line);
            }
        }
    }

    fn pop(&self) -> Option<Box<Line>> {
        self.let_go();
        self.lines().pop_back().map(|(_, line)| line)
    }

    fn keep(&self, line: Box<Line>) {
        let mut lines = self.lines();
        if lines.len() < POOL_CONNECTIONS {
            lines.push_back((Instant::now(), line));
        }
    }

    fn let_go(&self) {
        let now = Instant::now();
        let mut lines = self.lines();
        while lines.front().is_some_and(|(since, _)| now.saturating_duration_since(*since) >= POOL_IDLE) {
            lines.pop_front();
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, VecDeque<(Instant, Box<Line>)>> {
        // Lines are put in and taken out whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PooledBody {
    /// Once the body has ended, its connection is free for the next call.
    fn keep_at_end(&mut self, cx: &mut Context<'_>) {
        if !self.inner.is_end_stream() {
            return;
        }
        self.keep(cx);
    }

    fn keep(&mut self, cx: &mut Context<'_>) {
        let Some(mut line) = self.line.take() else { return };
        line.drive(cx);
        if line.is_free() {
            self.idle.keep(line);
        }
    }
}

impl Body for PooledBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let this = &mut *self;
        let mut frame = Pin::new(&mut this.inner).poll_frame(cx);
        if frame.is_pending()
            && let Some(line) = &mut this.line
        {
            line.drive(cx);
            frame = Pin::new(&mut this.inner).poll_frame(cx);
        }
        match &frame {
            Poll::Ready(None) => this.keep(cx),
            Poll::Ready(Some(Ok(_))) => this.keep_at_end(cx),
            Poll::Ready(Some(Err(_))) => this.line = None,
            Poll::Pending => {}
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
