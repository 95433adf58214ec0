//! An issuer: one root key, one list key, and a server of its list and keys.

use std::{
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU8, Ordering},
    },
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::{Asked, Json, SecretKey, Signer, UnixTime, jwks::KeySet};
use pact_revocation::{Draft, Entry, Listed, Published};
use pact_verifier::{
    Act, Audience,
    proof::{FreshProof, params_digest, tenuo::message_p1},
};
use tenuo::{ConstraintSet, Exact, Range, SigningKey, Warrant, wire};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

use crate::stand::AUDIENCE;

pub(crate) const HOLDER: [u8; 32] = [3; 32];

/// Every proof has its own id.
static COUNT: AtomicU8 = AtomicU8::new(0);

#[derive(Clone)]
pub(crate) struct Issuer {
    pub(crate) address: SocketAddr,
    pub(crate) root: [u8; 32],
    list_key: [u8; 32],
    published: Arc<Mutex<Published>>,
    keys: Arc<Mutex<String>>,
    list_keys: Arc<Mutex<String>>,
    service: Arc<Mutex<Service>>,
}

/// How the issuer's server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Well,
    Down,
    /// A page for people, as captive portals have it.
    Page,
    /// What it should say, cut in half.
    Half,
    /// More bytes than anybody reads.
    Endless,
    Redirect,
    /// Not one byte.
    Slow,
}

/// A credential in its holder's hands.
#[derive(Clone)]
pub(crate) struct Credential {
    pub(crate) warrant: String,
    pub(crate) id: [u8; 16],
    holder: [u8; 32],
}

