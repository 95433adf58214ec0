//! Streamable HTTP for clients of this machine, in front of the same relay: what a line is to standard input, the body of a POST
//! is here. A socket that only its owner may open, or a loopback address and a secret.

use std::{convert::Infallible, future::Future, pin::pin, sync::Arc};

use http::{Request, Response};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
};

mod body;
mod door;
mod fault;
mod place;
mod requests;
mod secret;
mod sessions;

pub use place::ListenError;

use body::Body;
use door::Door;
use place::{Listener, Stream};
use secret::Secret;
use sessions::Sessions;

use super::{
    Bridge,
    config::{Config, Place},
};
use crate::limits::{
    ACCEPT_PAUSE, DRAIN, HEAD_TIMEOUT, MAX_CONNECTIONS, MAX_HEAD_BYTES, MAX_HEADERS, MAX_IN_FLIGHT,
};

/// A bridge that local clients reach over HTTP.
pub struct Listening {
    listener: Listener,
    office: Arc<Office>,
    announcement: String,
}

/// What all connections share.
struct Office {
    bridge: Arc<Bridge>,
    door: Door,
    sessions: Sessions,
    /// Requests that wait for their answers.
    places: Arc<Semaphore>,
}

impl Bridge {
    /// Listens where the configuration says; `None` where it says nowhere.
    pub async fn listen(self, config: &Config) -> Result<Option<Listening>, ListenError> {
        let Some(config) = &config.listen else { return Ok(None) };
        let listener = Listener::bind(&config.place).await?;
        let (secret, announcement) = match listener.address() {
            None => (None, format!("listening on the socket {}, at /mcp", listener.name())),
            Some(address) => {
                let (secret, is_new) = Secret::take(config.secret_file.as_deref())?;
                let announcement = match (&config.secret_file, is_new) {
                    (Some(file), false) => {
                        format!(
                            "listening on http://{address}/SECRET/mcp with the secret of {}",
                            file.display()
                        )
                    }
                    _ => format!("listening on {}", secret.url(address).as_str()),
                };
                (Some(secret), announcement)
            }
        };
        let door = Door::new(listener.address(), secret, config.allowed_origins.clone());
        let office = Office {
            sessions: Sessions::new(self.upstreams.len()),
            bridge: Arc::new(self),
            door,
            places: Arc::new(Semaphore::new(MAX_IN_FLIGHT)),
        };
        Ok(Some(Listening { listener, office: Arc::new(office), announcement }))
    }
}

impl Listening {
    /// Where clients find it, in a sentence. With a new secret this is the one place that ever shows it.
    pub fn announcement(&self) -> &str {
        &self.announcement
    }

    /// Serves until `stop` is done; then calls under way may still end, for a while.
    pub async fn serve(self, stop: impl Future<Output = ()>) {
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut stop = pin!(stop);
        loop {
            // Beyond the bound callers wait in the system's queue. The semaphore is never closed.
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
            let stream = tokio::select! {
                stream = self.listener.accept() => stream,
                () = &mut stop => break,
            };
            match stream {
                Ok(stream) => {
                    let office = Arc::clone(&self.office);
                    tokio::spawn(async move {
                        match stream {
                            Stream::Tcp(stream) => keep(stream, office).await,
                            Stream::Unix(stream) => keep(stream, office).await,
                        }
                        drop(place);
                    });
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
        let all = u32::try_from(MAX_IN_FLIGHT).unwrap_or(u32::MAX);
        if tokio::time::timeout(DRAIN, self.office.places.acquire_many(all)).await.is_err() {
            tracing::warn!("calls were still open {DRAIN:?} after the stop; they are dropped");
        }
    }
}

async fn keep(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static, office: Arc<Office>) {
    let service = service_fn(move |request: Request<Incoming>| {
        let office = Arc::clone(&office);
        async move { Ok::<Response<Body>, Infallible>(office.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a local connection ended early");
    }
}
