//! The tool server behind all of them: a short result, or a stream of events.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, header};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use crate::world::Failure;

/// Events of one stream.
pub const EVENTS: usize = 20_000;
/// How the answer to a served call ends: all that stands behind its id.
pub const DONE: &str = r#","result":{"content":[{"type":"text","text":"done"}]}}"#;
const EVENT: &str = "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"11111111-1111-4111-8111-111111111111\",\"progress\":50,\"total\":100,\"message\":\"half of it\"}}\n\n";
/// How a call that asks for the stream is told apart.
const WATCH: &[u8] = br#""name":"watch""#;

/// Answers until the process ends.
pub async fn serve(listener: TcpListener) -> Result<(), Failure> {
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await
        });
    }
}

async fn answer(request: Request<Incoming>) -> Result<Response<Either<Full<Bytes>, Events>>, hyper::Error> {
    let body = request.into_body().collect().await?.to_bytes();
    let (kind, body) = if body.windows(WATCH.len()).any(|part| part == WATCH) {
        ("text/event-stream", Either::Right(Events { left: EVENTS, sent: false }))
    } else {
        ("application/json", Either::Left(Full::new(done(&body))))
    };
    let mut response = Response::new(body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    Ok(response)
}

/// The answer under the call's own id: one under another is no answer to it, and the sidecar says so.
fn done(body: &[u8]) -> Bytes {
    const ID: &[u8] = br#""id":"#;
    let after = body.windows(ID.len()).position(|part| part == ID).map_or(body.len(), |at| at + ID.len());
    let digits = body.get(after..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit());
    let id: String = digits.map(|digit| char::from(*digit)).collect();
    format!(r#"{{"jsonrpc":"2.0","id":{id}{DONE}"#).into()
}

/// Events as they happen: each is written before the next is there.
struct Events {
    left: usize,
    sent: bool,
}

impl Body for Events {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if std::mem::take(&mut self.sent) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Some(left) = self.left.checked_sub(1) else { return Poll::Ready(None) };
        *self = Events { left, sent: true };
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(EVENT.as_bytes())))))
    }
}
