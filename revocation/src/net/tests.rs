//! A server of ours, a hostile server, and watchers, on loopback, with a clock that the test turns.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{Router, response::IntoResponse, routing::get};
use http::{StatusCode, header};
use pact_mandate::{Format, Now, SecretKey};

use super::{fetch::*, serve, target::*, watch::*};
use crate::{
    FloorInMemory, Published, PublishedFiles,
    testing::{T0, at, entry, first, issuer, key, next, now, pinned},
};

async fn listen(router: Router) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

fn fetcher() -> Fetcher {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let limits = FetchLimits {
        timeout: Duration::from_millis(500),
        connect_timeout: Duration::from_millis(500),
        redirects: 2,
    };
    Fetcher::new(limits).unwrap()
}

fn served(list: &Published) -> serve::Served {
    serve::Served::new(PublishedFiles::of(list, at(T0)).unwrap())
}

async fn get_with(url: &str, tag: Option<&str>) -> reqwest::Response {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut request = reqwest::Client::builder().no_proxy().build().unwrap().get(url);
    if let Some(tag) = tag {
        request = request.header(header::IF_NONE_MATCH, tag);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn r2_lists_are_served_with_these_headers() {
    let signer = key(1);
    let list = first(&signer, [1]);
    let files = PublishedFiles::of(&list, at(T0))
        .unwrap()
        .with_compatible(Format::Tenuo, list.version(), vec![1, 2])
        .with_keys("pact-keys.json", "{}".to_owned(), 7);
    let origin = listen(serve::router(serve::Served::new(files))).await;
    let head = get_with(&format!("{origin}/.well-known/pact-revocations/pact"), None).await;
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "max-age=5"),
        ("access-control-allow-origin", "*"),
        ("access-control-expose-headers", "x-pact-revocations-version"),
        ("x-pact-revocations-version", "1"),
    ] {
        assert_eq!(head.headers()[name], value, "{name}");
    }
    let tag = head.headers()["etag"].to_str().unwrap().to_owned();
    assert_eq!(
        head.headers()["content-length"].to_str().unwrap(),
        list.head_bytes().unwrap().len().to_string()
    );
    assert_eq!(head.bytes().await.unwrap(), list.head_bytes().unwrap());
    let again = get_with(&format!("{origin}/.well-known/pact-revocations/pact"), Some(&tag)).await;
    assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    assert_eq!(again.headers()["x-pact-revocations-version"], "1");
    for (held, status) in [
        (format!("\"x\", W/{tag}"), StatusCode::NOT_MODIFIED),
        ("*".to_owned(), StatusCode::NOT_MODIFIED),
        ("\"x\"".to_owned(), StatusCode::OK),
    ] {
        let answer = get_with(&format!("{origin}/.well-known/pact-revocations/pact"), Some(&held)).await;
        assert_eq!(answer.status(), status, "{held}");
    }

    let body =
        get_with(&format!("{origin}/.well-known/pact-revocations/pact/{}", list.body().name()), None).await;
    assert!(body.headers()["cache-control"].to_str().unwrap().contains("immutable"));
    assert_eq!(body.bytes().await.unwrap(), list.body_bytes()[..]);
    let tenuo = get_with(&format!("{origin}/.well-known/pact-revocations/tenuo"), None).await;
    assert_eq!(tenuo.headers()["content-type"], "application/octet-stream");
    let keys = get_with(&format!("{origin}/.well-known/pact-keys.json"), None).await;
    for (name, value) in [
        ("content-type", "application/json"),
        ("cache-control", "public, max-age=7"),
        ("access-control-allow-origin", "*"),
    ] {
        assert_eq!(keys.headers()[name], value, "{name}");
    }
    assert!(keys.headers().get("x-pact-revocations-version").is_none());

    for unknown in ["jwt", "biscuit", "pact/", "pact/00", "tenuo/x", "pact/../tenuo/y"] {
        let answer = get_with(&format!("{origin}/.well-known/pact-revocations/{unknown}"), None).await;
        assert_eq!(answer.status(), StatusCode::NOT_FOUND, "{unknown}");
        assert_eq!(answer.headers()["cache-control"], "no-store");
        assert!(answer.text().await.unwrap().starts_with(r#"{"error":"not_found","#));
    }
}

#[tokio::test]
async fn a_fetch_is_bounded_in_bytes_time_and_redirects() {
    let endless = || async {
        let stream = axum::body::Body::new(Endless);
        stream.into_response()
    };
    let slow = || async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        "late"
    };
    let router = Router::new()
        .route("/exact", get(|| async { "12345" }))
        .route("/endless", get(endless))
        .route("/slow", get(slow))
        .route("/broken", get(|| async { StatusCode::INTERNAL_SERVER_ERROR }))
        .route("/folder", get(|| async { (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, "/exact")]) }))
        .route("/circle", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "/circle")]) }))
        .route("/away", get(|| async { (StatusCode::FOUND, [(header::LOCATION, "https://a.example/")]) }))
        .route("/not-modified", get(|| async { StatusCode::NOT_MODIFIED }));
    let origin = listen(router).await;
    let fetcher = fetcher();
    for (path, limit, wanted) in [
        ("exact", 5, "content"),
        ("folder", 5, "content"),
        ("exact", 4, "fetch_too_large"),
        ("endless", 100_000, "fetch_too_large"),
        ("slow", 5, "fetch_transport"),
        ("broken", 5, "fetch_status"),
        ("circle", 5, "fetch_redirect"),
        ("away", 5, "fetch_redirect"),
        ("not-modified", 5, "fetch_redirect"),
    ] {
        let url: ListUrl = format!("{origin}/{path}").parse().unwrap();
        let outcome = match fetcher.fetch(&url, limit, None).await {
            Ok(Fetched::Content { .. }) => "content",
            Ok(Fetched::NotModified) => "not modified",
            Err(error) => error.code(),
        };
        assert_eq!(outcome, wanted, "{path}");
    }
}

