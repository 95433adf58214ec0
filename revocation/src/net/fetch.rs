//! One HTTP fetch: bounded in bytes, time and redirects.

use std::{fmt, time::Duration};

use bytes::Bytes;
use http::{StatusCode, header};
use reqwest::{Client, Response, redirect::Policy};

use super::target::ListUrl;

/// The bounds of a fetch.
#[derive(Clone, Copy, Debug)]
pub struct FetchLimits {
    /// From the request to the last byte of the answer.
    pub timeout: Duration,
    /// To connect.
    pub connect_timeout: Duration,
    /// How many redirects are followed, each to the same origin.
    pub redirects: usize,
}

/// Fetches. Cheap to clone; keeps connections open.
#[derive(Clone)]
pub struct Fetcher {
    client: Client,
    limits: FetchLimits,
}

/// An answer.
#[derive(Clone, Debug)]
pub enum Fetched {
    /// Nothing new since the entity tag that was sent.
    NotModified,
    /// The content.
    Content {
        /// All of it.
        bytes: Bytes,
        /// The entity tag, to be sent the next time.
        etag: Option<String>,
    },
}

/// Why there is no content.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The client could not be made: no TLS provider is installed, most likely.
    #[error("the HTTP client: {0}")]
    Client(reqwest::Error),
    /// No answer, or one that broke off.
    #[error("{url}: {}", innermost(source))]
    Transport {
        /// What was asked.
        url: ListUrl,
        /// What went wrong.
        source: reqwest::Error,
    },
    /// An answer that is neither 200 nor 304 nor a redirect.
    #[error("{url} answered {status}")]
    Status {
        /// What was asked.
        url: ListUrl,
        /// The status.
        status: StatusCode,
    },
    /// Longer than expected.
    #[error("{url} answered with more than {limit} bytes")]
    TooLarge {
        /// What was asked.
        url: ListUrl,
        /// The bound.
        limit: u64,
    },
    /// A redirect to another origin, to nowhere, or one too many.
    #[error("{url} redirects to another origin or too often")]
    Redirect {
        /// Where the last redirect came from.
        url: ListUrl,
    },
}

impl Default for FetchLimits {
    fn default() -> FetchLimits {
        // A fetch that takes longer than the interval of fetches helps nobody (protocol R2).
        FetchLimits { timeout: Duration::from_secs(9), connect_timeout: Duration::from_secs(3), redirects: 2 }
    }
}

impl Fetcher {
    /// A fetcher. The TLS provider must have been installed (`rustls::crypto::ring::default_provider().install_default()`).
    pub fn new(limits: FetchLimits) -> Result<Fetcher, FetchError> {
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(limits.timeout)
            .connect_timeout(limits.connect_timeout)
            .user_agent(concat!("pact-revocation/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(FetchError::Client)?;
        Ok(Fetcher { client, limits })
    }

    /// Fetches at most `limit` bytes, unless they are still those of `etag`.
    pub async fn fetch(&self, url: &ListUrl, limit: u64, etag: Option<&str>) -> Result<Fetched, FetchError> {
        let mut url = url.clone();
        for _ in 0..=self.limits.redirects {
            let response = self.ask(&url, etag).await?;
            let status = response.status();
            if status == StatusCode::NOT_MODIFIED && etag.is_some() {
                return Ok(Fetched::NotModified);
            }
            if status == StatusCode::OK {
                return read(&url, response, limit).await;
            }
            if !status.is_redirection() {
                return Err(FetchError::Status { url, status });
            }
            let location = response.headers().get(header::LOCATION).and_then(|to| to.to_str().ok());
            match location.and_then(|to| url.redirected(to)) {
                Some(next) => url = next,
                None => return Err(FetchError::Redirect { url }),
            }
        }
        Err(FetchError::Redirect { url })
    }

    async fn ask(&self, url: &ListUrl, etag: Option<&str>) -> Result<Response, FetchError> {
        let mut request = self.client.get(url.url().clone());
        if let Some(etag) = etag {
            request = request.header(header::IF_NONE_MATCH, etag);
        }
        request
            .send()
            .await
            .map_err(|source| FetchError::Transport { url: url.clone(), source: source.without_url() })
    }
}

/// Reads as it comes and stops at the byte that is one too many, whatever `content-length` says.
async fn read(url: &ListUrl, mut response: Response, limit: u64) -> Result<Fetched, FetchError> {
    let too_large = || FetchError::TooLarge { url: url.clone(), limit };
    if response.content_length().is_some_and(|length| length > limit) {
        return Err(too_large());
    }
    let etag = response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
    let mut bytes = Vec::new();
    let broke_off =
        |source: reqwest::Error| FetchError::Transport { url: url.clone(), source: source.without_url() };
    while let Some(chunk) = response.chunk().await.map_err(broke_off)? {
        let length = bytes.len().saturating_add(chunk.len());
        if u64::try_from(length).map_or(true, |length| length > limit) {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(Fetched::Content { bytes: bytes.into(), etag })
}

/// The cause at the bottom: "connection refused" says more than "error sending request".
fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}

impl FetchError {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            FetchError::Client(_) => "fetch_client",
            FetchError::Transport { .. } => "fetch_transport",
            FetchError::Status { .. } => "fetch_status",
            FetchError::TooLarge { .. } => "fetch_too_large",
            FetchError::Redirect { .. } => "fetch_redirect",
        }
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher").field("limits", &self.limits).finish_non_exhaustive()
    }
}
