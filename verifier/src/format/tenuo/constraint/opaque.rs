//! Constraints that are not evaluated: their form is checked, so that a chain that carries them can be judged.

use std::net::{Ipv4Addr, Ipv6Addr};

use pact_mandate::cbor::{Kind, Reader};

use super::Opaque;
use crate::format::tenuo::{
    fault::{FormFault, Misformed},
    fields::Fields,
};

/// Reads the content of a constraint of type `id`.
pub(super) fn read(reader: &mut Reader<'_>, id: u8) -> Result<Opaque, FormFault> {
    let start = reader.position();
    let kind = match id {
        5 => Fields::read(reader, 1, |fields| fields.next("pattern", Reader::text)).map(|_| "Regex")?,
        9 => read_url_pattern(reader).map(|()| "UrlPattern")?,
        15 => read_cel(reader).map(|()| "Cel")?,
        18 => read_url_safe(reader).map(|()| "UrlSafe")?,
        128 => Fields::read(reader, 1, |fields| fields.next("allow", read_texts)).map(|_| "Shlex")?,
        _ => reader.skip().map(|()| "unknown")?,
    };
    Ok(Opaque { kind, id, content: reader.since(start).into() })
}

impl Opaque {
    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// Of a type that did not exist when this was written: nobody here can say that two of them are the same.
    pub(super) fn is_unknown(&self) -> bool {
        self.kind == "unknown"
    }
}

fn read_cel(reader: &mut Reader<'_>) -> Result<(), FormFault> {
    Fields::read_any(reader, |fields, count| {
        fields.next("expression", Reader::text)?;
        if count == 1 {
            return Ok(());
        }
        fields.next("parent_expression", Reader::text)?;
        if count == 2 { Ok(()) } else { Err(fields.error("one or two members").into()) }
    })
}

fn read_url_safe(reader: &mut Reader<'_>) -> Result<(), FormFault> {
    Fields::read(reader, 9, |fields| {
        fields.next("schemes", read_texts)?;
        for name in ["allow_domains", "deny_domains"] {
            let domains = fields.next(name, |reader| optional(reader, read_texts))?.unwrap_or_default();
            if !domains.into_iter().all(is_domain) {
                return Err(Misformed::Domain.into());
            }
        }
        fields.next("allow_ports", |reader| optional(reader, read_ports))?;
        for name in
            ["block_private", "block_loopback", "block_metadata", "block_reserved", "block_internal_tlds"]
        {
            fields.next(name, Reader::bool)?;
        }
        Ok(())
    })
}

fn read_texts<'a>(reader: &mut Reader<'a>) -> Result<Vec<&'a str>, FormFault> {
    reader.array(|reader, count| (0..count).map(|_| Ok(reader.text()?)).collect())
}

fn read_ports(reader: &mut Reader<'_>) -> Result<(), FormFault> {
    reader.array(|reader, count| (0..count).try_for_each(|_| Ok(reader.unsigned_as::<u16>().map(|_| ())?)))
}

fn optional<'a, T>(
    reader: &mut Reader<'a>,
    value: impl FnOnce(&mut Reader<'a>) -> Result<T, FormFault>,
) -> Result<Option<T>, FormFault> {
    if reader.kind()? == Kind::Null { Ok(reader.null().map(|()| None)?) } else { value(reader).map(Some) }
}

fn read_url_pattern(reader: &mut Reader<'_>) -> Result<(), FormFault> {
    if is_url_pattern(reader.text()?) { Ok(()) } else { Err(Misformed::UrlPattern.into()) }
}

/// `scheme://host[:port][/path]`, the scheme `*` or a name, the host a plain domain or one after `*.`.
fn is_url_pattern(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let (authority, path) = rest.find('/').map_or((rest, ""), |slash| rest.split_at(slash));
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let scheme_holds = scheme == "*"
        || (scheme.starts_with(|c: char| c.is_ascii_lowercase())
            && scheme.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()));
    let port_holds =
        port.is_none_or(|port| port.parse::<u16>().is_ok_and(|number| number.to_string() == port));
    let path_holds = path.bytes().all(|b| b.is_ascii_alphanumeric() || b"/*-._~".contains(&b));
    scheme_holds && is_name(host.strip_prefix("*.").unwrap_or(host)) && port_holds && path_holds
}

/// A host, or one after `*.`; an address only whole.
fn is_domain(text: &str) -> bool {
    let bracketed = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    is_name(text.strip_prefix("*.").unwrap_or(text))
        || text.parse::<Ipv4Addr>().is_ok()
        || bracketed.is_some_and(|inner| inner.parse::<Ipv6Addr>().is_ok())
}

/// A host name in lower-case ASCII whose last label starts with a letter, so that nobody takes it for an address.
fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
            && !label.contains("--")
    };
    let last = text.rsplit('.').next().unwrap_or_default();
    text.len() <= 253 && text.split('.').all(label) && last.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_patterns_are_plain() {
        for good in ["https://api.example.com/v1/*", "*://example.com", "https://*.example.com:8443/api/*"] {
            assert!(is_url_pattern(good), "{good}");
        }
        for bad in [
            "https://*",
            "https://*/*",
            "example.com",
            "https://1.2.3.4",
            "https://a:99999",
            "https://a b/",
            "://a",
        ] {
            assert!(!is_url_pattern(bad), "{bad}");
        }
    }

    #[test]
    fn domains_are_hosts_or_addresses() {
        for good in ["example.com", "*.example.com", "169.254.169.254", "[::1]"] {
            assert!(is_domain(good), "{good}");
        }
        for bad in ["", "*", "*.*.com", "*.1.2.3.4", "a..b", "exa mple.com", "EXAMPLE.com", "xn--a"] {
            assert!(!is_domain(bad), "{bad}");
        }
    }
}