/// A body without an end.
struct Endless;

impl axum::body::HttpBody for Endless {
    type Data = bytes::Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: std::pin::Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<http_body::Frame<bytes::Bytes>, Self::Error>>> {
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(bytes::Bytes::from_static(&[0; 1024])))))
    }
}

struct Bench {
    seconds: Arc<Mutex<u64>>,
    files: serve::Served,
    watcher: Watcher,
}

impl Bench {
    async fn start(signer: &SecretKey, list: &Published) -> Bench {
        let files = served(list);
        let origin = listen(serve::router(files.clone())).await;
        let seconds = Arc::new(Mutex::new(0));
        let reading = Arc::clone(&seconds);
        let clock: Arc<dyn super::Clock> = Arc::new(move || -> Now { now(*reading.lock().unwrap()) });
        let target = Target {
            issuer: issuer(),
            kind: Format::Pact,
            url: format!("{origin}/.well-known/pact-revocations/pact").parse().unwrap(),
            keys: pinned(&[signer]),
            before: None,
        };
        let options = WatchOptions { every: Duration::from_millis(40), jitter: Duration::from_millis(5) };
        let store = Arc::new(FloorInMemory::default());
        let watcher = Watcher::start(vec![target], options, &fetcher(), &clock, &store).unwrap();
        Bench { seconds, files, watcher }
    }

    fn publish(&self, list: &Published, seconds: u64) {
        *self.seconds.lock().unwrap() = seconds;
        let now = at(T0 + seconds);
        let files = PublishedFiles::of(list, now).unwrap().keeping_bodies_of(&self.files.files(), now);
        self.files.publish(files);
    }

    fn verdict(&self) -> &'static str {
        let now = now(*self.seconds.lock().unwrap());
        self.watcher
            .lists()
            .fresh(&issuer(), Format::Tenuo, now)
            .map_or_else(|stale| stale.code(), |_| "fresh")
    }

    async fn until(&self, met: impl Fn(&WatchState) -> bool) {
        for _ in 0..500 {
            if met(&self.watcher.states()[0]) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("not within 5 s: {:?}", self.watcher.states());
    }
}

