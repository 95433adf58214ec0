//! The bridge's configuration: strict, printable in effect, and never half read.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use pact_mandate::{Action, Format, IssuerId, MandateId, Project, id::IdError, scope::ScopeError};
use pact_verifier::{
    Audience,
    proof::NotAnAudience,
    strict::{ConfigFault, StrictTable},
};

use super::{credential::Reach, url::UrlError};
use crate::{error::FileError, file};

mod listen;
mod print;
mod read;

pub use super::url::UpstreamUrl;
pub use listen::NotAPlace;
pub(crate) use listen::{ListenConfig, Place};

/// What one bridge is told. Made by [`Config::read`] or [`Config::from_toml`] alone.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) key: PathBuf,
    pub(crate) upstreams: Vec<UpstreamConfig>,
    pub(crate) credentials: Vec<CredentialConfig>,
    /// Where local clients reach it over HTTP, instead of standard input and output.
    pub(crate) listen: Option<ListenConfig>,
}

/// One sidecar.
#[derive(Clone, Debug)]
pub(crate) struct UpstreamConfig {
    pub(crate) url: UpstreamUrl,
    /// What proofs name; never taken from a server.
    pub(crate) audience: Audience,
    /// What credentials call a tool, or a method that the sidecar judges, where the sidecar does not say it.
    pub(crate) actions: BTreeMap<String, Action>,
    pub(crate) connect_timeout: Duration,
    pub(crate) answer_timeout: Duration,
    pub(crate) idle_timeout: Duration,
}

/// One credential.
#[derive(Clone, Debug)]
pub(crate) struct CredentialConfig {
    pub(crate) format: Format,
    pub(crate) source: SourceConfig,
    /// Where it may go.
    pub(crate) upstreams: Vec<UpstreamUrl>,
    /// For what it is good, in the operator's words; where they are missing, in its own.
    pub(crate) actions: Vec<Action>,
    pub(crate) projects: Vec<Project>,
}

/// Where a credential comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourceConfig {
    /// A file, read again when it changes.
    File(PathBuf),
    /// What a command prints.
    Command(Vec<String>),
    /// The issuer, asked anew with a signed request.
    Issuer(ReissueConfig),
}

/// Which issuer, and for what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReissueConfig {
    /// Where it answers.
    pub(crate) url: UpstreamUrl,
    /// Its name, which the request says: another issuer takes it for nothing.
    pub(crate) issuer: IssuerId,
    /// The mandate whose credential was exported to this key.
    pub(crate) mandate: MandateId,
}

