//! Proof of possession: that the caller holds the leaf's key, for this very call (protocol P).

pub mod dpop;
pub mod tenuo;

use std::{fmt, str::FromStr};

use pact_mandate::{
    Json, PublicKey, Signature, UnixTime,
    canonical::{self, CanonicalError},
    json::Member,
};

use crate::{limits::MAX_AUDIENCE_BYTES, refusal::Class};

/// The proof as it came with a call.
#[derive(Clone, PartialEq, Eq)]
pub enum PresentedProof {
    /// Tenuo's signature; `fresh` are the members of protocol P1, absent with a stock client (P3).
    Tenuo {
        /// The holder's signature.
        signature: Signature,
        /// `@id` and `@iat`.
        fresh: Option<FreshProof>,
    },
    /// A DPoP proof (P4): the compact JWS.
    Dpop(String),
    /// None.
    Missing,
}

/// What `_meta["pact/proof"]` carries beside a Tenuo signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FreshProof {
    /// 16 random bytes.
    pub id: [u8; 16],
    /// When the holder made it.
    pub issued_at: UnixTime,
}

/// The sidecar's public URL, as both sides have it configured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience(String);

/// A proof that held: what single use is recorded under (protocol P6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProvenBy {
    /// The key that proved possession.
    pub(crate) holder: PublicKey,
    /// SHA-256 of the signed bytes (DPoP: of `jti`).
    pub(crate) id: [u8; 32],
    /// `iat`, or the start of a stock proof's window.
    pub(crate) made_at: UnixTime,
    /// The first second at which the same proof would be refused for its age.
    pub(crate) ends_at: UnixTime,
}

/// Why a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProofFault {
    /// A DPoP proof.
    #[error(transparent)]
    Dpop(#[from] dpop::DpopFault),
    /// A Tenuo proof.
    #[error(transparent)]
    Tenuo(#[from] tenuo::TenuoProofFault),
}

/// A text that cannot be an audience.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an audience is the public URL of the sidecar: http:// or https://, then a host, at most {MAX_AUDIENCE_BYTES} \
     printable ASCII characters, no query and no fragment"
)]
pub struct NotAnAudience;

impl fmt::Debug for PresentedProof {
    /// Which kind, and nothing of it: until it is used up, whoever reads a proof can use it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PresentedProof::Tenuo { fresh: Some(_), .. } => "PresentedProof(tenuo)",
            PresentedProof::Tenuo { fresh: None, .. } => "PresentedProof(tenuo, stock)",
            PresentedProof::Dpop(_) => "PresentedProof(dpop)",
            PresentedProof::Missing => "PresentedProof(missing)",
        })
    }
}

impl Audience {
    /// The URL's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Audience {
    type Err = NotAnAudience;

    /// Takes the URL as it stands: both sides compare texts, so nothing is normalised.
    fn from_str(text: &str) -> Result<Audience, NotAnAudience> {
        let rest =
            text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).ok_or(NotAnAudience)?;
        let named = rest.bytes().next().is_some_and(|first| first != b'/');
        let plain = text.bytes().all(|b| b.is_ascii_graphic() && !matches!(b, b'?' | b'#' | b'"' | b'\\'));
        if named && plain && text.len() <= MAX_AUDIENCE_BYTES {
            Ok(Audience(text.to_owned()))
        } else {
            Err(NotAnAudience)
        }
    }
}

impl ProofFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            ProofFault::Dpop(fault) => fault.code(),
            ProofFault::Tenuo(fault) => fault.code(),
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            ProofFault::Dpop(fault) => fault.class(),
            ProofFault::Tenuo(fault) => fault.class(),
        }
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            ProofFault::Dpop(fault) => fault.rule(),
            ProofFault::Tenuo(fault) => fault.rule(),
        }
    }
}

/// What a proof covers of a request beside the arguments (protocol P1, P4: `@params`, `pact_params`): the SHA-256 of the
/// canonical JSON of `{"method":…,"params":…}`, `params` being the object without its `_meta` and `arguments`.
pub fn params_digest(method: &str, params: &Json) -> Result<[u8; 32], CanonicalError> {
    let kept = params.members().unwrap_or_default().iter();
    let kept = kept.filter(|member| !matches!(member.name.as_str(), "_meta" | "arguments"));
    let request = Json::Object(vec![
        Member::new("method", Json::String(method.to_owned())),
        Member::new("params", Json::Object(kept.cloned().collect())),
    ]);
    canonical::digest(&request)
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    #[test]
    fn p1_the_params_digest_covers_all_but_meta_and_arguments() {
        let digest =
            |params: &str| params_digest("tools/call", &Json::parse(params.as_bytes()).unwrap()).unwrap();
        let whole = digest(r#"{"name":"read","task":{"ttl":1},"arguments":{"a":1},"_meta":{"x":2}}"#);
        let written = r#"{"method":"tools/call","params":{"name":"read","task":{"ttl":1}}}"#;
        assert_eq!(whole, <[u8; 32]>::from(Sha256::digest(written)));
        assert_eq!(whole, digest(r#"{"task":{"ttl":1},"name":"read","arguments":{},"_meta":{}}"#));
        assert_ne!(whole, digest(r#"{"name":"read","task":{"ttl":2},"arguments":{"a":1}}"#));
    }

    #[test]
    fn p1_an_audience_is_a_plain_url() {
        for good in ["https://tools.example.org/mcp", "http://127.0.0.1:8080/mcp", "https://example.org"] {
            assert_eq!(good.parse::<Audience>().unwrap().as_str(), good);
        }
        for bad in [
            "",
            "example.org",
            "https://",
            "https:///mcp",
            "https://a b",
            "https://a?x",
            "https://a#x",
            "ftp://a",
        ] {
            assert_eq!(bad.parse::<Audience>(), Err(NotAnAudience), "{bad}");
        }
    }
}
