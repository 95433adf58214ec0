//! What `publish --out` writes, behind a real nginx, to verifiers that fetch it (protocol R2).

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test may stop where it fails"
)]

mod http;

use std::{
    fs::{self, File},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::Arc,
    time::Duration,
};

use pact_mandate::{Format, MandateId, jwks::KeySet, limits::MAX_KEY_SET_BYTES};
use pact_revocation::{
    Entry, FloorInMemory, Lists,
    net::{Clock, FetchLimits, Fetched, Fetcher, SystemClock, Target, WatchOptions, Watcher},
};

const LIST: &str = "/.well-known/pact-revocations/pact";

/// A data folder, what is published of it, and an nginx in front of that.
struct World {
    dir: tempfile::TempDir,
    nginx: Child,
    address: String,
}

impl World {
    /// `site` stands inside nginx's `server { … }`; ROOT in it is the published folder.
    fn new(site: &str) -> World {
        let dir = tempfile::tempdir().unwrap();
        let public = dir.path().join("public");
        issuer(dir.path(), &["init", "--issuer", "example"]);
        publish(dir.path());
        let site = site.replace("ROOT", public.to_str().unwrap());
        let (nginx, address) = start(dir.path(), &site);
        World { dir, nginx, address }
    }

    fn mint(&self) -> MandateId {
        let args = ["mint", "--human", "boss", "--holder", "agent-a", "--scope", "task.read@project:web"];
        issuer(self.dir.path(), &args).parse().unwrap()
    }

    fn url(&self, path: &str) -> pact_revocation::net::ListUrl {
        format!("http://{}{path}", self.address).parse().unwrap()
    }

    fn get(&self, path: &str) -> http::Answer {
        http::ask(&self.address, "GET", path, "")
    }

    async fn keys(&self, fetcher: &Fetcher, name: &str) -> KeySet {
        let limit = u64::try_from(MAX_KEY_SET_BYTES).unwrap();
        let answer = fetcher.fetch(&self.url(&format!("/.well-known/{name}")), limit, None).await;
        KeySet::from_document(&content(answer.unwrap()).0).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.nginx.kill();
        let _ = self.nginx.wait();
    }
}