/// Why a configuration is not one.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file.
    #[error(transparent)]
    File(#[from] FileError),
    /// Not TOML, an unknown key, or a value of the wrong kind.
    #[error(transparent)]
    Fault(#[from] ConfigFault),
    /// An address that is none, or not a safe one.
    #[error("the key {key} is {fault}")]
    Url {
        /// Which key.
        key: String,
        /// What is wrong.
        fault: UrlError,
    },
    /// An audience that is none.
    #[error("the key {key}: {fault}")]
    Audience {
        /// Which key.
        key: String,
        /// What is wrong.
        fault: NotAnAudience,
    },
    /// A word that is none of mandates.
    #[error("the key {key}: {fault}")]
    Word {
        /// Which key.
        key: String,
        /// What is wrong.
        fault: ScopeError,
    },
    /// An id that is none.
    #[error("the key {key}: {fault}")]
    Id {
        /// Which key.
        key: String,
        /// What is wrong.
        fault: IdError,
    },
    /// A credential without a source, or with two.
    #[error("{0} wants exactly one of `file`, `command` and `reissue`")]
    Source(String),
    /// A credential that would go where nobody listens.
    #[error("{key} names {url}, which is the url of none of the [[upstreams]]")]
    UnknownUpstream {
        /// Which key.
        key: String,
        /// What it names.
        url: String,
    },
    /// No place to listen, or two.
    #[error("listen wants exactly one of `address` and `socket`")]
    NoPlace,
    /// A place where nobody else must reach the bridge, and somebody could.
    #[error("the key {key}: {fault}")]
    Place {
        /// Which key.
        key: String,
        /// What is wrong.
        fault: NotAPlace,
    },
    /// The same server twice.
    #[error("two [[upstreams]] have the url {0}")]
    RepeatedUpstream(String),
    /// None, or too many.
    #[error("there must be 1 to {most} [[{what}]]")]
    Count {
        /// Of what.
        what: &'static str,
        /// The bound.
        most: usize,
    },
}

impl Config {
    /// Reads a file. Relative paths in it are relative to the folder that it stands in.
    pub fn read(path: &Path) -> Result<Config, ConfigError> {
        let text = file::read_text(path, pact_verifier::limits::MAX_CONFIG_BYTES)?;
        Config::from_toml(&text, path.parent().unwrap_or(Path::new(".")))
    }

    /// Reads the text of a file that stands in `folder`.
    pub fn from_toml(text: &str, folder: &Path) -> Result<Config, ConfigError> {
        read::config(StrictTable::parse(text)?, folder)
    }

    /// The same, listening there (`127.0.0.1:7777`, or the path of a socket) whatever it said before.
    pub fn listening(self, place: &str) -> Result<Config, ConfigError> {
        let fault = |fault| ConfigError::Place { key: "--listen".to_owned(), fault };
        let place = Place::parse(place).map_err(fault)?;
        let listen = match self.listen {
            Some(listen) => ListenConfig { place, ..listen },
            None => ListenConfig::at(place),
        };
        Ok(Config { listen: Some(listen), ..self })
    }

    /// Whether local clients are served over HTTP.
    pub fn listens(&self) -> bool {
        self.listen.is_some()
    }

    /// The configuration in effect, defaults filled in, as TOML.
    pub fn effective(&self) -> String {
        print::toml(self)
    }
}

impl CredentialConfig {
    /// What the operator says that it is good for.
    pub(crate) fn stated(&self) -> Reach {
        let pairs = self.actions.iter().flat_map(|action| {
            let in_project = |project: &Project| (action.clone(), Some(project.clone()));
            let anywhere = self.projects.is_empty().then(|| (action.clone(), None));
            self.projects.iter().map(in_project).chain(anywhere)
        });
        if self.actions.is_empty() { Reach::Unknown } else { Reach::Pairs(pairs.collect()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
key = "agent.key"

[[upstreams]]
url = "https://tools.example.org/mcp"
idle_timeout = "90s"
[upstreams.actions]
refund_order = "order.refund"

[[upstreams]]
url = "http://127.0.0.1:8080/mcp"
audience = "https://inner.example.org/mcp"

[listen]
address = "127.0.0.1:7777"
secret_file = "bridge.secret"
allowed_origins = ["http://localhost:6274"]

[[credentials]]
upstreams = ["https://tools.example.org/mcp"]
format = "tenuo"
file = "agent.tenuo"

[[credentials]]
upstreams = ["http://127.0.0.1:8080/mcp", "https://tools.example.org/mcp"]
format = "biscuit"
command = ["get-token", "--for", "agent"]
actions = ["order.*"]
projects = ["shop", "warehouse"]

[[credentials]]
upstreams = ["https://tools.example.org/mcp"]
format = "tenuo"
reissue = "https://issuer.example.org/reissue"
issuer = "example"
mandate = "11111111-1111-4111-8111-111111111111"
"#;

    fn refused(text: &str) -> String {
        Config::from_toml(text, Path::new("/etc")).unwrap_err().to_string()
    }

    #[test]
    fn what_is_printed_reads_as_the_same_configuration() {
        let config = Config::from_toml(WHOLE, Path::new("/etc/pact")).unwrap();
        assert_eq!(config.key, Path::new("/etc/pact/agent.key"));
        assert_eq!(config.upstreams[0].audience.as_str(), "https://tools.example.org/mcp");
        assert_eq!(config.upstreams[1].audience.as_str(), "https://inner.example.org/mcp");
        assert_eq!(config.upstreams[0].idle_timeout, Duration::from_secs(90));
        let printed = config.effective();
        let again = Config::from_toml(&printed, Path::new("/elsewhere")).unwrap();
        assert_eq!(format!("{config:?}"), format!("{again:?}"), "{printed}");
        let Reach::Pairs(pairs) = config.credentials[1].stated() else { panic!() };
        assert_eq!(pairs.len(), 2);
    }

    #[test]
    fn every_mistake_is_named() {
        for (from, to, wanted) in [
            ("key = ", "keys = ", "did you mean key?"),
            ("idle_timeout = \"90s\"", "idle_timout = \"90s\"", "did you mean idle_timeout?"),
            ("idle_timeout = \"90s\"", "idle_timeout = \"90\"", "a period such as"),
            (
                "https://tools.example.org/mcp\"\nidle",
                "http://tools.example.org/mcp\"\nidle",
                "neither https",
            ),
            ("http://127.0.0.1:8080/mcp\"\naud", "https://tools.example.org/mcp\"\naud", "two [[upstreams]]"),
            (
                "upstreams = [\"https://tools.example.org/mcp\"]",
                "upstreams = [\"https://x.example/\"]",
                "none of the",
            ),
            ("upstreams = [\"https://tools.example.org/mcp\"]", "upstreams = []", "1 to 64"),
            ("file = \"agent.tenuo\"", "", "exactly one of"),
            ("file = \"agent.tenuo\"", "file = \"a\"\ncommand = [\"b\"]", "exactly one of"),
            ("format = \"tenuo\"", "format = \"jwt\"", "tenuo or biscuit"),
            ("issuer = \"example\"\n", "", "issuer is missing"),
            ("\"11111111-1111-4111-8111-111111111111\"", "\"7\"", "a UUID"),
            ("https://issuer.example.org/reissue", "http://issuer.example.org/reissue", "neither https"),
            ("file = \"agent.tenuo\"", "file = \"a\"\nissuer = \"b\"", "unknown key"),
            ("\"order.refund\"", "\"order refund\"", "an action is"),
            ("\"warehouse\"", "\"Ware house\"", "a project is"),
            ("actions = [\"order.*\"]\n", "", "projects without actions"),
            ("address = \"127", "adress = \"127", "did you mean address?"),
            ("127.0.0.1:7777", "0.0.0.0:7777", "loopback"),
            ("127.0.0.1:7777", "localhost:7777", "an IP address"),
            ("address = \"127.0.0.1:7777\"", "", "exactly one of"),
            ("address = \"127.0.0.1:7777\"", "socket = \"s\"", "secret_file"),
            ("http://localhost:6274", "*", "an origin"),
            ("http://localhost:6274", "http://localhost:6274/", "an origin"),
        ] {
            assert!(WHOLE.contains(from), "{from}");
            let said = refused(&WHOLE.replacen(from, to, 1));
            assert!(said.contains(wanted), "{to}: {said}");
        }
        assert!(refused("key = \"a\"").contains("1 to 64 [[upstreams]]"));
    }
}
