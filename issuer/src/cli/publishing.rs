//! `publish`, `serve`

use std::{net::SocketAddr, path::Path, time::Duration};

use pact_issuer::{
    limits::RESIGN_SECONDS,
    publish::{PublishError, Publisher},
    serve as serving,
    store::Store,
};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cli::{
    args::{PublishArgs, ServeArgs},
    clock::now,
    error::CliError,
    output::{self, Answer},
};

pub(crate) fn publish(store: Store, args: &PublishArgs, json: bool) -> Result<Answer, CliError> {
    if args.every.is_some_and(|every| every > RESIGN_SECONDS) {
        return Err(CliError::Every);
    }
    let mut publisher = Publisher::take(store)?;
    loop {
        let now = now();
        let files = publisher.files(now)?;
        files.write(&args.out, now).map_err(PublishError::from)?;
        let answer = Answer::new(
            json!({ "published": files.count(), "out": args.out }),
            format!("{} files below {}", files.count(), args.out.display()),
        );
        let Some(every) = args.every else { return Ok(answer) };
        output::answer(&answer, json);
        std::thread::sleep(Duration::from_secs(every));
    }
}

#[tokio::main(worker_threads = 2)]
pub(crate) async fn serve(
    store: Store,
    dir: &Path,
    args: &ServeArgs,
    json: bool,
) -> Result<Answer, CliError> {
    let log = tracing_subscriber::fmt().with_writer(std::io::stderr);
    if json {
        log.json().init();
    } else {
        log.init();
    }
    let reissue = if args.reissue { Some(Store::open(dir)?) } else { None };
    let publisher = Publisher::take(store)?;
    let (public, address) = bind(args.listen).await?;
    let (admin, admin_address) = bind(args.admin).await?;
    output::answer(
        &Answer::new(
            json!({ "listening": format!("http://{address}"), "admin": format!("http://{admin_address}") }),
            format!("listening on http://{address}\nadmin on http://{admin_address}"),
        ),
        json,
    );
    let ports = serving::Ports { public, admin: Some(admin) };
    serving::run(ports, serving::Services { publisher, reissue }, now, stop()).await?;
    Ok(Answer::new(json!({ "stopped": true }), "stopped"))
}

/// With the address that it got.
async fn bind(wanted: SocketAddr) -> Result<(TcpListener, SocketAddr), CliError> {
    let failed = |source| CliError::Listen { path: wanted.to_string(), source };
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok((listener, address))
}

/// Ends on an interrupt or a request to terminate.
async fn stop() {
    let terminate = async {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        () = terminate => {}
    }
}
