//! One bounded GET: no redirect, no more bytes than allowed, no longer than allowed.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Uri, header};
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::{TokioExecutor, TokioTimer},
};

use crate::limits::FETCH_TIMEOUT;

/// Fetches what issuers publish.
#[derive(Clone)]
pub(crate) struct Fetcher(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

/// Why a fetch brought nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchFault {
    /// No connection, or it broke.
    #[error("no answer")]
    Unreachable,
    /// Not in time.
    #[error("no whole answer within {limit:?}")]
    TooSlow {
        /// The bound.
        limit: Duration,
    },
    /// Not 200. A redirect is none either.
    #[error("the answer was {0}")]
    Status(StatusCode),
    /// Longer than allowed.
    #[error("the answer is longer than {limit} bytes")]
    TooLarge {
        /// The bound.
        limit: usize,
    },
    /// Compressed, though nobody asked for it.
    #[error("the answer is encoded though nobody asked for it")]
    Encoded,
}

impl Fetcher {
    pub(crate) fn new(tls: rustls::ClientConfig) -> Fetcher {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_connect_timeout(Some(FETCH_TIMEOUT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        Fetcher(Client::builder(TokioExecutor::new()).pool_timer(TokioTimer::new()).build(connector))
    }

    /// The body of a 200.
    pub(crate) async fn get(&self, uri: &Uri, limit: usize) -> Result<Bytes, FetchFault> {
        let slow = FetchFault::TooSlow { limit: FETCH_TIMEOUT };
        tokio::time::timeout(FETCH_TIMEOUT, self.get_untimed(uri, limit)).await.map_err(|_| slow)?
    }

    async fn get_untimed(&self, uri: &Uri, limit: usize) -> Result<Bytes, FetchFault> {
        let mut request = Request::new(Empty::new());
        *request.uri_mut() = uri.clone();
        let answer = self.0.request(request).await.map_err(|_| FetchFault::Unreachable)?;
        if answer.status() != StatusCode::OK {
            return Err(FetchFault::Status(answer.status()));
        }
        if answer.headers().contains_key(header::CONTENT_ENCODING) {
            return Err(FetchFault::Encoded);
        }
        match Limited::new(answer.into_body(), limit).collect().await {
            Ok(whole) => Ok(whole.to_bytes()),
            Err(error) if error.is::<LengthLimitError>() => Err(FetchFault::TooLarge { limit }),
            Err(_) => Err(FetchFault::Unreachable),
        }
    }
}
