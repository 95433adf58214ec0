//! Who may come in: asked before anything else of a request is looked at. A page in a browser can send requests to this
//! machine, under a name of its own that it made point here; neither the name nor the page's origin is ours, and it does not
//! know the secret.

use std::net::SocketAddr;

use http::{HeaderMap, HeaderName, header, request::Parts};

use super::{fault::Fault, secret::Secret};

const PATH: &str = "/mcp";

/// The looks that a request must stand.
#[derive(Debug)]
pub(super) struct Door {
    /// The names that `Host` may say; a socket in the file system has none that anybody could make point elsewhere.
    hosts: Option<Vec<String>>,
    secret: Option<Secret>,
    origins: Vec<String>,
}

impl Door {
    /// The secret is missing only where a socket's mode stands in for it.
    pub(super) fn new(address: Option<SocketAddr>, secret: Option<Secret>, origins: Vec<String>) -> Door {
        let hosts = address.map(|address| vec![address.to_string(), format!("localhost:{}", address.port())]);
        Door { hosts, secret, origins }
    }

    /// Lets a request in, or says why not.
    pub(super) fn admit(&self, head: &Parts) -> Result<(), Fault> {
        self.check_host(head)?;
        self.check_origin(&head.headers)?;
        self.check_path(head)
    }

    fn check_host(&self, head: &Parts) -> Result<(), Fault> {
        let Some(hosts) = &self.hosts else { return Ok(()) };
        let said = single(&head.headers, &header::HOST, "Host")?.unwrap_or_default();
        let is_plain = head.uri.scheme().is_none() && head.uri.authority().is_none();
        if is_plain && hosts.iter().any(|host| host.eq_ignore_ascii_case(said)) {
            Ok(())
        } else {
            Err(Fault::HostNotAllowed)
        }
    }

    fn check_origin(&self, headers: &HeaderMap) -> Result<(), Fault> {
        match single(headers, &header::ORIGIN, "Origin")? {
            Some(said) if !self.origins.iter().any(|origin| origin == said) => Err(Fault::OriginNotAllowed),
            _ => Ok(()),
        }
    }

    /// `/mcp`, or `/SECRET/mcp`. With a secret in both places, that of the path counts.
    fn check_path(&self, head: &Parts) -> Result<(), Fault> {
        let bearer = bearer(&head.headers)?;
        if head.uri.query().is_some() {
            return Err(Fault::NoSuchPath);
        }
        let path = head.uri.path();
        let in_path = path.strip_suffix(PATH).map(|rest| rest.strip_prefix('/').unwrap_or(rest));
        let Some(in_path) = in_path.filter(|said| !said.contains('/')) else { return Err(Fault::NoSuchPath) };
        match &self.secret {
            None if in_path.is_empty() => Ok(()),
            None => Err(Fault::NoSuchPath),
            Some(secret) => {
                let said = if in_path.is_empty() { bearer.unwrap_or_default() } else { in_path };
                if secret.is(said) { Ok(()) } else { Err(Fault::SecretWrong) }
            }
        }
    }
}

fn bearer(headers: &HeaderMap) -> Result<Option<&str>, Fault> {
    let said = single(headers, &header::AUTHORIZATION, "Authorization")?;
    Ok(said.and_then(|said| {
        let (scheme, rest) = said.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then_some(rest.trim())
    }))
}

/// The value of a header that must not be repeated.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    header: &HeaderName,
    name: &'static str,
) -> Result<Option<&'a str>, Fault> {
    let mut values = headers.get_all(header).iter();
    let Some(first) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Fault::HeaderBroken(name));
    }
    first.to_str().map(Some).map_err(|_| Fault::HeaderBroken(name))
}