fn version(state: &WatchState) -> u64 {
    state.version.map_or(0, u64::from)
}

#[tokio::test]
async fn r9_a_revocation_reaches_the_watcher_and_is_told() {
    let signer = key(1);
    let one = first(&signer, 0..20);
    let bench = Bench::start(&signer, &one).await;
    let mut changes = bench.watcher.changes();
    bench.until(|state| version(state) == 1).await;
    assert_eq!(bench.verdict(), "fresh");
    changes.borrow_and_update();

    let two = next(&one, &signer, [99], 3);
    bench.publish(&two, 3);
    tokio::time::timeout(Duration::from_secs(5), changes.changed()).await.unwrap().unwrap();
    let lists = Arc::clone(&changes.borrow_and_update());
    assert!(lists.fresh(&issuer(), Format::Tenuo, now(3)).unwrap().contains(&entry(99)));
}

#[tokio::test]
async fn r5_a_304_makes_nothing_younger() {
    let signer = key(1);
    let bench = Bench::start(&signer, &first(&signer, [1])).await;
    bench.until(|state| version(state) == 1).await;
    *bench.seconds.lock().unwrap() = 61;
    bench.until(|state| state.last_success.is_some_and(|time| time == now(61).wall)).await;
    assert_eq!(bench.verdict(), "list_stale");
    assert_eq!(bench.watcher.states()[0].failures, 0);
}

#[tokio::test]
async fn r6_a_refused_list_is_alarmed_and_leaves_the_held_one() {
    let signer = key(1);
    let one = first(&signer, [1]);
    let two = next(&one, &signer, [2], 1);
    let bench = Bench::start(&signer, &two).await;
    bench.until(|state| version(state) == 2).await;
    bench.publish(&next(&one, &signer, [3], 2), 2);
    bench.until(|state| state.alarms > 0).await;
    let state = bench.watcher.states().remove(0);
    assert_eq!((version(&state), state.last_fault.unwrap().code), (2, "list_equivocation"));
    assert_eq!(bench.verdict(), "fresh");
}

#[tokio::test]
async fn a_delta_that_is_gone_is_replaced_by_the_body() {
    let signer = key(1);
    let one = first(&signer, 0..20);
    let two = next(&one, &signer, [99], 1);
    // The head names a delta that the server does not have.
    assert_eq!(two.deltas().count(), 1);
    let bench = Bench::start(&signer, &one).await;
    bench.until(|state| version(state) == 1).await;
    let mut files = PublishedFiles::of(&two, at(T0 + 1)).unwrap();
    files.forget(two.deltas().next().unwrap().0);
    *bench.seconds.lock().unwrap() = 1;
    bench.files.publish(files);
    bench.until(|state| version(state) == 2).await;
}

#[tokio::test]
async fn one_list_is_watched_once_and_in_one_way() {
    let signer = key(1);
    let target = |kind: Format| Target {
        issuer: issuer(),
        kind,
        url: "https://a.example/".parse().unwrap(),
        keys: pinned(&[&signer]),
        before: None,
    };
    let clock: Arc<dyn super::Clock> = Arc::new(|| now(0));
    let store = Arc::new(FloorInMemory::default());
    let start = |kinds: &[Format]| {
        let targets = kinds.iter().map(|kind| target(*kind)).collect();
        Watcher::start(targets, WatchOptions::default(), &fetcher(), &clock, &store)
    };
    for twice in [[Format::Pact, Format::Pact], [Format::Pact, Format::Tenuo], [Format::Tenuo, Format::Tenuo]]
    {
        assert!(matches!(start(&twice), Err(WatchError::Twice { .. })));
    }
    assert!(start(&[Format::Tenuo, Format::Biscuit]).is_ok());
}
