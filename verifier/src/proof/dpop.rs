//! Proofs of RFC 9449 (protocol P4): a compact JWS that the holder signs for one call.
//!
//! Header and claims are closed sets. A server nonce is never given out, so a proof with `nonce` answers somebody
//! else's challenge; `exp`, `nbf` and whatever else a client might add would be promises that nobody here keeps. All
//! of them are refused, as is any member of the header beside `typ`, `alg` and `jwk` (`crit` and `b64` among them).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{
    Asked, Json, PublicKey, Signature, UnixTime,
    canonical::{self, CanonicalError},
    json::Member,
};
use sha2::{Digest, Sha256};

use super::{Audience, ProofFault, ProvenBy};
use crate::{
    act::Act,
    limits::{FUTURE_SKEW_SECONDS, MAX_DPOP_BYTES, MAX_JTI_BYTES, PROOF_LIFETIME_SECONDS},
};

mod fault;
mod make;
#[cfg(test)]
mod tests;

pub use fault::DpopFault;
pub use make::{Draft, assemble};

const TYPE: &str = "dpop+jwt";
const ALGORITHM: &str = "EdDSA";
const METHOD: &str = "POST";
const HEADER: [&str; 3] = ["typ", "alg", "jwk"];
const CLAIMS: [&str; 8] = ["htm", "htu", "ath", "jti", "iat", "pact_tool", "pact_args", "pact_params"];
const JWK: [&str; 3] = ["kty", "crv", "x"];
/// Members that only a private key has (RFC 7518 6.2.2, 6.3.2, 6.4; RFC 8037).
const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// The three parts of a compact JWS, decoded.
struct Parts<'a> {
    header: Json,
    claims: Json,
    signature: Signature,
    signed: &'a str,
}

/// Judges a proof that `holder` made this very call, with this token's text, for this audience, just now.
pub(crate) fn verify(
    proof: &str,
    token_text: &str,
    holder: &PublicKey,
    asked: &Asked,
    audience: &Audience,
    now: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    verify_as(METHOD, proof, token_text, holder, asked, audience, now)
}

/// Judges a proof that `holder` means this very act.
pub(crate) fn verify_act(
    proof: &str,
    token_text: &str,
    holder: &PublicKey,
    act: &Act,
    audience: &Audience,
    now: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    let asked = act.asked().map_err(DpopFault::NotCanonical)?;
    verify_as(act.method(), proof, token_text, holder, &asked, audience, now)
}

fn verify_as(
    method: &str,
    proof: &str,
    token_text: &str,
    holder: &PublicKey,
    asked: &Asked,
    audience: &Audience,
    now: UnixTime,
) -> Result<ProvenBy, ProofFault> {
    let parts = split(proof)?;
    judge_header(&parts.header, holder)?;
    holder.verify(parts.signed.as_bytes(), &parts.signature).map_err(|_| DpopFault::Signature)?;
    judge_method(&parts.claims, method)?;
    judge_call(&parts.claims, token_text, asked, audience)?;
    let made_at = made_at(&parts.claims, now)?;
    let jti = text(&parts.claims, "jti")?;
    if !(1..=MAX_JTI_BYTES).contains(&jti.len()) {
        return Err(DpopFault::Id.into());
    }
    let ends_at = made_at.plus(PROOF_LIFETIME_SECONDS + 1);
    Ok(ProvenBy { holder: *holder, id: Sha256::digest(jti).into(), made_at, ends_at })
}

fn split(proof: &str) -> Result<Parts<'_>, DpopFault> {
    if proof.len() > MAX_DPOP_BYTES {
        return Err(DpopFault::TooLarge);
    }
    let (signed, signature) = proof.rsplit_once('.').ok_or(DpopFault::NotJws)?;
    let (header, claims) = signed.split_once('.').ok_or(DpopFault::NotJws)?;
    let signature = signature.parse().map_err(|_| DpopFault::NotJws)?;
    Ok(Parts { header: object(header, &HEADER)?, claims: object(claims, &CLAIMS)?, signature, signed })
}

