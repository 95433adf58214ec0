//! The bare proxies: what hyper does with a call when nobody, or a few signatures, judge it.

use std::{io, net::SocketAddr, sync::Arc};

use bytes::Bytes;
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use http::{Request, Response, Uri};
use http_body_util::{BodyExt, Either, Full};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioIo, TokioTimer},
};
use tokio::net::TcpListener;

use crate::world::Failure;

/// One JSON parse and so many verifications for each call; none of either at `verifications` 0.
struct Proxy {
    client: Client<HttpConnector, Either<Incoming, Full<Bytes>>>,
    to: Uri,
    verifications: usize,
    key: VerifyingKey,
    message: [u8; 400],
    signature: Signature,
}

/// Passes calls to `to` until the process ends.
pub async fn serve(listener: TcpListener, to: SocketAddr, verifications: usize) -> Result<(), Failure> {
    let proxy = Arc::new(Proxy::new(to, verifications)?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let proxy = Arc::clone(&proxy);
        tokio::spawn(async move {
            let service = service_fn(move |request| {
                let proxy = Arc::clone(&proxy);
                async move { proxy.answer(request).await }
            });
            http1::Builder::new().serve_connection(TokioIo::new(stream), service).await
        });
    }
}

impl Proxy {
    fn new(to: SocketAddr, verifications: usize) -> Result<Proxy, Failure> {
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector);
        let key = SigningKey::from_bytes(&[8; 32]);
        let message = [0x33; 400];
        Ok(Proxy {
            client,
            to: format!("http://{to}/mcp").parse()?,
            verifications,
            key: key.verifying_key(),
            signature: key.sign(&message),
            message,
        })
    }

    async fn answer(&self, request: Request<Incoming>) -> io::Result<Response<Incoming>> {
        let (mut head, body) = request.into_parts();
        head.uri = self.to.clone();
        let body = if self.verifications == 0 {
            Either::Left(body)
        } else {
            Either::Right(Full::new(self.judge(body.collect().await.map_err(io::Error::other)?.to_bytes())?))
        };
        self.client.request(Request::from_parts(head, body)).await.map_err(io::Error::other)
    }

    fn judge(&self, body: Bytes) -> io::Result<Bytes> {
        let message: serde_json::Value = serde_json::from_slice(&body)?;
        std::hint::black_box(message);
        for _ in 0..self.verifications {
            let message = std::hint::black_box(&self.message);
            self.key.verify_strict(message, &self.signature).map_err(io::Error::other)?;
        }
        Ok(body)
    }
}
