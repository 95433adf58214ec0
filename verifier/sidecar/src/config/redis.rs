//! `[replay]`: where replicas keep one record of used proofs together.

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use http::Uri;
use pact_revocation::disk;
use serde::{Deserialize, Serialize};

use super::{ConfigError, Period};
use crate::limits::{
    LONGEST_REDIS_TIMEOUT, MAX_PASSWORD_BYTES, MAX_PREFIX_CHARS, REDIS_PORT, REDIS_TIMEOUT,
    SHORTEST_REDIS_TIMEOUT,
};

/// `[replay]` as the file writes it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawReplay {
    #[serde(skip_serializing_if = "Option::is_none")]
    redis: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prefix: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    password_file: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<Period>,
}

/// A server of the Redis protocol, and how this sidecar uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedisConfig {
    pub(crate) url: RedisUrl,
    pub(crate) prefix: String,
    pub(crate) password: Option<PasswordFile>,
    pub(crate) timeout: Duration,
}

/// `redis://[USER@]HOST[:PORT][/DATABASE]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RedisUrl {
    user: Option<String>,
    host: String,
    port: u16,
    database: u16,
}

/// Why a text is no such URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RedisUrlError {
    /// Not of that shape.
    #[error("redis://[USER@]HOST[:PORT][/DATABASE], with nothing else in it")]
    Shape,
    /// A secret where it would be printed and logged.
    #[error("without a password: write that into a file of mode 0600 and name it in `replay.password_file`")]
    Password,
    /// TLS.
    #[error(
        "redis://: TLS towards Redis is not spoken here; keep Redis on this machine or in a private network, or behind a TLS tunnel of its own"
    )]
    Tls,
}

/// A file with a password, which is read when it is needed and never kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PasswordFile(PathBuf);

impl RawReplay {
    /// The same with its defaults filled in.
    pub(super) fn in_effect(mut self) -> RawReplay {
        if self.redis.is_some() {
            self.prefix.get_or_insert_with(|| "pact".into());
            self.timeout.get_or_insert_with(|| REDIS_TIMEOUT.into());
        }
        self
    }
}

impl RedisConfig {
    /// `None` when there is no such table: then this sidecar keeps its record alone.
    pub(super) fn from_raw(raw: &RawReplay, folder: &Path) -> Result<Option<RedisConfig>, ConfigError> {
        let out_of_range = |key, wanted| Err(ConfigError::OutOfRange(key, wanted));
        let Some(text) = &raw.redis else {
            // Whoever wrote one of these meant a shared record, and must not believe that there is one.
            return match (&raw.prefix, &raw.password_file, &raw.timeout) {
                (None, None, None) => Ok(None),
                _ => out_of_range("replay.redis", "needed beside the other keys of [replay]"),
            };
        };
        let url = RedisUrl::parse(text).map_err(ConfigError::Redis)?;
        let prefix = raw.prefix.clone().unwrap_or_default();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
        if !(1..=MAX_PREFIX_CHARS).contains(&prefix.len()) || !prefix.chars().all(is_plain) {
            return out_of_range("replay.prefix", "1 to 64 of a-z, A-Z, 0-9, '-', '_', '.' and ':'");
        }
        let timeout = raw.timeout.map_or(REDIS_TIMEOUT, Period::get);
        if !(SHORTEST_REDIS_TIMEOUT..=LONGEST_REDIS_TIMEOUT).contains(&timeout) {
            return out_of_range("replay.timeout", "10ms to 5s, since each call waits for it");
        }
        let password = raw.password_file.as_ref().map(|path| PasswordFile(folder.join(path)));
        Ok(Some(RedisConfig { url, prefix, password, timeout }))
    }

    /// Whether the password can be read now.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let Some(file) = &self.password else { return Ok(()) };
        file.read().map(drop).map_err(|fault| ConfigError::Read { path: file.0.clone(), fault })
    }
}

