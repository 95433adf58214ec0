//! The issuer: its data folder, as `pact-issuer` keeps it, and its server.

use std::{collections::BTreeMap, io, net::SocketAddr, path::Path, time::Duration};

use pact_issuer::{
    Order,
    delegate::{DelegateError, delegate},
    keyring::{KeyEntry, KeyringError, Role, RotationError},
    limits::DEFAULT_CREDENTIAL_SECONDS,
    mint::{MintError, mint},
    publish::{PublishError, Publisher},
    records::RecordsError,
    revoke, serve,
    store::{ChainUnusable, Event, NotExported, Store, StoreError},
};
use pact_mandate::{
    Ceilings, Format, KeyId, MandateId, PublicKey, Scope, SecretKey, Signer, UnixTime, Validity,
    amount::AmountError, ceilings::CeilingsError, chain::ChildGrant, id::IdError, key::KeyError,
    mandate::RootGrant, scope::ScopeError,
};
use pact_sidecar::Clock;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

/// For how long others may keep a published key set. Five minutes elsewhere; the story is shorter than that.
const KEY_CACHE_SECONDS: u64 = 5;

/// Grants, exports, revokes, and publishes.
#[derive(Debug)]
pub struct Issuer {
    store: Store,
    address: SocketAddr,
    server: Option<Server>,
}

#[derive(Debug)]
struct Server {
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

/// What is granted, in the words of the story.
#[derive(Clone, Copy, Debug)]
pub struct Grant<'a> {
    /// Who receives.
    pub holder: &'a str,
    /// For what.
    pub scope: &'a [&'a str],
    /// How much a call.
    pub limits: &'a [(&'a str, &'a str)],
    /// How often it may be handed on below.
    pub delegations: u8,
    /// For how long.
    pub seconds: u64,
}

