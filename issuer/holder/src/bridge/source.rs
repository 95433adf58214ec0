//! Where a credential's text comes from.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
    time::Duration,
};

use pact_mandate::UnixTime;
use tokio::{
    io::AsyncReadExt,
    process::{Child, Command},
};

use super::{
    config::{CredentialConfig, SourceConfig},
    reissue::{ReissueFault, Reissuer},
};
use crate::{
    Holder,
    error::FileError,
    file,
    limits::{COMMAND_TIMEOUT, MAX_CREDENTIAL_BYTES},
};

/// A source that can be asked again.
#[derive(Debug)]
pub(crate) enum Source {
    File(PathBuf),
    Command(Vec<String>),
    Issuer(Box<Reissuer>),
}

/// What a file looked like when it was read; another look, another content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SourceFault {
    #[error(transparent)]
    Issuer(#[from] ReissueFault),
    #[error("the credential's file cannot be read: {0}")]
    File(#[from] FileError),
    #[error("the credential's command {0} does not start: {1}")]
    Start(String, std::io::Error),
    #[error("the credential's command {0} broke off: {1}")]
    Broken(String, std::io::Error),
    #[error("the credential's command {0} ended with {1}")]
    Failed(String, std::process::ExitStatus),
    #[error("the credential's command {0} took longer than {limit:?}", limit = COMMAND_TIMEOUT)]
    Slow(String),
    #[error("the credential's command {0} printed more than {MAX_CREDENTIAL_BYTES} bytes, or no text")]
    Output(String),
}

impl Source {
    pub(crate) fn new(config: &CredentialConfig, holder: &Arc<Holder>) -> Result<Source, reqwest::Error> {
        Ok(match &config.source {
            SourceConfig::File(path) => Source::File(path.clone()),
            SourceConfig::Command(argv) => Source::Command(argv.clone()),
            SourceConfig::Issuer(issuer) => {
                let reissuer = Reissuer::new(issuer.clone(), config.format, Arc::clone(holder))?;
                Source::Issuer(Box::new(reissuer))
            }
        })
    }

    /// How the source looks now, where that can be told without asking it.
    pub(crate) fn stamp(&self) -> Option<Stamp> {
        match self {
            Source::File(path) => Stamp::of(path),
            Source::Command(_) | Source::Issuer(_) => None,
        }
    }

    /// Whether the same question may have another answer after a while.
    pub(crate) fn is_asked(&self) -> bool {
        matches!(self, Source::Command(_) | Source::Issuer(_))
    }

    pub(crate) async fn text(&self, now: UnixTime) -> Result<String, SourceFault> {
        match self {
            Source::File(path) => Ok(file::read_text(path, MAX_CREDENTIAL_BYTES)?),
            Source::Command(argv) => run(argv, COMMAND_TIMEOUT).await,
            Source::Issuer(reissuer) => Ok(reissuer.text(now).await?),
        }
    }
}

impl Stamp {
    fn of(path: &Path) -> Option<Stamp> {
        let seen = fs::metadata(path).ok()?;
        Some(Stamp { inode: seen.ino(), bytes: seen.size(), changed: (seen.ctime(), seen.ctime_nsec()) })
    }
}

/// What it says on its standard error goes to ours; it is told nothing.
async fn run(argv: &[String], most: Duration) -> Result<String, SourceFault> {
    let (name, arguments) = argv.split_first().map(|(name, rest)| (name.clone(), rest)).unwrap_or_default();
    let mut command = Command::new(&name);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true);
    let child = command.spawn().map_err(|fault| SourceFault::Start(name.clone(), fault))?;
    match tokio::time::timeout(most, printed(child, &name)).await {
        Ok(printed) => printed,
        Err(_) => Err(SourceFault::Slow(name)),
    }
}

async fn printed(mut child: Child, name: &str) -> Result<String, SourceFault> {
    let broken = |fault| SourceFault::Broken(name.to_owned(), fault);
    let mut bytes = Vec::new();
    if let Some(output) = child.stdout.take() {
        let most = u64::try_from(MAX_CREDENTIAL_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        output.take(most).read_to_end(&mut bytes).await.map_err(broken)?;
    }
    if bytes.len() > MAX_CREDENTIAL_BYTES {
        return Err(SourceFault::Output(name.to_owned()));
    }
    let status = child.wait().await.map_err(broken)?;
    if !status.success() {
        return Err(SourceFault::Failed(name.to_owned(), status));
    }
    String::from_utf8(bytes).map_err(|_| SourceFault::Output(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[tokio::test]
    async fn a_command_is_bounded_in_time_and_output() {
        let most = Duration::from_secs(20);
        assert_eq!(run(&sh("printf abc"), most).await.unwrap(), "abc");
        let slow = run(&sh("sleep 60"), Duration::from_millis(100)).await;
        assert!(matches!(slow, Err(SourceFault::Slow(_))), "{slow:?}");
        let loud = run(&sh("yes"), most).await;
        assert!(matches!(loud, Err(SourceFault::Output(_))), "{:?}", loud.map(|text| text.len()));
        assert!(matches!(run(&sh("exit 3"), most).await, Err(SourceFault::Failed(..))));
        assert!(matches!(run(&["/no/such/command".to_owned()], most).await, Err(SourceFault::Start(..))));
    }

    #[test]
    fn a_file_that_changed_looks_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("credential");
        let source = Source::File(path.clone());
        assert_eq!(source.stamp(), None);
        fs::write(&path, "a").unwrap();
        let first = source.stamp().unwrap();
        assert_eq!(source.stamp(), Some(first));
        fs::write(folder.path().join("next"), "b").unwrap();
        fs::rename(folder.path().join("next"), &path).unwrap();
        assert_ne!(source.stamp(), Some(first));
    }
}