#[expect(clippy::disallowed_methods, reason = "a test against the machine's own clock")]
pub(crate) fn now() -> UnixTime {
    UnixTime::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

fn key(seed: [u8; 32]) -> SecretKey {
    SecretKey::from_seed(&seed).unwrap()
}

impl Issuer {
    pub(crate) async fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (root, list_key) = ([1; 32], [2; 32]);
        let first = Draft::first("acme".parse().unwrap()).sign(&key(list_key), now()).unwrap();
        let issuer = Issuer {
            address: listener.local_addr().unwrap(),
            root,
            list_key,
            published: Arc::new(Mutex::new(first)),
            keys: Arc::new(Mutex::new(key_set(root))),
            list_keys: Arc::new(Mutex::new(key_set(list_key))),
            service: Arc::new(Mutex::new(Service::Well)),
        };
        let serving = issuer.clone();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let serving = serving.clone();
                tokio::spawn(async move {
                    let mut request = vec![0; 8192];
                    let count = stream.read(&mut request).await.unwrap_or(0);
                    let text = String::from_utf8_lossy(&request[..count]).into_owned();
                    let path = text.split(' ').nth(1).unwrap_or("/").to_owned();
                    let _ = stream.write_all(&serving.answer(&path).await).await;
                });
            }
        });
        issuer
    }

    async fn answer(&self, path: &str) -> Vec<u8> {
        let service = *self.service.lock().unwrap();
        let (status, body) = match (service, self.file(path)) {
            (Service::Well, Some(body)) => ("200 OK", body),
            (Service::Half, Some(body)) => ("200 OK", body[..body.len() / 2].to_vec()),
            (Service::Page, _) => ("200 OK", b"<!doctype html><title>Log in</title>".to_vec()),
            (Service::Endless, _) => ("200 OK", vec![b' '; 150 * 1024 * 1024]),
            (Service::Redirect, _) => ("302 Found\r\nLocation: http://169.254.169.254/", Vec::new()),
            (Service::Slow, _) => std::future::pending().await,
            (Service::Down, _) | (_, None) => ("503 Service Unavailable", Vec::new()),
        };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            body.len()
        );
        [head.as_bytes(), &body].concat()
    }

    fn file(&self, path: &str) -> Option<Vec<u8>> {
        let published = self.published.lock().unwrap().clone();
        let list = "/.well-known/pact-revocations/pact";
        if path == list {
            return Some(published.head_bytes().unwrap());
        }
        if path == "/.well-known/pact-keys.json" {
            return Some(self.keys.lock().unwrap().clone().into_bytes());
        }
        if path == "/.well-known/pact-list-keys.json" {
            return Some(self.list_keys.lock().unwrap().clone().into_bytes());
        }
        let name = path.strip_prefix(list)?.strip_prefix('/')?;
        if name == published.body().name().to_string() {
            return Some(published.body_bytes().to_vec());
        }
        let delta = published.deltas().find(|(delta, _)| delta.to_string() == name);
        delta.map(|(_, bytes)| bytes.to_vec())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}/.well-known/{path}", self.address)
    }

    pub(crate) fn root_key(&self) -> String {
        key(self.root).public_key().to_string()
    }

    pub(crate) fn list_key(&self) -> String {
        key(self.list_key).public_key().to_string()
    }

    /// Publishes this key set from now on.
    pub(crate) fn publish_keys(&self, document: String) {
        *self.keys.lock().unwrap() = document;
    }

    /// Publishes this set of list keys from now on.
    pub(crate) fn publish_list_keys(&self, document: String) {
        *self.list_keys.lock().unwrap() = document;
    }

    /// Signs the next list: with these ids on it, and good for so many seconds.
    pub(crate) fn publish(&self, revoked: &[Entry], good_for: u64) {
        let mut published = self.published.lock().unwrap();
        let expires_at = now().plus(3600);
        let listed = revoked.iter().map(|entry| Listed { entry: *entry, expires_at });
        let draft = Draft::after(&published).revoke(listed).good_for(good_for);
        *published = draft.sign(&key(self.list_key), now()).unwrap();
    }

    /// Answers nothing but 503 from now on.
    pub(crate) fn go_down(&self) {
        self.does(Service::Down);
    }

    pub(crate) fn does(&self, service: Service) {
        *self.service.lock().unwrap() = service;
    }

    /// The list as it is published now, and putting it back later.
    pub(crate) fn list(&self) -> Published {
        self.published.lock().unwrap().clone()
    }

    pub(crate) fn put_back(&self, list: Published) {
        *self.published.lock().unwrap() = list;
    }

    /// `task.read` in the project `web`, up to a cost of 5.
    pub(crate) fn mint(&self) -> Credential {
        self.mint_for(HOLDER, Duration::from_hours(1))
    }

    /// The same for another key, or another time.
    pub(crate) fn mint_for(&self, holder: [u8; 32], ttl: Duration) -> Credential {
        let signing = SigningKey::from_bytes(&self.root);
        let mut constraints = ConstraintSet::new();
        constraints.insert("project", Exact::new("web"));
        constraints.insert("cost_usd", Range::max(5.0).unwrap());
        let public = SigningKey::from_bytes(&holder).public_key();
        let builder = Warrant::builder().holder(public).ttl(ttl).tool("task.read", constraints);
        let warrant = builder.build(&signing).unwrap();
        let id = *warrant.id().as_bytes();
        let stack = wire::encode_stack(&wire::WarrantStack::new(vec![warrant])).unwrap();
        Credential { warrant: STANDARD.encode(stack), id, holder }
    }
}

pub(crate) fn key_set(seed: [u8; 32]) -> String {
    let public = *key(seed).public_key();
    KeySet::new(vec![(public.thumbprint().into(), public)]).unwrap().to_document()
}

impl Credential {
    pub(crate) fn entry(&self) -> Entry {
        Entry::of_warrant(&self.id)
    }

