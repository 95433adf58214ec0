//! `[upstream]`: a tool server that runs somewhere, or one that the sidecar starts.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize, Serializer};

use super::{ConfigError, HttpUrl, Period};
use crate::{limits, mcp::revisions::Revisions};

/// The tool server behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UpstreamConfig {
    pub(crate) place: UpstreamPlace,
    pub(crate) answer_timeout: Duration,
    pub(crate) idle_timeout: Duration,
    pub(crate) revisions: Revisions,
}

/// Where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum UpstreamPlace {
    /// It runs, and listens.
    Http { url: HttpUrl, connect_timeout: Duration },
    /// It is started here, and speaks on its standard input and output.
    Command(CommandConfig),
}

/// How it is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CommandConfig {
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) env: BTreeMap<String, EnvValue>,
    pub(crate) max_children: usize,
    pub(crate) message_bytes: usize,
}

/// The value of a variable of the environment: as like as not a secret, so nothing shows it.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct EnvValue(String);

/// The section as its file writes it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawUpstream {
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_children: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_bytes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connect_timeout: Option<Period>,
    #[serde(default = "RawUpstream::answer_timeout")]
    answer_timeout: Period,
    #[serde(default = "RawUpstream::idle_timeout")]
    idle_timeout: Period,
    #[serde(default)]
    revisions: Revisions,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    env: BTreeMap<String, EnvValue>,
}

impl UpstreamConfig {
    pub(super) fn from_raw(raw: &RawUpstream, folder: &Path) -> Result<UpstreamConfig, ConfigError> {
        let place = match (&raw.url, &raw.command) {
            (Some(url), None) => raw.http(url)?,
            (None, Some(command)) => UpstreamPlace::Command(raw.command(command, folder)?),
            _ => return Err(ConfigError::UpstreamPlace),
        };
        let (answer_timeout, idle_timeout) = (raw.answer_timeout.get(), raw.idle_timeout.get());
        Ok(UpstreamConfig { place, answer_timeout, idle_timeout, revisions: raw.revisions.clone() })
    }

    /// The most sessions that it can serve: each has a process of its own, and two more are for one that begins and for
    /// those who have no session.
    pub(crate) fn most_sessions(&self) -> usize {
        match &self.place {
            UpstreamPlace::Http { .. } => usize::MAX,
            UpstreamPlace::Command(command) => command.max_children.saturating_sub(2),
        }
    }
}

impl RawUpstream {
    /// Defaults filled in.
    pub(super) fn in_effect(self) -> RawUpstream {
        if self.command.is_none() {
            let connect_timeout = self.connect_timeout.or(Some(limits::CONNECT_TIMEOUT.into()));
            return RawUpstream { connect_timeout, ..self };
        }
        RawUpstream {
            max_children: self.max_children.or(Some(limits::MAX_CHILDREN)),
            message_bytes: self.message_bytes.or(Some(limits::MESSAGE_BYTES)),
            ..self
        }
    }

    fn http(&self, url: &str) -> Result<UpstreamPlace, ConfigError> {
        let others = [
            ("folder", self.folder.is_some()),
            ("env", !self.env.is_empty()),
            ("max_children", self.max_children.is_some()),
            ("message_bytes", self.message_bytes.is_some()),
        ];
        if let Some((key, _)) = others.into_iter().find(|(_, is_there)| *is_there) {
            return Err(ConfigError::CommandOnly(key));
        }
        let url = HttpUrl::parse(url)
            .map_err(|fault| ConfigError::Url { key: "upstream.url".to_owned(), fault })?;
        let connect_timeout = self.connect_timeout.map_or(limits::CONNECT_TIMEOUT, Period::get);
        Ok(UpstreamPlace::Http { url, connect_timeout })
    }

    fn command(&self, command: &[String], folder: &Path) -> Result<CommandConfig, ConfigError> {
        let out_of_range = |key, wanted| Err(ConfigError::OutOfRange(key, wanted));
        let (program, arguments) = match command {
            [program, arguments @ ..] if !program.is_empty() => (program, arguments),
            _ => return out_of_range("upstream.command", "a program and its arguments"),
        };
        if command.iter().any(|part| part.contains('\0')) {
            return out_of_range("upstream.command", "texts without NUL");
        }
        if self.connect_timeout.is_some() {
            return out_of_range("upstream.connect_timeout", "for `upstream.url` alone");
        }
        if !self.env.iter().all(|(name, value)| is_variable(name) && !value.0.contains('\0')) {
            return out_of_range("upstream.env", "names without '=', and nothing with NUL");
        }
        let max_children = self.max_children.unwrap_or(limits::MAX_CHILDREN);
        if !(4..=limits::MOST_CHILDREN).contains(&max_children) {
            return out_of_range("upstream.max_children", "4 to 1024");
        }
        let message_bytes = self.message_bytes.unwrap_or(limits::MESSAGE_BYTES);
        if !(65_536..=limits::MOST_MESSAGE_BYTES).contains(&message_bytes) {
            return out_of_range("upstream.message_bytes", "65536 to 67108864");
        }
        Ok(CommandConfig {
            // A bare name is looked for in PATH; a path stands beside the configuration, as every other one does.
            program: if program.contains('/') { folder.join(program) } else { program.into() },
            arguments: arguments.to_vec(),
            folder: self.folder.as_ref().map(|inner| folder.join(inner)),
            env: self.env.clone(),
            max_children,
            message_bytes,
        })
    }

    fn answer_timeout() -> Period {
        limits::ANSWER_TIMEOUT.into()
    }

    fn idle_timeout() -> Period {
        limits::IDLE_TIMEOUT.into()
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

impl EnvValue {
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for EnvValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EnvValue(…)")
    }
}

impl Serialize for EnvValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("(not shown)")
    }
}
