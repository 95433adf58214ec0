//! The configuration: strict, printable in effect, and never half read.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    time::Duration,
};

use pact_mandate::IssuerId;
use pact_revocation::disk;
use pact_verifier::trust::{KeyOwners, TrustError};
use toml::Table;

use crate::limits::{MAX_CONFIG_BYTES, MAX_ISSUERS, MAX_POLICY_BYTES};

mod issuer;
mod keys;
mod period;
mod pinned;
mod ranges;
mod raw;
mod receipts;
mod redis;
#[cfg(test)]
mod tests;
mod upstream;
mod url;

pub use issuer::IssuerConfig;
pub use period::{Period, PeriodError};
pub use pinned::{PinnedKey, PinnedKeyError, PinnedRoot};
use raw::RawConfig;
pub(crate) use receipts::ReceiptsConfig;
pub use receipts::{OnFull, ReceiptsTo};
pub use redis::RedisUrlError;
pub(crate) use redis::{PasswordFile, RedisConfig};
pub(crate) use upstream::{CommandConfig, UpstreamConfig, UpstreamPlace};
pub use url::{HttpUrl, UrlError};

/// What one sidecar is told. Made by [`Config::read`] or [`Config::from_toml`] alone.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) listen: SocketAddr,
    pub(crate) admin_listen: SocketAddr,
    pub(crate) audience: HttpUrl,
    pub(crate) path: String,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) policy: PathBuf,
    pub(crate) state_dir: PathBuf,
    pub(crate) upstream: UpstreamConfig,
    pub(crate) bounds: Bounds,
    pub(crate) keys: KeyBounds,
    pub(crate) lists_every: Duration,
    pub(crate) receipts: ReceiptsConfig,
    /// Where replicas keep one record of used proofs together; without it, this one keeps its own.
    pub(crate) replay: Option<RedisConfig>,
    pub(crate) issuers: Vec<IssuerConfig>,
    effective: String,
    /// The file that it was read from, and the text.
    source: Option<(PathBuf, String)>,
}

/// The bounds on callers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub(crate) body_bytes: usize,
    pub(crate) head_bytes: usize,
    pub(crate) head_timeout: Duration,
    pub(crate) body_timeout: Duration,
    pub(crate) write_timeout: Duration,
    pub(crate) connections: usize,
    pub(crate) requests: usize,
    pub(crate) recheck: Duration,
    /// How long the traffic port still answers once `/readyz` says that it stops.
    pub(crate) drain_delay: Option<Duration>,
    pub(crate) keep_alive: Duration,
    pub(crate) sessions: usize,
    pub(crate) session_idle: Duration,
    pub(crate) drain: Duration,
}

/// The bounds on key sets (protocol K4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyBounds {
    pub(crate) soft: Duration,
    pub(crate) hard: Duration,
    pub(crate) cooldown: Duration,
}

/// Why a configuration is not one.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("{path} cannot be read: {fault}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        fault: io::Error,
    },
    /// The file is larger than the bound.
    #[error("{path} is larger than {limit} bytes")]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// The bound.
        limit: u64,
    },
    /// Not TOML, or a value of the wrong kind.
    #[error("the configuration does not parse: {0}")]
    Toml(#[from] toml::de::Error),
    /// A key that nobody reads.
    #[error("unknown key `{key}`; the nearest known one is `{nearest}`")]
    UnknownKey {
        /// The key, with its section.
        key: String,
        /// The known key that is nearest to it.
        nearest: String,
    },
    /// A URL that is none of ours.
    #[error("`{key}` must be {fault}")]
    Url {
        /// Which key.
        key: String,
        /// What it should be.
        fault: UrlError,
    },
    /// Neither or both of the two ways to reach a tool server.
    #[error(
        "`upstream` needs either `url`, of a server that runs, or `command`, of one that is started here"
    )]
    UpstreamPlace,
    /// A key of the one way beside the other.
    #[error("`upstream.{0}` is for `upstream.command` alone")]
    CommandOnly(&'static str),
    /// The address of the shared record of used proofs.
    #[error("`replay.redis` must be {0}")]
    Redis(RedisUrlError),
    /// An address of an issuer that is none.
    #[error("`issuers.{key}` does not do: {fault}")]
    IssuerUrl {
        /// Which key.
        key: &'static str,
        /// What is wrong.
        fault: pact_revocation::net::target::UrlError,
    },
    /// `path` is not a plain absolute path.
    #[error(
        "`path` must begin with / and have no query, fragment, percent sign, backslash or empty or dotted segment"
    )]
    Path,
    /// A project that is none.
    #[error("`issuers.speaks.projects` must be [\"*\"] alone, or projects of a-z, 0-9 and '-'")]
    Project,
    /// An issuer without roots grants nothing.
    #[error(
        "the issuer {0} has neither `roots` nor `keys_url`: none of its credentials could ever be believed"
    )]
    NoRoots(IssuerId),
    /// An issuer without list keys has no fresh list, ever.
    #[error(
        "the issuer {0} has neither `list_keys` nor `list_keys_url`: no list of it could ever be believed"
    )]
    NoListKeys(IssuerId),
    /// K1, K3: a pinned key belongs to one issuer, in one role.
    #[error("the pinned keys do not go together: {0}")]
    Owners(#[from] TrustError),
    /// No issuer at all, or too many.
    #[error("there must be 1 to {MAX_ISSUERS} `[[issuers]]`; without one every call would be refused")]
    Issuers,
    /// A bound that is none.
    #[error("`{0}` is out of range: {1}")]
    OutOfRange(&'static str, &'static str),
}

