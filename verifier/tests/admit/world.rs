//! One issuer, its list, one agent, one verifier, and a clock that the test moves.

use std::{sync::Arc, time::Duration};

use pact_mandate::{
    Asked, Call, Format, Json, Monotonic, Now, PublicKey, SecretKey, Signer, UnixTime, jwks::KeySet,
};
use pact_revocation::{Draft, Entry, FloorInMemory, Keeper, Listed, Lists, Published};
use pact_verifier::{
    ChainCache, FileReplay, Permit, Policy, Presented, PresentedProof, Refusal, RootKey, TrustSnapshot,
    TrustedIssuer, Verifier,
    proof::{FreshProof, dpop, params_digest, tenuo as tenuo_proof},
    replay::BootId,
    trust::{Projects, Speaks},
};
use tempfile::TempDir;

pub(crate) const ISSUER: &str = "https://issuer.example";
pub(crate) const AUDIENCE: &str = "https://tools.example/mcp";
pub(crate) const ROOT: u8 = 1;
pub(crate) const LIST: u8 = 2;
pub(crate) const AGENT: u8 = 3;

/// A credential that is about to be presented, and what its holder must know to use it.
#[derive(Clone)]
pub(crate) struct Credential {
    pub(crate) presented: Presented,
    pub(crate) text: String,
    /// Tenuo alone: the id of the last warrant.
    pub(crate) leaf: [u8; 16],
    /// What a list would name, root first.
    pub(crate) entries: Vec<Entry>,
}

pub(crate) struct World {
    pub(crate) now: Now,
    pub(crate) verifier: Verifier,
    pub(crate) lists: Lists,
    /// Dropped last: the store lives in it.
    _folder: TempDir,
}

pub(crate) fn key(seed: u8) -> SecretKey {
    SecretKey::from_seed(&[seed; 32]).unwrap()
}

pub(crate) fn public(seed: u8) -> PublicKey {
    *key(seed).public_key()
}

pub(crate) fn at(seconds: u64) -> Now {
    let wall = UnixTime::try_from(seconds).unwrap();
    // Both clocks advance together, unless a test says otherwise.
    Now::new(wall, Monotonic::from_origin(Duration::from_secs(seconds)))
}

pub(crate) fn later(now: Now, seconds: u64) -> Now {
    at(now.wall.seconds() + seconds)
}

/// The issuer that the tests trust, for everything that it grants.
pub(crate) fn issuer() -> TrustedIssuer {
    TrustedIssuer {
        id: ISSUER.parse().unwrap(),
        roots: vec![RootKey::Ed25519 { id: "root-1".parse().unwrap(), key: public(ROOT) }],
        speaks: Speaks {
            formats: [Format::Tenuo, Format::Biscuit].into(),
            actions: vec!["task.*".parse().unwrap()],
            projects: Projects::Only(["web".parse().unwrap(), "shop".parse().unwrap()].into()),
        },
        bearer: false,
    }
}

pub(crate) fn trust(issuers: Vec<TrustedIssuer>) -> Arc<TrustSnapshot> {
    Arc::new(TrustSnapshot::new(issuers).unwrap())
}

pub(crate) const POLICY: &str = r#"
[tools.read_file]
action = "task.read"
project = { arg = "project", default = "web" }
args = { cost_usd = { arg = "cost", default = 0 } }
unjudged = ["path"]

[tools.write_file]
action = "task.write"
project = { const = "web" }
args = { cost_usd = { arg = "cost", default = 0 } }

[tools."task.read"]
action = "task.read"
args = { cost_usd = { arg = "cost_usd" }, project = { arg = "project" } }
"#;

pub(crate) fn policy(text: &str) -> Arc<Policy> {
    Arc::new(Policy::from_toml(text).unwrap())
}

impl World {
    /// The store began long ago, a fresh empty list is held.
    pub(crate) fn new(now: Now) -> World {
        let folder = TempDir::new().unwrap();
        let boot = Some(BootId::from_bytes([7; 16]));
        let replay = FileReplay::open(folder.path(), boot, at(now.wall.seconds() - 1000)).unwrap();
        let verifier = Verifier::new(
            trust(vec![issuer()]),
            policy(POLICY),
            AUDIENCE.parse().unwrap(),
            Arc::new(replay),
            Arc::new(ChainCache::new(1 << 20)),
        );
        World { now, verifier, lists: list(now, &[]), _folder: folder }
    }

    pub(crate) fn admit(
        &self,
        credential: &Credential,
        proof: &PresentedProof,
        call: Call,
    ) -> Result<Permit, Refusal> {
        self.verifier.admit(credential.presented.clone(), proof, call, &self.lists, self.now)
    }