impl RedisUrl {
    fn parse(text: &str) -> Result<RedisUrl, RedisUrlError> {
        let shape = RedisUrlError::Shape;
        let uri: Uri = text.parse().map_err(|_| shape)?;
        match uri.scheme_str() {
            Some("redis") => {}
            Some("rediss") => return Err(RedisUrlError::Tls),
            _ => return Err(shape),
        }
        let authority = uri.authority().ok_or(shape)?;
        let user = authority.as_str().rsplit_once('@').map(|(user, _)| user);
        match user {
            Some(user) if user.contains(':') => return Err(RedisUrlError::Password),
            Some("") => return Err(shape),
            _ => {}
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() || text.contains(['?', '#', '%']) {
            return Err(shape);
        }
        let database = match uri.path().trim_start_matches('/') {
            "" => 0,
            number => number.parse().map_err(|_| shape)?,
        };
        let port = authority.port_u16().unwrap_or(REDIS_PORT);
        Ok(RedisUrl { user: user.map(str::to_owned), host: host.to_owned(), port, database })
    }

    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn database(&self) -> u16 {
        self.database
    }
}

impl PasswordFile {
    /// What stands in it, without the line's end. Nobody but its owner may write it, and nobody else but a group that it was
    /// given to (as Kubernetes does with secrets) may read it.
    pub(crate) fn read(&self) -> io::Result<String> {
        if fs::metadata(&self.0)?.permissions().mode() & 0o027 != 0 {
            let why = "others may read it, or its group may write it: chmod 0600";
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
        }
        let bytes = disk::read(&self.0, MAX_PASSWORD_BYTES)?;
        let text = String::from_utf8(bytes).map_err(|_| io::ErrorKind::InvalidData)?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        if text.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is empty"));
        }
        Ok(text.to_owned())
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}/{}", self.host, self.port, self.database)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    fn raw(text: &str) -> RawReplay {
        toml::from_str::<RawReplay>(text).unwrap().in_effect()
    }

    fn read(text: &str) -> Result<Option<RedisConfig>, ConfigError> {
        RedisConfig::from_raw(&raw(text), Path::new("/etc/pact"))
    }

    #[test]
    fn a_url_names_one_server_and_holds_no_secret() {
        let url = |text: &str| RedisUrl::parse(text);
        assert_eq!(url("redis://cache").unwrap().to_string(), "cache:6379/0");
        let whole = url("redis://pact@[::1]:7000/3").unwrap();
        assert_eq!(
            (whole.user(), whole.host(), whole.port(), whole.database()),
            (Some("pact"), "::1", 7000, 3)
        );
        assert_eq!(url("redis://:hunter2@cache:6379/0"), Err(RedisUrlError::Password));
        assert_eq!(url("redis://pact:hunter2@cache"), Err(RedisUrlError::Password));
        assert_eq!(url("rediss://cache"), Err(RedisUrlError::Tls));
        for wrong in [
            "",
            "cache:6379",
            "http://cache",
            "redis://",
            "redis:///0",
            "redis://@cache",
            "redis://c/x",
            "redis://c/0/1",
            "redis://c/0?p=x",
        ] {
            assert_eq!(url(wrong), Err(RedisUrlError::Shape), "{wrong}");
        }
        let said = read("redis = \"redis://:hunter2@cache\"").unwrap_err().to_string();
        assert!(said.contains("password_file") && !said.contains("hunter2"), "{said}");
    }

    #[test]
    fn who_names_a_part_of_a_shared_record_names_its_server() {
        assert!(read("").unwrap().is_none());
        for half in ["prefix = \"a\"", "timeout = \"1s\"", "password_file = \"p\""] {
            assert!(matches!(read(half), Err(ConfigError::OutOfRange("replay.redis", _))), "{half}");
        }
        for wrong in ["prefix = \"\"", "prefix = \"a{b\"", "timeout = \"6s\"", "timeout = \"1ms\""] {
            assert!(read(&format!("redis = \"redis://c\"\n{wrong}")).is_err(), "{wrong}");
        }
        let read = read("redis = \"redis://c\"").unwrap().unwrap();
        assert_eq!((read.prefix.as_str(), read.timeout), ("pact", REDIS_TIMEOUT));
    }

    #[test]
    fn a_password_file_is_for_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let with_mode = |name: &str, mode: u32, text: &str| {
            let path = folder.path().join(name);
            let mut file =
                fs::OpenOptions::new().create_new(true).write(true).mode(0o600).open(&path).unwrap();
            io::Write::write_all(&mut file, text.as_bytes()).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            PasswordFile(path).read().map_err(|error| error.kind())
        };
        assert_eq!(with_mode("own", 0o600, "secret\n"), Ok("secret".into()));
        assert_eq!(with_mode("group", 0o440, "a b\r\n"), Ok("a b".into()));
        assert_eq!(with_mode("others", 0o604, "secret"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(with_mode("writers", 0o660, "secret"), Err(io::ErrorKind::PermissionDenied));
        assert_eq!(with_mode("empty", 0o600, "\n"), Err(io::ErrorKind::InvalidData));
        let missing = format!("redis = \"redis://c\"\npassword_file = \"{}/none\"", folder.path().display());
        let named = read(&missing).unwrap().unwrap();
        assert!(matches!(named.check(), Err(ConfigError::Read { .. })));
    }
}