impl Config {
    /// Reads a file. Relative paths in it are relative to the folder that it stands in.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let text = read_bounded(path, MAX_CONFIG_BYTES)?;
        Config::from_text(text, path)
    }

    /// Reads the text of a file that stands in `folder`.
    pub fn from_toml(text: &str, folder: &Path) -> Result<Config, ConfigError> {
        keys::check(&text.parse::<Table>()?)?;
        let raw: RawConfig = toml::from_str(text)?;
        Config::from_raw(raw, folder)
    }

    /// The configuration in effect, defaults filled in, as TOML.
    pub fn effective(&self) -> &str {
        &self.effective
    }

    /// The file that maps tools to actions.
    pub fn policy_file(&self) -> &Path {
        &self.policy
    }

    /// Reads the text that was found in the file `path`.
    pub(crate) fn from_text(text: String, path: &Path) -> Result<Config, ConfigError> {
        let config = Config::from_toml(&text, path.parent().unwrap_or(Path::new(".")))?;
        Ok(Config { source: Some((path.to_owned(), text)), ..config })
    }

    /// The file that it was read from, and the text that was found in it.
    pub(crate) fn source(&self) -> Option<(&Path, &str)> {
        self.source.as_ref().map(|(path, text)| (path.as_path(), text.as_str()))
    }

    /// The text of the policy file as it is now.
    pub(crate) fn policy_text(&self) -> Result<String, ConfigError> {
        read_bounded(&self.policy, MAX_POLICY_BYTES)
    }

    /// The first key of another configuration that a running sidecar cannot take over: what it has bound, opened or handed
    /// to connections.
    pub(crate) fn needs_restart_for(&self, next: &Config) -> Option<&'static str> {
        let differs = [
            ("listen", self.listen != next.listen),
            ("admin_listen", self.admin_listen != next.admin_listen),
            ("audience", self.audience != next.audience),
            ("allowed_hosts", self.allowed_hosts != next.allowed_hosts),
            ("path", self.path != next.path),
            ("state_dir", self.state_dir != next.state_dir),
            ("upstream", self.upstream != next.upstream),
            ("receipts", self.receipts != next.receipts),
            ("limits", self.bounds != next.bounds),
            ("replay", self.replay != next.replay),
        ];
        differs.into_iter().find(|(_, differs)| *differs).map(|(key, _)| key)
    }

    fn from_raw(mut raw: RawConfig, folder: &Path) -> Result<Config, ConfigError> {
        if !(1..=MAX_ISSUERS).contains(&raw.issuers.len()) {
            return Err(ConfigError::Issuers);
        }
        ranges::check(&raw)?;
        let receipts = ReceiptsConfig::from_raw(&mut raw.receipts, &raw.state_dir, folder)?;
        let audience = HttpUrl::parse(&raw.audience)
            .map_err(|fault| ConfigError::Url { key: "audience".to_owned(), fault })?;
        let upstream = UpstreamConfig::from_raw(&raw.upstream, folder)?;
        let path = raw.path.clone().unwrap_or_else(|| audience.path().to_owned());
        let raw = RawConfig {
            path: Some(path.clone()),
            replay: raw.replay.in_effect(),
            upstream: raw.upstream.in_effect(),
            ..raw
        };
        let effective = toml::to_string_pretty(&raw).unwrap_or_default();
        if !ranges::is_plain_path(&path) {
            return Err(ConfigError::Path);
        }
        let issuers: Vec<IssuerConfig> =
            raw.issuers.into_iter().map(IssuerConfig::from_raw).collect::<Result<_, _>>()?;
        let mut owners = KeyOwners::default();
        issuers.iter().try_for_each(|issuer| issuer.note_owners(&mut owners))?;
        Ok(Config {
            listen: raw.listen,
            admin_listen: raw.admin_listen,
            audience,
            path,
            allowed_hosts: raw.allowed_hosts,
            policy: folder.join(raw.policy),
            state_dir: folder.join(raw.state_dir),
            upstream,
            bounds: Bounds::from_raw(&raw.limits),
            keys: KeyBounds {
                soft: raw.keys.soft.get(),
                hard: raw.keys.hard.get(),
                cooldown: raw.keys.cooldown.get(),
            },
            lists_every: raw.lists.every.get(),
            receipts,
            replay: RedisConfig::from_raw(&raw.replay, folder)?,
            issuers,
            effective,
            source: None,
        })
    }
}

impl Bounds {
    fn from_raw(raw: &raw::RawLimits) -> Bounds {
        Bounds {
            body_bytes: raw.body_bytes,
            head_bytes: raw.head_bytes,
            head_timeout: raw.head_timeout.get(),
            body_timeout: raw.body_timeout.get(),
            write_timeout: raw.write_timeout.get(),
            connections: raw.connections,
            requests: raw.requests,
            recheck: raw.recheck.get(),
            drain_delay: raw.drain_delay.map(Period::get),
            keep_alive: raw.keep_alive.get(),
            sessions: raw.sessions,
            session_idle: raw.session_idle.get(),
            drain: raw.drain.get(),
        }
    }
}

/// Reads a text file of at most `limit` bytes.
pub(crate) fn read_bounded(path: &Path, limit: u64) -> Result<String, ConfigError> {
    let read = |fault: io::Error| match fault.kind() {
        io::ErrorKind::FileTooLarge => ConfigError::TooLarge { path: path.to_owned(), limit },
        _ => ConfigError::Read { path: path.to_owned(), fault },
    };
    let not_text = |fault| read(io::Error::new(io::ErrorKind::InvalidData, fault));
    String::from_utf8(disk::read(path, limit).map_err(read)?).map_err(not_text)
}
