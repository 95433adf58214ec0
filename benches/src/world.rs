//! What the loops work on: an issuer, a chain of three mandates exported in both formats, a verifier, signed calls.

use std::{
    convert::Infallible,
    error::Error,
    path::Path,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use pact_holder::{Holder, call::tool_call, sign_dpop, sign_tenuo};
use pact_issuer::{
    chain::UnrevokedChain,
    delegate::delegate,
    export::{self, Credential, Order},
    mint::mint,
    record::MandateRecord,
};
use pact_mandate::{
    Action, Asked, Ceilings, Format, IssuerId, Json, MandateId, Now, Scope, SecretKey, Signature, Signer,
    UnixTime, Validity, chain::ChildGrant, jwks::KeySet, mandate::RootGrant,
};
use pact_revocation::{Draft, FloorInMemory, Keeper, Listed, Lists};
use pact_verifier::{
    Audience, ChainCache, FileReplay, Policy, PresentedProof, RootKey, TrustSnapshot, TrustedIssuer,
    Verifier,
    limits::MAX_CACHE_BYTES,
    proof::FreshProof,
    replay::BootId,
    trust::{Projects, Speaks},
};

/// Any failure of the preparation ends the program.
pub type Failure = Box<dyn Error>;

/// Where every proof is made for.
pub const AUDIENCE: &str = "https://tools.example/mcp";
const LISTER: [u8; 32] = [2; 32];
const SCOPE: [&str; 2] = ["task.read@project:web", "task.work@project:web"];

/// One issuer's world at one moment.
pub struct World {
    /// The moment by which everything is judged.
    pub now: Now,
    /// The verifying side.
    pub verifier: Verifier,
    /// The lists in force: one list with one entry that concerns nobody here.
    pub lists: Lists,
    /// Who calls again and again.
    pub caller: Caller,
    issuer: SecretKey,
    chain: UnrevokedChain,
    audience: Audience,
    replay: Arc<FileReplay>,
}

/// A key and its credentials.
pub struct Caller {
    holder: Holder,
    /// Four warrants.
    pub stack: String,
    /// Three blocks.
    pub token: String,
}

impl Caller {
    fn new(
        seed: &[u8; 32],
        chain: &UnrevokedChain,
        issuer: &SecretKey,
        at: UnixTime,
    ) -> Result<Caller, Failure> {
        let holder = Holder::from_seed(seed)?;
        let order = order(&holder, at);
        let stack = release(export::tenuo::export(chain, &order, issuer)?);
        let token = release(export::biscuit::export(chain, &order, issuer)?);
        Ok(Caller { holder, stack, token })
    }
}

impl World {
    /// Makes keys, mandates, credentials and lists; the store of used proofs lives in `folder`.
    pub fn new(now: Now, folder: &Path) -> Result<World, Failure> {
        let (issuer, lister) = (SecretKey::from_seed(&[1; 32])?, SecretKey::from_seed(&LISTER)?);
        let chain = chain_of_three(&issuer, now)?;
        let caller = Caller::new(&[3; 32], &chain, &issuer, now.wall)?;
        let audience: Audience = AUDIENCE.parse()?;
        let started = Now::new(now.wall.minus(600), now.monotonic);
        let replay = Arc::new(FileReplay::open(folder, BootId::of_this_system(), started)?);
        let verifier = Verifier::new(
            Arc::new(trust(&issuer)?),
            Arc::new(Policy::from_toml(POLICY)?),
            audience.clone(),
            replay.clone(),
            Arc::new(ChainCache::new(MAX_CACHE_BYTES)),
        );
        let lists = lists(&lister, now)?;
        Ok(World { now, verifier, lists, caller, issuer, chain, audience, replay })
    }

    /// The verifier without room for a cached chain: it opens every one anew.
    pub fn cold(&self) -> Verifier {
        Verifier::new(
            self.verifier.trust().clone(),
            self.verifier.policy().clone(),
            self.audience.clone(),
            self.replay.clone(),
            Arc::new(ChainCache::new(0)),
        )
    }

    /// The `n`-th of those who do not call often.
    pub fn new_caller(&self, n: usize) -> Result<Caller, Failure> {
        let mut seed = [4; 32];
        seed.iter_mut().zip(n.to_be_bytes()).for_each(|(to, from)| *to = from);
        Caller::new(&seed, &self.chain, &self.issuer, self.now.wall)
    }

    /// The `n`-th call: 200 bytes of arguments, no two alike.
    pub fn asked(&self, n: usize) -> Result<Asked, Failure> {
        let text = format!(
            r#"{{"project":"web","task_id":"11111111-1111-4111-8111-111111111111","cost_usd":1.25,"runs":3,"text":"{n:0>94}"}}"#
        );
        Ok(tool_call("work", Json::parse(text.as_bytes())?)?)
    }

    /// A fresh Tenuo proof (protocol P1) of that call.
    pub fn tenuo_proof(&self, caller: &Caller, asked: &Asked, n: usize) -> Result<PresentedProof, Failure> {
        let fresh = self.fresh(n);
        let signed = sign_tenuo(&caller.holder, &caller.stack, &action()?, asked, &self.audience, &fresh)?;
        let signature: [u8; 64] =
            STANDARD.decode(signed.signature())?.try_into().map_err(|_| "a signature is 64 bytes")?;
        Ok(PresentedProof::Tenuo { signature: Signature::from_bytes(signature), fresh: Some(fresh) })
    }

    /// A fresh DPoP proof (protocol P4) of that call.
    pub fn dpop_proof(&self, caller: &Caller, asked: &Asked, n: usize) -> Result<PresentedProof, Failure> {
        let fresh = self.fresh(n);
        let signed =
            sign_dpop(&caller.holder, &caller.token, asked, &self.audience, fresh.id, fresh.issued_at)?;
        Ok(PresentedProof::Dpop(signed.dpop().to_owned()))
    }

    /// The members that no two proofs share.
    pub fn fresh(&self, n: usize) -> FreshProof {
        let mut id = [0; 16];
        id.iter_mut().zip(n.to_be_bytes()).for_each(|(to, from)| *to = from);
        FreshProof { id, issued_at: self.now.wall }
    }

    /// The key at which the credentials begin.
    pub fn issuer_key(&self) -> &pact_mandate::PublicKey {
        self.issuer.public_key()
    }

    /// Who signs the lists.
    pub fn lister(&self) -> Result<SecretKey, Failure> {
        Ok(SecretKey::from_seed(&LISTER)?)
    }

    /// A new credential of `holder`: four warrants that nobody saw before.
    pub fn credential(&self, holder: &Holder, at: UnixTime) -> Result<String, Failure> {
        Ok(release(export::tenuo::export(&self.chain, &order(holder, at), &self.issuer)?))
    }

    /// Where proofs are made for.
    pub fn audience(&self) -> &Audience {
        &self.audience
    }
}

/// What the loops' tool stands for.
pub const POLICY: &str = r#"
[tools.work]
action = "task.work"
project = { arg = "project" }
args = { task_id = { arg = "task_id" }, cost_usd = { arg = "cost_usd" }, runs = { arg = "runs" } }
unjudged = ["text"]
"#;

/// The action that the loops' tool stands for.
pub fn action() -> Result<Action, Failure> {
    Ok("task.work".parse()?)
}

fn order(holder: &Holder, at: UnixTime) -> Order {
    Order { lifetime: 3600, ..Order::new(*holder.public_key(), at) }
}

fn release(export: export::Export) -> String {
    let credential: Credential =
        export.release(|_| Ok::<(), Infallible>(())).unwrap_or_else(|never| match never {});
    credential.text().to_owned()
}

/// The present time.
#[expect(clippy::disallowed_methods, reason = "proofs over sockets are judged by the machine's own clock")]
pub fn wall() -> Result<UnixTime, Failure> {
    Ok(UnixTime::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?)
}

fn trust(issuer: &SecretKey) -> Result<TrustSnapshot, Failure> {
    let issuer = TrustedIssuer {
        id: issuer_id()?,
        roots: vec![RootKey::Ed25519 { id: issuer.key_id().clone(), key: *issuer.public_key() }],
        speaks: Speaks {
            formats: [Format::Tenuo, Format::Biscuit].into(),
            actions: vec!["task.*".parse()?],
            projects: Projects::All,
        },
        bearer: false,
    };
    Ok(TrustSnapshot::new(vec![issuer])?)
}

/// Whose credentials and lists.
pub fn issuer_id() -> Result<IssuerId, Failure> {
    Ok("acme".parse()?)
}

fn lists(lister: &SecretKey, now: Now) -> Result<Lists, Failure> {
    let id = MandateId::from_random([9; 16]);
    let entry = Listed { entry: pact_revocation::Entry::of_mandate(id), expires_at: now.wall.plus(3600) };
    let published = Draft::first(issuer_id()?)
        .covering([Format::Tenuo, Format::Biscuit, Format::Pact])
        .revoke([entry])
        .sign(lister, now.wall)?;
    let keys = KeySet::new(vec![(lister.key_id().clone(), *lister.public_key())])?;
    let mut keeper = Keeper::new(issuer_id()?, Format::Pact, keys, FloorInMemory::default())?;
    let held = keeper.accept_whole(&published.head_bytes()?, published.body_bytes(), now)?;
    Ok(Lists::none().with(held))
}

fn chain_of_three(key: &SecretKey, now: Now) -> Result<UnrevokedChain, Failure> {
    let keys = KeySet::new(vec![(key.key_id().clone(), *key.public_key())])?;
    let scope = || -> Result<Scope, Failure> {
        let items = SCOPE.iter().map(|item| item.parse()).collect::<Result<Vec<_>, _>>()?;
        Ok(items.try_into()?)
    };
    let validity = Validity { not_before: now.wall, expires_at: now.wall.plus(7200) };
    let root = RootGrant {
        id: MandateId::from_random([1; 16]),
        human: "boss".parse()?,
        holder: "agent-1".parse()?,
        scope: scope()?,
        limits: limits("10", "50")?,
        delegations: 3,
        validity,
    };
    let mut records: Vec<MandateRecord> = vec![mint(root, key)?];
    for (number, cost, runs, delegations) in [(2, "5", "20", 2), (3, "2.5", "7", 1)] {
        let child = ChildGrant {
            id: MandateId::from_random([number; 16]),
            holder: format!("agent-{number}").parse()?,
            scope: scope()?,
            limits: limits(cost, runs)?,
            delegations,
            issued_at: now.wall,
            expires_at: None,
        };
        let parent = UnrevokedChain::verify(&records, &keys, now.wall)?;
        records.push(delegate(&parent, child, key)?);
    }
    Ok(UnrevokedChain::verify(&records, &keys, now.wall)?)
}

fn limits(cost: &str, runs: &str) -> Result<Ceilings, Failure> {
    let limits = [("cost_usd", cost), ("runs", runs)];
    let limits = limits.iter().map(|(name, most)| Ok::<_, Failure>((name.parse()?, most.parse()?)));
    Ok(limits.collect::<Result<std::collections::BTreeMap<_, _>, _>>()?.try_into()?)
}
