//! Why a proof of RFC 9449 is refused: one reason for each claim.

use pact_mandate::{canonical::CanonicalError, json::JsonError};

use crate::{
    limits::{FUTURE_SKEW_SECONDS, MAX_DPOP_BYTES, MAX_JTI_BYTES, PROOF_LIFETIME_SECONDS},
    refusal::Class,
};

/// Why such a proof is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DpopFault {
    /// Longer than the bound.
    #[error("the DPoP proof is longer than {MAX_DPOP_BYTES} bytes")]
    TooLarge,
    /// Not a compact JWS of two JSON objects and a 64-byte signature.
    #[error("the DPoP proof is not a compact JWS (three parts of base64url without padding)")]
    NotJws,
    /// A part that is not strict JSON.
    #[error("a part of the DPoP proof is not JSON: {0}")]
    NotJson(JsonError),
    /// A member that P4 does not have.
    #[error(
        "the DPoP proof has a member of its own at byte {at} of a part; header and claims are closed sets"
    )]
    UnknownMember {
        /// Where in its part.
        at: usize,
    },
    /// An answer to a challenge that we never gave.
    #[error("the DPoP proof has a nonce, but none is ever asked for here")]
    Nonce,
    /// A member that P4 requires is not there.
    #[error("the DPoP proof has no {member}")]
    Missing {
        /// Which.
        member: &'static str,
    },
    /// A member that must be a string.
    #[error("{member} of the DPoP proof is not a string")]
    NotAText {
        /// Which.
        member: &'static str,
    },
    /// `typ`.
    #[error("typ of the DPoP proof is not dpop+jwt")]
    Type,
    /// `alg`.
    #[error("alg of the DPoP proof is not EdDSA")]
    Algorithm,
    /// `jwk` is no public Ed25519 key in its plain form.
    #[error("jwk of the DPoP proof is not a plain Ed25519 key (kty OKP, crv Ed25519, x)")]
    Key,
    /// `jwk` holds a secret.
    #[error("jwk of the DPoP proof has private members; treat that key as stolen")]
    PrivateKey,
    /// `jwk` is not the token's holder.
    #[error("jwk of the DPoP proof is not the token's holder")]
    NotTheHolder,
    /// The signature.
    #[error("the DPoP proof's signature is not the holder's")]
    Signature,
    /// `htm`.
    #[error("htm of the DPoP proof is not the method of its request")]
    Method,
    /// `htu`.
    #[error("htu of the DPoP proof is not this sidecar's configured public URL")]
    Target,
    /// `ath`.
    #[error("ath of the DPoP proof is not the hash of the token's text as sent")]
    Token,
    /// `jti`.
    #[error("jti of the DPoP proof is not 1 to {MAX_JTI_BYTES} bytes")]
    Id,
    /// `iat` is no whole number of seconds.
    #[error("iat of the DPoP proof is not a whole number of seconds since 1970")]
    NotATime,
    /// `iat` is too long ago.
    #[error(
        "the DPoP proof is {seconds} s old; at most {PROOF_LIFETIME_SECONDS} s count. Make one for each call"
    )]
    TooOld {
        /// How old.
        seconds: u64,
    },
    /// `iat` is ahead of our clock.
    #[error(
        "the DPoP proof lies {seconds} s ahead; at most {FUTURE_SKEW_SECONDS} s count. Compare the clocks"
    )]
    FromTheFuture {
        /// How far.
        seconds: u64,
    },
    /// `pact_tool`.
    #[error("pact_tool of the DPoP proof is not the tool that is called")]
    Tool,
    /// `pact_args`.
    #[error("pact_args of the DPoP proof is not the hash of the arguments")]
    Arguments,
    /// `pact_params`.
    #[error("pact_params of the DPoP proof is not the hash of the request's other members")]
    Params,
    /// P2: an argument whose name begins with `@`.
    #[error("an argument's name begins with '@', which no argument's may")]
    ReservedArgument,
    /// Arguments without canonical bytes.
    #[error("the arguments have no canonical form: {0}")]
    NotCanonical(CanonicalError),
}

impl DpopFault {
    /// The stable code.
    pub fn code(&self) -> &'static str {
        match self {
            DpopFault::TooLarge => "dpop_too_large",
            DpopFault::NotJws => "dpop_not_jws",
            DpopFault::NotJson(_) => "dpop_not_json",
            DpopFault::UnknownMember { .. } => "dpop_unknown_member",
            DpopFault::Nonce => "dpop_nonce",
            DpopFault::Missing { .. } => "dpop_missing",
            DpopFault::NotAText { .. } => "dpop_not_a_text",
            DpopFault::Type => "dpop_typ",
            DpopFault::Algorithm => "dpop_alg",
            DpopFault::Key => "dpop_jwk",
            DpopFault::PrivateKey => "dpop_private_key",
            DpopFault::NotTheHolder => "dpop_not_the_holder",
            DpopFault::Signature => "dpop_signature",
            DpopFault::Method => "dpop_htm",
            DpopFault::Target => "dpop_htu",
            DpopFault::Token => "dpop_ath",
            DpopFault::Id => "dpop_jti",
            DpopFault::NotATime => "dpop_iat",
            DpopFault::TooOld { .. } => "dpop_too_old",
            DpopFault::FromTheFuture { .. } => "dpop_from_the_future",
            DpopFault::Tool => "dpop_tool",
            DpopFault::Arguments => "dpop_arguments",
            DpopFault::Params => "dpop_params",
            DpopFault::ReservedArgument => "dpop_reserved_argument",
            DpopFault::NotCanonical(_) => "dpop_not_canonical",
        }
    }

    /// Whose fault it is.
    pub fn class(&self) -> Class {
        match self {
            DpopFault::TooLarge
            | DpopFault::NotJws
            | DpopFault::NotJson(_)
            | DpopFault::ReservedArgument
            | DpopFault::NotCanonical(_) => Class::Malformed,
            _ => Class::Unauthenticated,
        }
    }

    /// The rule that was broken.
    pub fn rule(&self) -> &'static str {
        match self {
            DpopFault::ReservedArgument => "P2",
            _ => "P4",
        }
    }
}
