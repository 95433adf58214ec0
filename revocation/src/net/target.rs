//! What is watched, and where.

use std::{fmt, net::IpAddr, str::FromStr, sync::Arc};

use pact_mandate::{Format, IssuerId, jwks::KeySet};
use reqwest::Url;

use crate::{held::Held, name::BodyName};

/// One list of one issuer to watch.
#[derive(Clone, Debug)]
pub struct Target {
    /// Whose list.
    pub issuer: IssuerId,
    /// Which list: our own (`Pact`) or a compatible one.
    pub kind: Format,
    /// Where its head, or the compatible list, is.
    pub url: ListUrl,
    /// The keys pinned for it: list keys for our own list, mandate keys for a compatible one (protocol K1).
    pub keys: KeySet,
    /// The list that was held of this issuer when another watch ended, in this process.
    pub before: Option<Arc<Held>>,
}

/// An address that lists are fetched from: https, or http to this very machine; no user, password, query or fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct ListUrl(Url);

/// A text that is no such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Not a URL.
    #[error("not an absolute URL")]
    NotAUrl,
    /// Somebody on the way could hold answers back unseen.
    #[error("lists are fetched over https, or over http from a loopback address")]
    NotSecure,
    /// Secrets or parts that a list's address does not have.
    #[error("the address of a list has no user, password, query or fragment")]
    Extra,
}

impl ListUrl {
    /// Where a redirect from here leads; `None` unless it stays with the same scheme, host and port.
    pub(crate) fn redirected(&self, location: &str) -> Option<ListUrl> {
        let to = self.0.join(location).ok()?;
        let same_origin = to.origin() == self.0.origin();
        ListUrl::try_from(to).ok().filter(|_| same_origin)
    }

    /// Where a body or delta is: below the head.
    pub(crate) fn below(&self, name: &BodyName) -> ListUrl {
        let mut url = self.0.clone();
        let path = format!("{}/{name}", url.path().trim_end_matches('/'));
        url.set_path(&path);
        ListUrl(url)
    }

    pub(crate) fn url(&self) -> &Url {
        &self.0
    }
}

impl TryFrom<Url> for ListUrl {
    type Error = UrlError;

    fn try_from(url: Url) -> Result<ListUrl, UrlError> {
        let extra = !url.username().is_empty()
            || url.password().is_some()
            || url.query().is_some()
            || url.fragment().is_some();
        if extra {
            return Err(UrlError::Extra);
        }
        match url.scheme() {
            "https" => Ok(ListUrl(url)),
            "http" if is_loopback(&url) => Ok(ListUrl(url)),
            _ => Err(UrlError::NotSecure),
        }
    }
}

fn is_loopback(url: &Url) -> bool {
    let Some(host) = url.host_str() else { return false };
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

impl FromStr for ListUrl {
    type Err = UrlError;

    fn from_str(text: &str) -> Result<ListUrl, UrlError> {
        ListUrl::try_from(Url::parse(text).map_err(|_| UrlError::NotAUrl)?)
    }
}

impl fmt::Display for ListUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for ListUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ListUrl({})", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_https_or_this_machine() {
        for good in
            ["https://a.example/x", "http://127.0.0.1:80/x", "http://[::1]:80/x", "http://localhost/x"]
        {
            assert!(good.parse::<ListUrl>().is_ok(), "{good}");
        }
        for bad in [
            "http://a.example/x",
            "ftp://127.0.0.1/",
            "x",
            "https://u:p@a/",
            "https://a/?q",
            "https://a/#f",
            "http://127.0.0.1.a.example/",
        ] {
            assert!(bad.parse::<ListUrl>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_redirect_stays_with_its_origin() {
        let at: ListUrl = "https://a.example/x/pact".parse().unwrap();
        assert_eq!(at.redirected("/x/pact/").unwrap().to_string(), "https://a.example/x/pact/");
        for away in
            ["http://a.example/x/pact/", "https://b.example/x", "https://a.example:444/x", "//b.example/"]
        {
            assert!(at.redirected(away).is_none(), "{away}");
        }
    }
}