/// Why the issuer does not do what the story wants.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// Its data folder.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The keyring.
    #[error(transparent)]
    Keyring(#[from] KeyringError),
    /// The rotation.
    #[error(transparent)]
    Rotation(#[from] RotationError),
    /// The grant of a person.
    #[error(transparent)]
    Mint(#[from] MintError),
    /// The grant of an agent.
    #[error(transparent)]
    Delegate(#[from] DelegateError),
    /// A chain that cannot be built on.
    #[error(transparent)]
    Chain(#[from] ChainUnusable),
    /// No credential.
    #[error(transparent)]
    Export(#[from] NotExported),
    /// No such record.
    #[error(transparent)]
    Records(#[from] RecordsError),
    /// Nothing to serve.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// A word of the grant.
    #[error(transparent)]
    Id(#[from] IdError),
    /// A word of the grant.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// A word of the grant.
    #[error(transparent)]
    Ceilings(#[from] CeilingsError),
    /// A word of the grant.
    #[error(transparent)]
    Amount(#[from] AmountError),
    /// The system has no random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// A port.
    #[error("{0}")]
    Io(#[from] io::Error),
}

impl Issuer {
    /// A new issuer in a new folder, serving on a free port. Its next mandate key is published from the start.
    pub async fn start(folder: &Path) -> Result<Issuer, IssuerError> {
        let mut store = create(folder)?;
        announce(&mut store)?;
        let services = serve::Services {
            publisher: Publisher::take(Store::open(folder)?)?,
            reissue: Some(Store::open(folder)?),
        };
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(async move {
            let stopped = async { drop(stopped.await) };
            // The story notices by itself when the lists stop.
            let _ = serve::run(listener, services, now, stopped).await;
        });
        Ok(Issuer { store, address, server: Some(Server { stop, task }) })
    }

    /// Where it publishes.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// A person grants.
    pub fn mint(&mut self, human: &str, grant: &Grant<'_>) -> Result<MandateId, IssuerError> {
        let now = now();
        let root = RootGrant {
            id: MandateId::from_random(random()?),
            human: human.parse()?,
            holder: grant.holder.parse()?,
            scope: grant.scope()?,
            limits: grant.ceilings()?,
            delegations: grant.delegations,
            validity: Validity { not_before: now, expires_at: now.plus(grant.seconds) },
        };
        let mut writer = self.store.write()?;
        let record = mint(root, &writer.signer(Role::Mandate)?)?;
        let id = record.id;
        writer.commit(now, Event::Mandate(record))?;
        Ok(id)
    }

    /// The holder of a mandate hands on.
    pub fn delegate(&mut self, parent: MandateId, grant: &Grant<'_>) -> Result<MandateId, IssuerError> {
        let now = now();
        let child = ChildGrant {
            id: MandateId::from_random(random()?),
            holder: grant.holder.parse()?,
            scope: grant.scope()?,
            limits: grant.ceilings()?,
            delegations: grant.delegations,
            issued_at: now,
            expires_at: Some(now.plus(grant.seconds)),
        };
        let mut writer = self.store.write()?;
        let parent = writer.state().unrevoked(parent, now)?;
        let record = delegate(&parent, child, &writer.signer(Role::Mandate)?)?;
        let id = record.id;
        writer.commit(now, Event::Mandate(record))?;
        Ok(id)
    }

    /// A credential of a mandate for an agent's key. Its ids are recorded before it leaves.
    pub fn export(
        &mut self,
        mandate: MandateId,
        format: Format,
        holder: PublicKey,
    ) -> Result<String, IssuerError> {
        let now = now();
        let mut writer = self.store.write()?;
        let order = Order { holder, lifetime: DEFAULT_CREDENTIAL_SECONDS, now };
        Ok(writer.export(mandate, format, &order)?.text().to_owned())
    }

    /// Lets the announced key take over.
    pub fn rotate(&mut self) -> Result<KeyId, IssuerError> {
        let now = now();
        let mut writer = self.store.write()?;
        let state = writer.state();
        let last = state.last_expiry(state.keyring().active(Role::Mandate)?);
        let changed = state.keyring().take_over(Role::Mandate, state.key_cache(), last, now)?;
        writer.commit(now, Event::KeysChanged(changed))?;
        Ok(writer.state().keyring().active(Role::Mandate)?.kid.clone())
    }

    /// Revokes a mandate and everything below it.
    pub fn revoke(&mut self, mandate: MandateId) -> Result<(), IssuerError> {
        let now = now();
        let mut writer = self.store.write()?;
        let revocation = revoke::mandate(writer.state().records(), mandate, now)?;
        Ok(writer.commit(now, Event::Revocation(revocation))?)
    }

    /// Stops the server; the data folder stays.
    pub async fn stop(&mut self) {
        let Some(Server { stop, mut task }) = self.server.take() else { return };
        // A server that has ended by itself hears nothing, and one that does not end is ended.
        let _ = stop.send(());
        if tokio::time::timeout(Duration::from_secs(3), &mut task).await.is_err() {
            task.abort();
        }
    }
}

impl Grant<'_> {
    fn scope(&self) -> Result<Scope, IssuerError> {
        let items = self.scope.iter().map(|item| item.parse()).collect::<Result<Vec<_>, ScopeError>>()?;
        Ok(Scope::try_from(items)?)
    }

    fn ceilings(&self) -> Result<Ceilings, IssuerError> {
        let limit = |(name, amount): &(&str, &str)| Ok::<_, IssuerError>((name.parse()?, amount.parse()?));
        Ok(Ceilings::try_from(self.limits.iter().map(limit).collect::<Result<BTreeMap<_, _>, _>>()?)?)
    }
}

/// A data folder with an active key for each role.
fn create(folder: &Path) -> Result<Store, IssuerError> {
    let now = now();
    let key = |role| {
        let key = SecretKey::from_seed(&random()?)?;
        Ok::<_, IssuerError>((KeyEntry::first(key.key_id().clone(), role, *key.public_key(), now), key))
    };
    let keys = vec![key(Role::Mandate)?, key(Role::List)?];
    Ok(Store::create(folder, super::ISSUER.parse()?, KEY_CACHE_SECONDS, keys, now)?)
}

/// Publishes the key that will sign next.
fn announce(store: &mut Store) -> Result<(), IssuerError> {
    let now = now();
    let key = SecretKey::from_seed(&random()?)?;
    let entry = KeyEntry::next(key.key_id().clone(), Role::Mandate, *key.public_key(), now);
    let mut writer = store.write()?;
    writer.keep_secret(&entry, &key)?;
    Ok(writer.commit(now, Event::Key(entry))?)
}

fn random<const N: usize>() -> Result<[u8; N], getrandom::Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)?;
    Ok(bytes)
}

fn now() -> UnixTime {
    Clock::system().now().wall
}
