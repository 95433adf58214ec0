//! The holder's credentials: each bound to servers, got anew before it ends, and chosen by what a call needs.

use std::{sync::Arc, time::Duration};

use pact_mandate::{Format, Monotonic, Now, UnixTime};
use tokio::sync::Mutex;

use super::{
    config::CredentialConfig,
    credential::{Credential, Fit, Reach, Wanted},
    source::{Source, SourceFault, Stamp},
    url::UpstreamUrl,
};
use crate::{
    Holder,
    error::SignError,
    limits::{REFRESH_BEFORE_SECONDS, REFRESH_EVERY, SOURCE_COOLDOWN},
};

/// All of them, in the order of the configuration.
#[derive(Debug)]
pub(crate) struct Wallet {
    pockets: Vec<Pocket>,
}

/// One configured credential, and what its source gave last.
#[derive(Debug)]
pub(crate) struct Pocket {
    format: Format,
    source: Source,
    stated: Reach,
    bound: Vec<UpstreamUrl>,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    credential: Option<Arc<Credential>>,
    stamp: Option<Stamp>,
    got_at: Option<Now>,
    failed_at: Option<Monotonic>,
    /// A sidecar said that it no longer counts.
    spent: bool,
}

/// Why a call gets no credential.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoCredential {
    #[error("no credential is bound to {0}")]
    NoneBound(UpstreamUrl),
    #[error("none of the credentials bound to this server covers {action}{project}")]
    NoneCovers {
        /// What was wanted.
        action: String,
        /// In which project, as text.
        project: String,
    },
    #[error(transparent)]
    Source(#[from] SourceFault),
    #[error("what the credential's source gave is none: {0}")]
    Malformed(#[from] SignError),
    #[error("the credential's source failed a moment ago and is left alone for {SOURCE_COOLDOWN:?}")]
    CoolingDown,
}

impl NoCredential {
    /// The stable code.
    pub(crate) fn code(&self) -> &'static str {
        match self {
            NoCredential::NoneBound(_) | NoCredential::NoneCovers { .. } => "no_credential",
            _ => "credential_unavailable",
        }
    }
}

impl Wallet {
    pub(crate) fn new(configs: &[CredentialConfig], holder: &Arc<Holder>) -> Result<Wallet, reqwest::Error> {
        let pockets = configs.iter().map(|config| Pocket::new(config, holder)).collect::<Result<_, _>>()?;
        Ok(Wallet { pockets })
    }

    /// Those that may go to the server.
    pub(crate) fn bound_to<'a>(&'a self, url: &'a UpstreamUrl) -> impl Iterator<Item = &'a Pocket> {
        self.pockets.iter().filter(|pocket| pocket.bound.contains(url))
    }

    /// The one that fits best, the first of several. A single one is tried whatever it says of itself: the sidecar judges, and
    /// says precisely what is missing.
    pub(crate) async fn pick<'a>(
        &'a self,
        url: &'a UpstreamUrl,
        wanted: &Wanted,
        now: Now,
    ) -> Result<(Arc<Credential>, &'a Pocket), NoCredential> {
        let mut best: Option<(Fit, Arc<Credential>, &Pocket)> = None;
        let (mut fault, mut count) = (None, 0_usize);
        for pocket in self.bound_to(url) {
            count += 1;
            match pocket.current(now).await {
                Err(unavailable) => fault = Some(unavailable),
                Ok(credential) => {
                    let fit = credential.fit(wanted);
                    if best.as_ref().is_none_or(|(other, ..)| fit > *other) {
                        best = Some((fit, credential, pocket));
                    }
                }
            }
        }
        match (best, fault) {
            (Some((fit, credential, pocket)), _) if fit > Fit::No || count == 1 => Ok((credential, pocket)),
            (_, Some(fault)) => Err(fault),
            (None, None) => Err(NoCredential::NoneBound(url.clone())),
            (Some(_), None) => {
                let project = wanted.project.as_ref();
                Err(NoCredential::NoneCovers {
                    action: wanted.action.to_string(),
                    project: project.map(|project| format!(" in the project {project}")).unwrap_or_default(),
                })
            }
        }
    }
}

impl Pocket {
    fn new(config: &CredentialConfig, holder: &Arc<Holder>) -> Result<Pocket, reqwest::Error> {
        Ok(Pocket {
            format: config.format,
            source: Source::new(config, holder)?,
            stated: config.stated(),
            bound: config.upstreams.clone(),
            held: Mutex::default(),
        })
    }

    /// What is in it, got anew first where that is due. When that fails, what is held serves on while it lives.
    pub(crate) async fn current(&self, now: Now) -> Result<Arc<Credential>, NoCredential> {
        let mut held = self.held.lock().await;
        let stamp = self.source.stamp();
        if !held.is_due(&self.source, stamp, now)
            && let Some(credential) = held.living(now.wall)
        {
            return Ok(credential);
        }
        if held.failed_at.is_some_and(|at| now.monotonic.since(at) < SOURCE_COOLDOWN) && held.stamp == stamp {
            return held.living(now.wall).ok_or(NoCredential::CoolingDown);
        }
        match self.get(now.wall).await {
            Ok(credential) => {
                let credential = Arc::new(credential);
                let stands = Some(Arc::clone(&credential));
                *held = Held { credential: stands, stamp, got_at: Some(now), ..Held::default() };
                Ok(credential)
            }
            Err(fault) => {
                held.failed_at = Some(now.monotonic);
                held.stamp = stamp;
                tracing::warn!(%fault, "a credential could not be got anew");
                held.living(now.wall).ok_or(fault)
            }
        }
    }

    /// A sidecar said that it no longer counts: the source is asked before it is used again.
    pub(crate) async fn spend(&self, credential: &Arc<Credential>) {
        let mut held = self.held.lock().await;
        if held.credential.as_ref().is_some_and(|current| Arc::ptr_eq(current, credential)) {
            held.spent = self.source.is_asked();
        }
    }

    async fn get(&self, now: UnixTime) -> Result<Credential, NoCredential> {
        let text = self.source.text(now).await?;
        Ok(Credential::new(self.format, &text, self.stated.clone(), self.bound.clone())?)
    }
}

impl Held {
    /// A file is read when it looks otherwise; another source is asked when the end is near.
    fn is_due(&self, source: &Source, stamp: Option<Stamp>, now: Now) -> bool {
        let (Some(credential), Some(got_at)) = (&self.credential, self.got_at) else { return true };
        if !source.is_asked() {
            return stamp != self.stamp;
        }
        let end_is_near = match credential.ends() {
            Some(ends) => ends.since(now.wall) <= margin(ends.since(got_at.wall)).as_secs(),
            None => now.monotonic.since(got_at.monotonic) >= REFRESH_EVERY,
        };
        self.spent || end_is_near
    }

    fn living(&self, now: UnixTime) -> Option<Arc<Credential>> {
        let credential = self.credential.as_ref()?;
        credential.ends().is_none_or(|ends| now < ends).then(|| Arc::clone(credential))
    }
}

fn margin(life: u64) -> Duration {
    Duration::from_secs((life / 10).min(REFRESH_BEFORE_SECONDS))
}

#[cfg(test)]
mod tests;
