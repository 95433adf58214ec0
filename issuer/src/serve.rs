//! The command's server of a data folder: what [`Publisher`] makes, served by [`pact_revocation::net::serve`]. Beside it, on
//! a port of its own, how all of that goes.

mod admin;
mod health;
mod reissue;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use axum::{Router, extract::State, http::StatusCode, middleware, response::Response};
use pact_mandate::UnixTime;
use pact_revocation::net::{self, Served};
use tokio::{net::TcpListener, sync::watch};

use crate::{
    limits::WATCH_MILLISECONDS,
    publish::{PublishError, Publisher},
    reissue::Desk,
    serve::{admin::Admin, health::Look},
    store::Store,
};

/// Requests, by their answer.
#[derive(Debug, Default)]
struct Asked {
    found: AtomicU64,
    not_modified: AtomicU64,
    refused: AtomicU64,
}

/// Where to listen: for verifiers, and for those who look after this server.
#[derive(Debug)]
pub struct Ports {
    /// Keys and lists.
    pub public: TcpListener,
    /// `/livez`, `/readyz`, `/metrics`.
    pub admin: Option<TcpListener>,
}

/// What is served.
#[derive(Debug)]
pub struct Services {
    /// Keys and lists.
    pub publisher: Publisher,
    /// `POST /reissue`, over a second look at the same data folder; absent, nobody can ask.
    pub reissue: Option<Store>,
}

impl From<Publisher> for Services {
    fn from(publisher: Publisher) -> Services {
        Services { publisher, reissue: None }
    }
}

impl From<TcpListener> for Ports {
    fn from(public: TcpListener) -> Ports {
        Ports { public, admin: None }
    }
}

/// Why the server did not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The first documents could not be made.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The socket.
    #[error("the server stopped: {0}")]
    Io(#[from] std::io::Error),
}

/// Serves until `shutdown` is ready. Signs anew every ten seconds, and within a second of a change by another process.
pub async fn run(
    ports: impl Into<Ports>,
    services: impl Into<Services>,
    clock: fn() -> UnixTime,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServeError> {
    let ports = ports.into();
    let Services { mut publisher, reissue } = services.into();
    let served = Served::new(publisher.files(clock())?);
    let (looks, look) = watch::channel(Look::first(&publisher, clock()));
    let asked = Arc::<Asked>::default();
    let site = router(served.clone(), reissue, Arc::clone(&asked), clock)?;
    let admin = ports.admin.map(|listener| {
        let admin = Admin { look, asked, clock };
        tokio::spawn(axum::serve(listener, admin::router(admin)).into_future())
    });
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let worker = in_thread(move || {
        while !stopped.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(WATCH_MILLISECONDS));
            publish_again(&mut publisher, &served, &looks, clock());
        }
    })?;
    let ended = axum::serve(ports.public, site).with_graceful_shutdown(shutdown).await;
    stop.store(true, Ordering::Relaxed);
    if let Some(admin) = admin {
        admin.abort();
    }
    let _ = tokio::task::spawn_blocking(move || worker.join()).await;
    Ok(ended?)
}

/// Signing waits for the disk, so it has a thread of its own.
fn in_thread(publish: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name("publisher".to_owned()).spawn(publish)
}

fn publish_again(publisher: &mut Publisher, served: &Served, looks: &watch::Sender<Look>, now: UnixTime) {
    let result = publisher.files(now);
    looks.send_modify(|look| look.again(publisher, result.as_ref().err(), now));
    match result {
        Ok(new) => served.publish(new),
        // The lists age on: verifiers refuse before they would miss a revocation.
        Err(error) => tracing::error!(%error, "nothing new could be published; trying again"),
    }
}

/// What is published, and the desk where there is one, counted by the answers.
fn router(
    served: Served,
    reissue: Option<Store>,
    asked: Arc<Asked>,
    clock: fn() -> UnixTime,
) -> std::io::Result<Router> {
    let mut site = net::router(served);
    if let Some(store) = reissue
        && let Some(issuer) = store.state().issuer().cloned()
    {
        site = reissue::router(store, Desk::new(issuer, clock()), clock)?.merge(site);
    }
    Ok(site.layer(middleware::map_response_with_state(asked, counted)))
}

async fn counted(State(asked): State<Arc<Asked>>, response: Response) -> Response {
    asked.count(response.status());
    response
}

impl Asked {
    fn count(&self, status: StatusCode) {
        let counter = match status {
            StatusCode::OK => &self.found,
            StatusCode::NOT_MODIFIED => &self.not_modified,
            _ => &self.refused,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
}