    /// Any request with the warrant in it, and no proof: `params` are those beside `_meta`, each with its comma.
    pub(crate) fn shows(&self, method: &str, params: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"tenuo":{{"warrant":"{}"}}}}}}}}"#,
            self.warrant
        )
    }

    /// A request of whatever method, signed: its arguments are `arguments`, which are in `params` as the method has them.
    pub(crate) fn request(&self, method: &str, tool: &str, arguments: &str, params: &str) -> String {
        let fresh = FreshProof { id: [COUNT.fetch_add(1, Ordering::SeqCst); 16], issued_at: now() };
        let whole = Json::parse(format!("{{{params}}}").as_bytes()).unwrap();
        let asked = Asked {
            tool: tool.into(),
            arguments: Json::parse(arguments.as_bytes()).unwrap(),
            params: params_digest(method, &whole).unwrap(),
        };
        let audience: Audience = crate::stand::AUDIENCE.parse().unwrap();
        let message = message_p1(&self.id, &"task.read".parse().unwrap(), &asked, &audience, &fresh).unwrap();
        let signature = key(self.holder).sign(&message).unwrap();
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params},"_meta":{{"tenuo":{{"warrant":"{}","signature":"{}"}},"pact/proof":{{"id":"{}","iat":{}}}}}}}}}"#,
            self.warrant,
            STANDARD.encode(signature.as_bytes()),
            URL_SAFE_NO_PAD.encode(fresh.id),
            fresh.issued_at.seconds(),
        )
    }

    /// A `tools/call` of `echo` with these arguments, signed for `audience`. Every one has its own proof.
    pub(crate) fn call(&self, audience: &str, arguments: &str) -> String {
        self.call_by(self.holder, audience, arguments)
    }

    /// The headers that carry it and a proof of an act on a session.
    pub(crate) fn act(&self, act: &Act) -> String {
        static COUNT: AtomicU8 = AtomicU8::new(0);
        let mut id = [0xac; 16];
        id[0] = COUNT.fetch_add(1, Ordering::SeqCst);
        let fresh = FreshProof { id, issued_at: now() };
        let message = act.tenuo_message(&self.id, &AUDIENCE.parse().unwrap(), &fresh).unwrap();
        format!(
            "X-Tenuo-Warrant: {}\r\nX-Tenuo-PoP: {}\r\nX-Pact-Proof: {{\"id\":\"{}\",\"iat\":{}}}\r\n",
            self.warrant,
            STANDARD.encode(key(self.holder).sign(&message).unwrap().as_bytes()),
            URL_SAFE_NO_PAD.encode(fresh.id),
            fresh.issued_at.seconds(),
        )
    }

    /// The same, signed by whatever key.
    pub(crate) fn call_by(&self, holder: [u8; 32], audience: &str, arguments: &str) -> String {
        let fresh = FreshProof { id: [COUNT.fetch_add(1, Ordering::SeqCst); 16], issued_at: now() };
        let params = Json::parse(br#"{"name":"echo"}"#).unwrap();
        let asked = Asked {
            tool: "echo".into(),
            arguments: Json::parse(arguments.as_bytes()).unwrap(),
            params: params_digest("tools/call", &params).unwrap(),
        };
        let audience: Audience = audience.parse().unwrap();
        let message = message_p1(&self.id, &"task.read".parse().unwrap(), &asked, &audience, &fresh).unwrap();
        let signature = key(holder).sign(&message).unwrap();
        format!(
            r#"{{ "jsonrpc":"2.0", "id":1,"method":"tools/call","params":{{"name":"echo","_meta":{{"tenuo":{{"warrant":"{}","signature":"{}"}},"x" : 1.0, "pact/proof":{{"id":"{}","iat":{}}}}},"arguments":{arguments}}}}}"#,
            self.warrant,
            STANDARD.encode(signature.as_bytes()),
            URL_SAFE_NO_PAD.encode(fresh.id),
            fresh.issued_at.seconds(),
        )
    }
}

/// What must be left of such a call when it reaches the tool server.
pub(crate) fn without_trust(arguments: &str) -> String {
    format!(
        r#"{{ "jsonrpc":"2.0", "id":1,"method":"tools/call","params":{{"name":"echo","_meta":{{"x" : 1.0}},"arguments":{arguments}}}}}"#
    )
}
