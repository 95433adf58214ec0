//! A credential from its issuer (`pact-issuer serve --reissue`): a signed request, once each time, and no person in between.

use std::{fmt, sync::Arc};

use pact_mandate::{Format, Reissue, ReissueId, UnixTime};
use reqwest::{Client, Response, redirect::Policy};
use serde::Deserialize;

use super::config::ReissueConfig;
use crate::{
    Holder, SignError,
    limits::{CONNECT_TIMEOUT, MAX_CREDENTIAL_BYTES, MAX_TOLD_CHARS, REISSUE_TIMEOUT},
    reissue::sign_reissue,
};

/// Asks one issuer for one mandate's credential.
pub(crate) struct Reissuer {
    config: ReissueConfig,
    format: Format,
    holder: Arc<Holder>,
    client: Client,
}

/// Why the issuer gave none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReissueFault {
    #[error("the issuer at {0} cannot be reached")]
    Unreachable(String),
    #[error("the issuer at {0} broke off, or took longer than {limit:?}", limit = REISSUE_TIMEOUT)]
    Broken(String),
    #[error("the issuer at {url} answered {status}: {told}")]
    Refused { url: String, status: u16, told: String },
    #[error("the issuer at {0} answered something that is no credential of {1}")]
    NotACredential(String, Format),
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    #[error(transparent)]
    Sign(#[from] SignError),
}

#[derive(Deserialize)]
struct Granted {
    format: Format,
    credential: String,
}

#[derive(Deserialize)]
struct Told {
    error: ToldError,
}

#[derive(Deserialize)]
struct ToldError {
    code: String,
    message: String,
}

impl Reissuer {
    /// Connects to nothing yet. The TLS provider must have been installed.
    pub(crate) fn new(
        config: ReissueConfig,
        format: Format,
        holder: Arc<Holder>,
    ) -> Result<Reissuer, reqwest::Error> {
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .retry(reqwest::retry::never())
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(REISSUE_TIMEOUT)
            .user_agent(concat!("pact-holder/", env!("CARGO_PKG_VERSION")))
            .build()?;
        Ok(Reissuer { config, format, holder, client })
    }

    pub(crate) async fn text(&self, now: UnixTime) -> Result<String, ReissueFault> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let ReissueConfig { url, issuer, mandate } = &self.config;
        let id = ReissueId::from_random(random);
        let request = Reissue::new(issuer.clone(), *mandate, self.format, id, now);
        let body = sign_reissue(&self.holder, request)?;
        let sent =
            self.client.post(url.url().clone()).header("content-type", "application/json").body(body).send();
        let response = sent.await.map_err(|error| {
            if error.is_connect() {
                ReissueFault::Unreachable(url.to_string())
            } else {
                ReissueFault::Broken(url.to_string())
            }
        })?;
        let status = response.status();
        let bytes = self.bounded(response).await?;
        if !status.is_success() {
            return Err(ReissueFault::Refused {
                url: url.to_string(),
                status: status.as_u16(),
                told: told(&bytes),
            });
        }
        match serde_json::from_slice::<Granted>(&bytes) {
            Ok(granted) if granted.format == self.format => Ok(granted.credential),
            _ => Err(ReissueFault::NotACredential(url.to_string(), self.format)),
        }
    }

    async fn bounded(&self, mut response: Response) -> Result<Vec<u8>, ReissueFault> {
        let url = || self.config.url.to_string();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|_| ReissueFault::Broken(url()))? {
            if bytes.len().saturating_add(chunk.len()) > MAX_CREDENTIAL_BYTES {
                return Err(ReissueFault::NotACredential(url(), self.format));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }
}

/// What the issuer says, as far as a person can read it.
fn told(bytes: &[u8]) -> String {
    let Ok(Told { error }) = serde_json::from_slice::<Told>(bytes) else {
        return "nothing that says why".to_owned();
    };
    let text = format!("{} ({})", error.message, error.code);
    text.chars().filter(|c| !c.is_control()).take(MAX_TOLD_CHARS).collect()
}

impl fmt::Debug for Reissuer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reissuer")
            .field("config", &self.config)
            .field("format", &self.format)
            .finish_non_exhaustive()
    }
}