    /// The call with a new proof of the agent.
    pub(crate) fn call(
        &self,
        credential: &Credential,
        tool: &str,
        arguments: &str,
    ) -> Result<Permit, Refusal> {
        let call = self.judged(tool, arguments)?;
        let proof = self.prove(credential, &call, AGENT);
        self.admit(credential, &proof, call)
    }

    pub(crate) fn judged(&self, tool: &str, arguments: &str) -> Result<Call, Refusal> {
        self.verifier.policy().judge(asked(tool, arguments))
    }

    /// A proof of that key, made now, of the kind that the credential needs.
    pub(crate) fn prove(&self, credential: &Credential, call: &Call, seed: u8) -> PresentedProof {
        match credential.presented.format() {
            Format::Tenuo => tenuo_p1(credential, call, seed, self.now.wall),
            _ => dpop(credential, call, seed, self.now.wall),
        }
    }

    pub(crate) fn code(&self, credential: &Credential, tool: &str, arguments: &str) -> &'static str {
        code(self.call(credential, tool, arguments))
    }
}

pub(crate) fn code(result: Result<Permit, Refusal>) -> &'static str {
    result.map_or_else(|refusal| refusal.code(), |_| "permit")
}

pub(crate) fn asked(tool: &str, arguments: &str) -> Asked {
    let params = Json::parse(format!(r#"{{"name":"{tool}"}}"#).as_bytes()).unwrap();
    Asked {
        tool: tool.to_owned(),
        arguments: Json::parse(arguments.as_bytes()).unwrap(),
        params: params_digest("tools/call", &params).unwrap(),
    }
}

/// 16 bytes that no other proof of these tests has.
pub(crate) fn new_id() -> [u8; 16] {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut id = [0; 16];
    id[..8].copy_from_slice(&NEXT.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    id
}

pub(crate) fn tenuo_p1(credential: &Credential, call: &Call, seed: u8, when: UnixTime) -> PresentedProof {
    let fresh = FreshProof { id: new_id(), issued_at: when };
    let audience = AUDIENCE.parse().unwrap();
    let message =
        tenuo_proof::message_p1(&credential.leaf, &call.judged.action, &call.asked, &audience, &fresh)
            .unwrap();
    PresentedProof::Tenuo { signature: key(seed).sign(&message).unwrap(), fresh: Some(fresh) }
}

pub(crate) fn tenuo_stock(credential: &Credential, call: &Call, seed: u8, when: UnixTime) -> PresentedProof {
    let message =
        tenuo_proof::message_stock(&credential.leaf, &call.judged.action, &call.asked.arguments, when)
            .unwrap();
    PresentedProof::Tenuo { signature: key(seed).sign(&message).unwrap(), fresh: None }
}

pub(crate) fn dpop(credential: &Credential, call: &Call, seed: u8, when: UnixTime) -> PresentedProof {
    let jti = new_id().map(|byte| format!("{byte:02x}")).concat();
    let draft = dpop::Draft {
        holder: &public(seed),
        token_text: &credential.text,
        asked: &call.asked,
        audience: &AUDIENCE.parse().unwrap(),
        jti: &jti,
        issued_at: when,
    };
    let input = draft.signing_input().unwrap();
    PresentedProof::Dpop(dpop::assemble(&input, &key(seed).sign(input.as_bytes()).unwrap()))
}

/// A list of the issuer, signed and received at that moment.
pub(crate) fn list(now: Now, revoked: &[Entry]) -> Lists {
    list_of(ISSUER, LIST, &Format::ALL, now, revoked)
}

pub(crate) fn list_of(issuer: &str, seed: u8, covers: &[Format], now: Now, revoked: &[Entry]) -> Lists {
    keep(issuer, seed, &publish(issuer, seed, covers, now, revoked), now)
}

/// What a verifier holds after it received that.
pub(crate) fn keep(issuer: &str, seed: u8, published: &Published, now: Now) -> Lists {
    let mut keeper =
        Keeper::new(issuer.parse().unwrap(), Format::Pact, key_set(seed), FloorInMemory::default()).unwrap();
    let held = keeper.accept_whole(&published.head_bytes().unwrap(), published.body_bytes(), now).unwrap();
    Lists::none().with(held)
}

pub(crate) fn publish(issuer: &str, seed: u8, covers: &[Format], now: Now, revoked: &[Entry]) -> Published {
    let until = now.wall.plus(7200);
    let listed = revoked.iter().map(|entry| Listed { entry: *entry, expires_at: until });
    // Good for longer than any list may be used, so that its age alone decides.
    let draft =
        Draft::first(issuer.parse().unwrap()).revoke(listed).covering(covers.iter().copied()).good_for(600);
    draft.sign(&key(seed), now.wall).unwrap()
}

pub(crate) fn key_set(seed: u8) -> KeySet {
    KeySet::new(vec![(key(seed).key_id().clone(), public(seed))]).unwrap()
}