fn issuer(dir: &Path, args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pact-issuer"));
    let output = command.arg("--dir").arg(dir.join("data")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn publish(dir: &Path) {
    issuer(dir, &["publish", "--out", dir.join("public").to_str().unwrap()]);
}

/// Needs no root and no folder but its own. Between the choice of a port and nginx somebody else may take it: then another.
fn start(dir: &Path, site: &str) -> (Child, String) {
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        // Debian keeps it where only root looks.
        let mut nginx = Command::new("nginx")
            .env("PATH", format!("{}:/usr/sbin", std::env::var("PATH").unwrap()))
            .arg("-p")
            .arg(dir)
            .arg("-c")
            .arg(configuration(dir, &address, site))
            .stderr(File::create(dir.join("complaints")).unwrap())
            .stdout(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| panic!("this test needs nginx (Debian: nginx-light): {error}"));
        while nginx.try_wait().unwrap().is_none() {
            if TcpStream::connect(&address).is_ok() {
                return (nginx, address);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    panic!("nginx does not start: {}", fs::read_to_string(dir.join("complaints")).unwrap());
}

fn configuration(dir: &Path, address: &str, site: &str) -> PathBuf {
    let place = dir.display();
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("    {name}_temp_path {place}/{name};\n"))
        .concat();
    let text = format!(
        "daemon off;\nmaster_process off;\npid {place}/pid;\nerror_log stderr;\nevents {{ }}\nhttp {{\n    access_log \
         off;\n{temporary}    server {{\n        listen {address};\n{site}\n    }}\n}}\n"
    );
    let path = dir.join("nginx.conf");
    fs::write(&path, text).unwrap();
    path
}

/// The one block of the README.
fn site_of_the_readme() -> String {
    let readme = include_str!("../README.md");
    let (_, block) = readme.split_once("```nginx\n").unwrap();
    let (block, _) = block.split_once("```").unwrap();
    let site = block.replace("root /srv/pact/public;", "root ROOT;");
    assert_ne!(site, block, "the README names another folder");
    site
}

fn content(fetched: Fetched) -> (Vec<u8>, String) {
    match fetched {
        Fetched::Content { bytes, etag } => (bytes.to_vec(), etag.unwrap()),
        Fetched::NotModified => panic!("nothing was held yet"),
    }
}

/// A verifier that starts from nothing but the address: keys, then the list, then a revocation.
async fn verify_over_http(world: &World) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let fetcher = Fetcher::new(FetchLimits::default()).unwrap();
    let (mandate_keys, list_keys) =
        (world.keys(&fetcher, "pact-keys.json").await, world.keys(&fetcher, "pact-list-keys.json").await);
    assert_ne!(mandate_keys, list_keys, "k1: one key, one role");

    let clock = SystemClock::start();
    let watch = |kind, path: &str, keys: &KeySet| {
        let target = Target {
            issuer: "example".parse().unwrap(),
            kind,
            url: world.url(path),
            keys: keys.clone(),
            before: None,
        };
        let shared: Arc<dyn Clock> = Arc::new(clock);
        Watcher::start(
            vec![target],
            WatchOptions::default(),
            &fetcher,
            &shared,
            &Arc::new(FloorInMemory::default()),
        )
        .unwrap()
    };
    let own = watch(Format::Pact, LIST, &list_keys);
    let tenuo = watch(Format::Tenuo, "/.well-known/pact-revocations/tenuo", &mandate_keys);
    let biscuit = watch(Format::Biscuit, "/.well-known/pact-revocations/biscuit", &mandate_keys);
    wait_for(&own, clock, Format::Pact, 1, None).await;
    wait_for(&tenuo, clock, Format::Tenuo, 0, None).await;
    wait_for(&biscuit, clock, Format::Biscuit, 0, None).await;

    let (_, etag) = content(fetcher.fetch(&world.url(LIST), 65_536, None).await.unwrap());
    let again = fetcher.fetch(&world.url(LIST), 65_536, Some(&etag)).await.unwrap();
    assert!(matches!(again, Fetched::NotModified), "{again:?}");

    let id = world.mint();
    issuer(world.dir.path(), &["revoke", &id.to_string()]);
    publish(world.dir.path());
    let changed = fetcher.fetch(&world.url(LIST), 65_536, Some(&etag)).await.unwrap();
    assert_ne!(content(changed).1, etag);
    own.hurry();
    wait_for(&own, clock, Format::Pact, 2, Some(Entry::of_mandate(id))).await;
}

/// Until the list of that number is held and fresh; a fetch comes every ten seconds, and when it is hurried.
async fn wait_for(
    watcher: &Watcher,
    clock: SystemClock,
    format: Format,
    version: u64,
    revoked: Option<Entry>,
) {
    let issuer = "example".parse().unwrap();
    let arrived = |lists: &Arc<Lists>| {
        let fresh = lists.fresh(&issuer, format, clock.now());
        fresh.is_ok_and(|fresh| {
            fresh.version().get() == version && revoked.is_none_or(|entry| fresh.contains(&entry))
        })
    };
    let mut changes = watcher.changes();
    let waited = tokio::time::timeout(Duration::from_secs(30), changes.wait_for(arrived)).await;
    assert!(waited.is_ok_and(|found| found.is_ok()), "{format} {version}: {:?}", watcher.states());
}

#[tokio::test]
#[ignore = "needs nginx"]
async fn r2_static_files_behind_the_nginx_of_the_readme_serve_verifiers() {
    let world = World::new(&site_of_the_readme());
    verify_over_http(&world).await;
}

#[tokio::test]
#[ignore = "needs nginx"]
async fn r2_an_nginx_that_only_knows_the_folder_serves_verifiers_as_well() {
    let world = World::new("        root ROOT;");
    assert_eq!(world.get(LIST).status, 301, "the head's path is a folder");
    verify_over_http(&world).await;
}

#[test]
#[ignore = "needs nginx"]
fn r2_the_nginx_of_the_readme_sends_types_and_cache_headers() {
    let world = World::new(&site_of_the_readme());
    let head = world.get(LIST);
    let body = fs::read_dir(world.dir.path().join(format!("public{LIST}"))).unwrap();
    let names = body.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let body = names.into_iter().find(|name| name != "index.html").unwrap();
    let binary = "application/octet-stream";
    let body = format!("{LIST}/{body}");
    for (path, kind, cache) in [
        (LIST, "application/json", "max-age=5"),
        (&body, binary, "public, max-age=31536000, immutable"),
        ("/.well-known/pact-revocations/tenuo", binary, "max-age=5"),
        ("/.well-known/pact-revocations/biscuit", "application/json", "max-age=5"),
        ("/.well-known/pact-keys.json", "application/json", "max-age=5"),
        ("/.well-known/biscuit-web-keys", "application/json", "max-age=5"),
    ] {
        let answer = world.get(path);
        assert_eq!(answer.status, 200, "{path}");
        assert_eq!(answer.header("content-type"), Some(kind), "{path}");
        assert_eq!(answer.header("cache-control"), Some(cache), "{path}");
        assert_eq!(answer.header("access-control-allow-origin"), Some("*"), "{path}");
    }
    // The same file by another path must not be kept for a year.
    assert_eq!(world.get(&format!("{LIST}/index.html")).header("cache-control"), Some("max-age=5"));
    let validator = format!("if-none-match: {}\r\n", head.header("etag").unwrap());
    let again = http::ask(&world.address, "GET", LIST, &validator);
    assert_eq!((again.status, again.body.len()), (304, 0));
}
