//! The names under which a port answers. A page whose own name was made to point here (DNS rebinding) sends that name.

use http::{HeaderMap, header};

use crate::{config::HttpUrl, fault::ShapeFault};

/// What `Host` may say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hosts {
    named: Vec<String>,
    /// Whether the machine's own names count: what only this machine can reach is reached by them.
    loopback: bool,
    any: bool,
}

impl Hosts {
    /// The audience's host, the ones that the operator names, and on a loopback address this machine's own names.
    pub(crate) fn new(audience: &HttpUrl, more: &[String], loopback: bool) -> Hosts {
        let own = audience.uri().host().into_iter().map(str::to_owned);
        let named = own.chain(more.iter().cloned()).map(|name| name.to_ascii_lowercase()).collect();
        Hosts { named, loopback, any: more.iter().any(|name| name == "*") }
    }

    /// Whatever only this machine can reach answers to this machine's names alone; anything else to every name.
    pub(crate) fn of_admin(loopback: bool) -> Hosts {
        Hosts { named: Vec::new(), loopback, any: !loopback }
    }

    /// Refuses a request that names another host, or none.
    pub(crate) fn check(&self, headers: &HeaderMap) -> Result<(), ShapeFault> {
        let said = headers.get(header::HOST).and_then(|value| value.to_str().ok());
        let is_ours = said.is_some_and(|said| self.answers_to(said));
        if self.any || is_ours { Ok(()) } else { Err(ShapeFault::HostNotAllowed) }
    }

    fn answers_to(&self, said: &str) -> bool {
        let said = said.to_ascii_lowercase();
        let host = without_port(&said);
        // A name that stands with its port counts with that port alone.
        let is_named = self.named.iter().any(|name| *name == said || *name == host);
        is_named || (self.loopback && matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
    }
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn check(hosts: &Hosts, said: &str) -> bool {
        let headers = HeaderMap::from_iter([(header::HOST, HeaderValue::from_str(said).unwrap())]);
        hosts.check(&headers).is_ok()
    }

    #[test]
    fn attack_42_only_the_names_of_this_place_are_answered() {
        let audience = HttpUrl::parse("https://tools.example.org/mcp").unwrap();
        let public =
            Hosts::new(&audience, &["tools.internal:8443".to_owned(), "[2001:db8::1]".to_owned()], false);
        for good in [
            "tools.example.org",
            "Tools.Example.Org",
            "tools.example.org:443",
            "tools.internal:8443",
            "[2001:db8::1]:8080",
            "[2001:db8::1]",
        ] {
            assert!(check(&public, good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "tools.example.org.evil.example",
            "tools.example.org.",
            "evil.example:tools.example.org",
            "tools.internal",
            "tools.internal:80",
            "localhost",
            "127.0.0.1",
            "tools.example.org:80@evil.example",
            "tools.example.org:x",
        ] {
            assert!(!check(&public, bad), "{bad}");
        }
        assert!(public.check(&HeaderMap::new()).is_err(), "absence is not a name");
        let local = Hosts::new(&audience, &[], true);
        assert!(
            check(&local, "localhost:8080") && check(&local, "127.0.0.1:1") && check(&local, "[::1]:8080")
        );
        assert!(!check(&local, "rebound.example:8080"));
    }

    #[test]
    fn the_admin_port_answers_pages_of_nobody_where_only_this_machine_reaches_it() {
        assert!(
            check(&Hosts::of_admin(true), "localhost:9090") && !check(&Hosts::of_admin(true), "evil.example")
        );
        assert!(check(&Hosts::of_admin(false), "sidecar.tools.svc:9090"));
    }

    #[test]
    fn a_proxy_that_rewrites_the_name_is_an_explicit_word_of_the_operator() {
        let audience = HttpUrl::parse("https://tools.example.org/mcp").unwrap();
        let any = Hosts::new(&audience, &["*".to_owned()], false);
        assert!(check(&any, "whatever") && any.check(&HeaderMap::new()).is_ok());
    }
}
