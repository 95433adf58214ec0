//! Which protocol a request is made by. Sessions are of the older ones; where nobody says, the rules of both hold.

use http::{HeaderMap, HeaderName};

use super::{
    Message, agreement,
    revisions::{LEGACY, MODERN, Revisions},
};
use crate::{
    fault::ShapeFault,
    header::{self, MCP_METHOD, MCP_NAME, MCP_VERSION},
};

/// Characters of a revision nobody knows that are repeated to whoever asked for it: a date has ten.
const MAX_REPEATED: usize = 32;
const VERSION_HEADER: &str = "MCP-Protocol-Version";

/// The protocol that a request claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: a session's id says nothing, and its headers must be there.
    Modern,
    /// 2025-11-25 or 2025-06-18.
    Legacy,
    /// Nothing was said: as [`Era::Legacy`].
    Unsaid,
}

impl Era {
    /// By the header alone: of a request without a message.
    pub(crate) fn of_headers(headers: &HeaderMap, served: &Revisions) -> Result<Era, ShapeFault> {
        match header::single(headers, &MCP_VERSION, VERSION_HEADER)? {
            None => Ok(Era::Unsaid),
            Some(version) if !served.contains(version) => Err(unknown(version, served)),
            Some(version) if LEGACY.contains(&version) => Ok(Era::Legacy),
            Some(_) => Ok(Era::Modern),
        }
    }

    /// By header and body, which agree ([`agreement::check`]). A body that claims the newer protocol must have its headers,
    /// and a header that claims it for a request must have its body: whoever reads the one alone reads the same.
    pub(crate) fn of(headers: &HeaderMap, message: &Message, served: &Revisions) -> Result<Era, ShapeFault> {
        let said = Era::of_headers(headers, served)?;
        match agreement::claimed_version(message) {
            Some(version) if !served.contains(version) => Err(unknown(version, served)),
            Some(MODERN) => {
                require(headers, &MCP_VERSION, VERSION_HEADER)?;
                require(headers, &MCP_METHOD, "Mcp-Method")?;
                if agreement::name(message).is_some() {
                    require(headers, &MCP_NAME, "Mcp-Name")?;
                }
                Ok(Era::Modern)
            }
            Some(_) => Ok(Era::Legacy),
            None if said == Era::Modern && message.id().is_some() => {
                Err(ShapeFault::MetaMissing { revision: MODERN, name: agreement::PROTOCOL_VERSION_META })
            }
            None if said == Era::Unsaid && !served.may_be_unsaid() => {
                Err(ShapeFault::HeaderMissing { name: VERSION_HEADER })
            }
            None => Ok(said),
        }
    }

    /// Whether a session's id counts.
    pub(crate) fn has_sessions(self) -> bool {
        self != Era::Modern
    }
}

fn unknown(version: &str, served: &Revisions) -> ShapeFault {
    let requested = version.chars().take(MAX_REPEATED).collect();
    ShapeFault::VersionUnknown { requested, served: served.as_slice().to_vec() }
}

fn require(headers: &HeaderMap, header: &HeaderName, name: &'static str) -> Result<(), ShapeFault> {
    if headers.contains_key(header) { Ok(()) } else { Err(ShapeFault::HeaderMissing { name }) }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;

    fn era(header: Option<&str>, body: Option<&str>, more: bool) -> Result<Era, &'static str> {
        served_era(header, body, more, &Revisions::default())
    }

    fn served_era(
        header: Option<&str>,
        body: Option<&str>,
        more: bool,
        served: &Revisions,
    ) -> Result<Era, &'static str> {
        let mut headers = HeaderMap::new();
        if let Some(version) = header {
            headers.insert(MCP_VERSION, version.parse().unwrap());
        }
        if more {
            headers.insert(MCP_METHOD, "tools/call".parse().unwrap());
            headers.insert(MCP_NAME, "echo".parse().unwrap());
        }
        let meta = body.map_or(String::new(), |version| {
            format!(r#","_meta":{{"io.modelcontextprotocol/protocolVersion":"{version}"}}"#)
        });
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo"{meta}}}}}"#);
        let message = Message::parse(Bytes::from(text)).unwrap();
        agreement::check(&headers, &message)
            .and_then(|()| Era::of(&headers, &message, served))
            .map_err(|f| f.code())
    }

    #[test]
    fn attack_55_the_strictest_rule_holds_where_header_and_body_disagree_or_are_absent() {
        let (new, old) = (Some(MODERN), Some("2025-11-25"));
        assert_eq!(era(new, new, true), Ok(Era::Modern));
        assert_eq!(era(old, None, false), Ok(Era::Legacy));
        assert_eq!(era(None, None, false), Ok(Era::Unsaid));
        assert_eq!(era(old, old, false), Ok(Era::Legacy));
        for (header, body, more, code) in [
            (new, new, false, "header_missing"),
            (None, new, true, "header_missing"),
            (new, None, true, "meta_missing"),
            (old, new, true, "header_mismatch"),
            (new, old, true, "header_mismatch"),
            (Some("2025-06-18"), old, true, "header_mismatch"),
            (Some("2024-11-05"), None, true, "version_unknown"),
            (None, Some("2027-01-01"), true, "version_unknown"),
        ] {
            assert_eq!(era(header, body, more), Err(code), "{header:?} {body:?}");
        }
    }

    #[test]
    fn a_revision_that_the_tool_server_does_not_speak_is_served_to_nobody() {
        let served = |names: &[&str]| {
            Revisions::try_from(names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>()).unwrap()
        };
        let (new, old) = (Some(MODERN), Some("2025-11-25"));
        let modern = served(&[MODERN]);
        assert_eq!(served_era(new, new, true, &modern), Ok(Era::Modern));
        for (header, body, code) in
            [(old, None, "version_unknown"), (old, old, "version_unknown"), (None, None, "header_missing")]
        {
            assert_eq!(served_era(header, body, true, &modern), Err(code), "{header:?} {body:?}");
        }
        let legacy = served(&["2025-11-25"]);
        assert_eq!(served_era(None, None, true, &legacy), Ok(Era::Unsaid));
        assert_eq!(served_era(old, None, true, &legacy), Ok(Era::Legacy));
        assert_eq!(served_era(new, new, true, &legacy), Err("version_unknown"));
        assert_eq!(served_era(Some("2025-06-18"), None, true, &legacy), Err("version_unknown"));
    }
}