/// A part's JSON object, with no members but these.
fn object(part: &str, known: &[&str]) -> Result<Json, DpopFault> {
    let bytes = URL_SAFE_NO_PAD.decode(part).map_err(|_| DpopFault::NotJws)?;
    let value = Json::parse(&bytes).map_err(DpopFault::NotJson)?;
    let members = value.members().ok_or(DpopFault::NotJws)?;
    if let Some(member) = members.iter().find(|member| !known.contains(&member.name.as_str())) {
        let nonce = member.name == "nonce";
        return Err(if nonce {
            DpopFault::Nonce
        } else {
            DpopFault::UnknownMember { at: member.span.start }
        });
    }
    Ok(value)
}

fn judge_header(header: &Json, holder: &PublicKey) -> Result<(), DpopFault> {
    if text(header, "typ")? != TYPE {
        return Err(DpopFault::Type);
    }
    if text(header, "alg")? != ALGORITHM {
        return Err(DpopFault::Algorithm);
    }
    let jwk = header.get("jwk").ok_or(DpopFault::Missing { member: "jwk" })?;
    let members = jwk.members().ok_or(DpopFault::Key)?;
    let names = |list: &[&str]| members.iter().any(|member| list.contains(&member.name.as_str()));
    if names(&PRIVATE) {
        return Err(DpopFault::PrivateKey);
    }
    let closed = members.iter().all(|Member { name, .. }| JWK.contains(&name.as_str()));
    if !closed || text(jwk, "kty")? != "OKP" || text(jwk, "crv")? != "Ed25519" {
        return Err(DpopFault::Key);
    }
    // Compared as text, so that the key has one spelling; the token's own holder is what the proof is checked with.
    if text(jwk, "x")? == holder.to_string() { Ok(()) } else { Err(DpopFault::NotTheHolder) }
}

fn judge_method(claims: &Json, method: &str) -> Result<(), DpopFault> {
    if text(claims, "htm")? == method { Ok(()) } else { Err(DpopFault::Method) }
}

fn judge_call(claims: &Json, token_text: &str, asked: &Asked, audience: &Audience) -> Result<(), DpopFault> {
    if text(claims, "htu")? != audience.as_str() {
        return Err(DpopFault::Target);
    }
    if text(claims, "ath")? != token_hash(token_text) {
        return Err(DpopFault::Token);
    }
    let reserved = |member: &Member| member.name.starts_with('@');
    if asked.arguments.members().unwrap_or_default().iter().any(reserved) {
        return Err(DpopFault::ReservedArgument);
    }
    if text(claims, "pact_tool")? != asked.tool {
        return Err(DpopFault::Tool);
    }
    if text(claims, "pact_args")? != arguments_hash(asked).map_err(DpopFault::NotCanonical)? {
        return Err(DpopFault::Arguments);
    }
    if text(claims, "pact_params")? != URL_SAFE_NO_PAD.encode(asked.params) {
        return Err(DpopFault::Params);
    }
    Ok(())
}

/// `iat`: at most 60 seconds ago, at most 5 ahead.
fn made_at(claims: &Json, now: UnixTime) -> Result<UnixTime, DpopFault> {
    let issued = claims.get("iat").ok_or(DpopFault::Missing { member: "iat" })?;
    let issued =
        issued.as_u64().and_then(|seconds| UnixTime::try_from(seconds).ok()).ok_or(DpopFault::NotATime)?;
    if now.since(issued) > PROOF_LIFETIME_SECONDS {
        return Err(DpopFault::TooOld { seconds: now.since(issued) });
    }
    if issued.since(now) > FUTURE_SKEW_SECONDS {
        return Err(DpopFault::FromTheFuture { seconds: issued.since(now) });
    }
    Ok(issued)
}

fn text<'a>(object: &'a Json, member: &'static str) -> Result<&'a str, DpopFault> {
    let value = object.get(member).ok_or(DpopFault::Missing { member })?;
    value.as_str().ok_or(DpopFault::NotAText { member })
}

/// `ath`: of the token's text exactly as sent.
fn token_hash(token_text: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(token_text))
}

/// `pact_args`: of the canonical JSON of the raw arguments.
fn arguments_hash(asked: &Asked) -> Result<String, CanonicalError> {
    Ok(URL_SAFE_NO_PAD.encode(canonical::digest(&asked.arguments)?))
}
