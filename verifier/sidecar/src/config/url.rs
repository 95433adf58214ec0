//! URLs of the configuration: absolute, `http` or `https`, nothing hidden in them.

use std::fmt;

use http::Uri;

/// An absolute URL with a host and a path; no user, no query, no fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HttpUrl(Uri);

/// A text that is no such URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an http:// or https:// URL with a host, without user, query or fragment")]
pub struct UrlError;

impl HttpUrl {
    pub(crate) fn parse(text: &str) -> Result<HttpUrl, UrlError> {
        let uri: Uri = text.parse().map_err(|_| UrlError)?;
        let known = matches!(uri.scheme_str(), Some("http" | "https"));
        let plain = !text.contains(['#', '?', '@', '\\']);
        let host = uri.host().is_some_and(|host| !host.is_empty());
        if known && plain && host { Ok(HttpUrl(uri)) } else { Err(UrlError) }
    }

    /// For a request.
    pub fn uri(&self) -> &Uri {
        &self.0
    }

    /// Scheme, host and port, as a browser names the page that it shows from there.
    pub fn origin(&self) -> String {
        let scheme = self.0.scheme_str().unwrap_or_default();
        format!("{scheme}://{}", self.0.authority().map_or("", |authority| authority.as_str()))
    }

    /// The path, `/` at the least.
    pub fn path(&self) -> &str {
        self.0.path()
    }
}

impl fmt::Display for HttpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_absolute_urls_pass() {
        assert_eq!(HttpUrl::parse("https://tools.example.org/mcp").unwrap().path(), "/mcp");
        assert_eq!(HttpUrl::parse("http://[::1]:8080").unwrap().path(), "/");
        assert_eq!(HttpUrl::parse("http://[::1]:8080/a/b").unwrap().origin(), "http://[::1]:8080");
        for bad in [
            "",
            "/mcp",
            "ftp://a/",
            "http:///mcp",
            "http://u@h/",
            "http://h/?q",
            "http://h/#f",
            "file:///etc/passwd",
        ] {
            assert!(HttpUrl::parse(bad).is_err(), "{bad}");
        }
    }
}
