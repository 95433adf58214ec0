//! Where a server is: https, or http to this very machine; nothing hidden in it.

use std::{fmt, net::IpAddr, str::FromStr};

use reqwest::Url;

/// The address of a server. Two are the same when their texts in normal form are.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamUrl(Url);

/// A text that is no such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL.
    #[error("not an absolute URL")]
    NotAUrl,
    /// Whoever listens on the way would see credentials.
    #[error("neither https, nor http to a loopback address")]
    NotSecure,
    /// Secrets or parts that such an address does not have.
    #[error("with a user, password, query or fragment, which it must not have")]
    Extra,
}

impl UpstreamUrl {
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }
}

impl FromStr for UpstreamUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<UpstreamUrl, UrlError> {
        let url = Url::parse(text).map_err(|_| UrlError::NotAUrl)?;
        if text.contains(['?', '#', '@', '\\']) || !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Extra);
        }
        match url.scheme() {
            "https" => Ok(UpstreamUrl(url)),
            "http" if is_loopback(&url) => Ok(UpstreamUrl(url)),
            _ => Err(UrlError::NotSecure),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UpstreamUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_go_over_https_or_stay_on_this_machine() {
        for good in
            ["https://a.example/mcp", "http://127.0.0.1:80/mcp", "http://[::1]/mcp", "http://localhost/mcp"]
        {
            assert!(good.parse::<UpstreamUrl>().is_ok(), "{good}");
        }
        for bad in [
            "",
            "/mcp",
            "http://a.example/mcp",
            "http://127.0.0.1.a.example/mcp",
            "http://2130706433.example/",
            "ftp://127.0.0.1/",
            "https://u:p@a.example/",
            "https://a.example/?q",
            "https://a.example/#f",
        ] {
            assert!(bad.parse::<UpstreamUrl>().is_err(), "{bad}");
        }
    }
}
