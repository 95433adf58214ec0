//! Where a request carries its credential and its proof (protocol P1, P4, P5, C1): `params._meta` of a JSON-RPC request,
//! or the headers. One credential in one place; whatever could be read as a second one is refused.

use std::str;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{Json, Signature, UnixTime};

use crate::{
    presented::{Presented, decode_signature},
    proof::{FreshProof, PresentedProof},
    refusal::Refusal,
};

mod fault;
#[cfg(test)]
mod tests;

pub use fault::CarriageFault;

/// The member of `_meta` in which Tenuo's clients send.
const TENUO: &str = "tenuo";
/// The member of `_meta` for a Biscuit over transports without headers.
const CREDENTIAL: &str = "pact/credential";
/// The member of `_meta` for the rest of a proof.
const PROOF: &str = "pact/proof";
/// The header that holds the same as that member beside `X-Tenuo-PoP`.
const FRESH: &str = "X-Pact-Proof";

/// The members of `_meta` that carry trust; the sidecar cuts them out of what it forwards (protocol M2).
pub const META_MEMBERS: [&str; 3] = [TENUO, CREDENTIAL, PROOF];

/// Every value of each header that can carry a credential or a proof, as it came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'a> {
    /// `Authorization`.
    pub authorization: &'a [&'a [u8]],
    /// `DPoP`.
    pub dpop: &'a [&'a [u8]],
    /// `X-Tenuo-Warrant`.
    pub tenuo_warrant: &'a [&'a [u8]],
    /// `X-Tenuo-PoP`.
    pub tenuo_pop: &'a [&'a [u8]],
    /// `X-Pact-Proof`: id and time of a Tenuo proof, for requests without `_meta`.
    pub pact_proof: &'a [&'a [u8]],
}

/// Each carrier that a request can use, with what it holds of a text.
struct Found<'a> {
    authorization: Option<&'a str>,
    dpop: Option<&'a str>,
    warrant: Option<&'a str>,
    pop: Option<&'a str>,
    fresh: Option<&'a str>,
    tenuo: Option<&'a Json>,
    credential: Option<&'a Json>,
    proof: Option<&'a Json>,
}

/// Reads the one credential and its proof. `params` is that of a JSON-RPC request, or `None` for a plain HTTP route.
pub fn read(params: Option<&Json>, headers: Headers<'_>) -> Result<(Presented, PresentedProof), Refusal> {
    let found = Found::in_request(params, headers)?;
    match found.credentials() {
        0 => Err(found.nothing().into()),
        1 => found.read(),
        _ => Err(CarriageFault::SecondCredential.into()),
    }
}

impl<'a> Found<'a> {
    fn in_request(params: Option<&'a Json>, headers: Headers<'a>) -> Result<Found<'a>, CarriageFault> {
        let meta = params.and_then(|params| params.get("_meta"));
        if meta.is_some_and(|meta| meta.members().is_none()) {
            return Err(CarriageFault::MalformedMember("_meta"));
        }
        let member = |name| meta.and_then(|meta| meta.get(name));
        Ok(Found {
            authorization: single("Authorization", headers.authorization)?,
            dpop: single("DPoP", headers.dpop)?,
            warrant: single("X-Tenuo-Warrant", headers.tenuo_warrant)?,
            pop: single("X-Tenuo-PoP", headers.tenuo_pop)?,
            fresh: single(FRESH, headers.pact_proof)?,
            tenuo: member(TENUO),
            credential: member(CREDENTIAL),
            proof: member(PROOF),
        })
    }

    /// An `Authorization` of whatever scheme counts: it could be another reader's credential (protocol C1).
    fn credentials(&self) -> usize {
        let carriers = [
            self.authorization.is_some(),
            self.warrant.is_some(),
            self.tenuo.is_some(),
            self.credential.is_some(),
        ];
        carriers.into_iter().filter(|is_there| *is_there).count()
    }

    fn nothing(&self) -> CarriageFault {
        let parts = [self.dpop.is_some(), self.pop.is_some(), self.fresh.is_some(), self.proof.is_some()];
        if parts.contains(&true) {
            CarriageFault::ProofWithoutCredential
        } else {
            CarriageFault::NoCredential
        }
    }

    fn read(&self) -> Result<(Presented, PresentedProof), Refusal> {
        if let Some(authorization) = self.authorization {
            return self.read_authorization(authorization);
        }
        if let Some(token) = self.credential {
            return self.read_meta_token(token);
        }
        none_of(&[("DPoP", self.dpop.is_some())])?;
        let (warrant, signature) = match self.tenuo {
            Some(tenuo) => self.read_meta_tenuo(tenuo)?,
            None => (self.warrant.unwrap_or_default(), self.pop),
        };
        let fresh = match (self.fresh, self.proof) {
            (None, proof) => proof.map(|proof| read_fresh(proof, PROOF)).transpose()?,
            (Some(text), None) => Some(self.read_fresh_header(text)?),
            // One of two readings.
            (Some(_), Some(_)) => return Err(CarriageFault::UnexpectedPart(FRESH).into()),
        };
        let proof = tenuo_proof(signature, fresh)?;
        Ok((Presented::tenuo(warrant)?, proof))
    }

    /// The header goes with the other headers alone.
    fn read_fresh_header(&self, text: &str) -> Result<FreshProof, CarriageFault> {
        none_of(&[(FRESH, self.pop.is_none())])?;
        let proof = Json::parse(text.as_bytes()).map_err(|_| CarriageFault::MalformedHeader(FRESH))?;
        read_fresh(&proof, FRESH)
    }

    fn read_authorization(&self, value: &str) -> Result<(Presented, PresentedProof), Refusal> {
        none_of(&[
            ("X-Tenuo-PoP", self.pop.is_some()),
            (FRESH, self.fresh.is_some()),
            (PROOF, self.proof.is_some()),
        ])?;
        let (scheme, token) = value.split_once(' ').ok_or(CarriageFault::UnknownScheme)?;
        // RFC 9110 11.1: the scheme's case does not matter.
        let proof = match (scheme, self.dpop) {
            (scheme, Some(jws)) if scheme.eq_ignore_ascii_case("dpop") => {
                PresentedProof::Dpop(jws.to_owned())
            }
            (scheme, None) if scheme.eq_ignore_ascii_case("dpop") => PresentedProof::Missing,
            (scheme, None) if scheme.eq_ignore_ascii_case("bearer") => PresentedProof::Missing,
            // RFC 9449 7.2: a proof beside a bearer token is one of two readings.
            (scheme, Some(_)) if scheme.eq_ignore_ascii_case("bearer") => {
                return Err(CarriageFault::UnexpectedPart("DPoP").into());
            }
            _ => return Err(CarriageFault::UnknownScheme.into()),
        };
        Ok((Presented::biscuit(token)?, proof))
    }

    fn read_meta_token(&self, token: &Json) -> Result<(Presented, PresentedProof), Refusal> {
        none_of(&[
            ("DPoP", self.dpop.is_some()),
            ("X-Tenuo-PoP", self.pop.is_some()),
            (FRESH, self.fresh.is_some()),
        ])?;
        let token = token.as_str().ok_or(CarriageFault::MalformedMember(CREDENTIAL))?;
        let proof = match self.proof {
            None => PresentedProof::Missing,
            Some(proof) => {
                only_members(proof, PROOF, &["dpop"])?;
                let jws =
                    proof.get("dpop").and_then(Json::as_str).ok_or(CarriageFault::MalformedMember(PROOF))?;
                PresentedProof::Dpop(jws.to_owned())
            }
        };
        Ok((Presented::biscuit(token)?, proof))
    }

    fn read_meta_tenuo(&self, tenuo: &'a Json) -> Result<(&'a str, Option<&'a str>), CarriageFault> {
        none_of(&[("X-Tenuo-PoP", self.pop.is_some()), (FRESH, self.fresh.is_some())])?;
        only_members(tenuo, TENUO, &["warrant", "signature", "approvals"])?;
        let text = |name| match tenuo.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) => Ok(Some(text.as_str())),
            Some(_) => Err(CarriageFault::MalformedMember(TENUO)),
        };
        // Clients send an empty list where there are none. A warrant that wants approvals is refused by its walker.
        match tenuo.get("approvals") {
            None | Some(Json::Null) => {}
            Some(Json::Array(approvals)) if approvals.is_empty() => {}
            Some(_) => return Err(CarriageFault::ApprovalsNotJudged),
        }
        Ok((text("warrant")?.ok_or(CarriageFault::MalformedMember(TENUO))?, text("signature")?))
    }
}

/// A part of a proof that belongs to another carrier is refused: some reader might believe that one.
fn none_of(parts: &[(&'static str, bool)]) -> Result<(), CarriageFault> {
    match parts.iter().find(|(_, is_there)| *is_there) {
        Some((name, _)) => Err(CarriageFault::UnexpectedPart(name)),
        None => Ok(()),
    }
}

/// The value of a header that may stand in a request once, as text.
fn single<'a>(name: &'static str, values: &'a [&'a [u8]]) -> Result<Option<&'a str>, CarriageFault> {
    match values {
        [] => Ok(None),
        [value] => str::from_utf8(value).map(Some).map_err(|_| CarriageFault::MalformedHeader(name)),
        _ => Err(CarriageFault::RepeatedHeader(name)),
    }
}

fn only_members(value: &Json, name: &'static str, known: &[&str]) -> Result<(), CarriageFault> {
    let members = value.members().ok_or(CarriageFault::MalformedMember(name))?;
    if members.iter().all(|member| known.contains(&member.name.as_str())) {
        Ok(())
    } else {
        Err(CarriageFault::UnknownMember(name))
    }
}

fn tenuo_proof(signature: Option<&str>, fresh: Option<FreshProof>) -> Result<PresentedProof, CarriageFault> {
    let Some(signature) = signature else {
        return if fresh.is_some() {
            Err(CarriageFault::UnexpectedPart(PROOF))
        } else {
            Ok(PresentedProof::Missing)
        };
    };
    let signature = decode_signature(signature).ok_or(CarriageFault::NotASignature)?;
    Ok(PresentedProof::Tenuo { signature: Signature::from_bytes(signature), fresh })
}

/// `{"id": 16 bytes in base64url, "iat": seconds}`.
fn read_fresh(proof: &Json, name: &'static str) -> Result<FreshProof, CarriageFault> {
    let malformed = CarriageFault::MalformedMember(name);
    only_members(proof, name, &["id", "iat"])?;
    let id = proof.get("id").and_then(Json::as_str).filter(|id| id.len() == 22).ok_or(malformed)?;
    let id = URL_SAFE_NO_PAD.decode(id).ok().and_then(|id| id.try_into().ok()).ok_or(malformed)?;
    let issued_at = proof.get("iat").and_then(Json::as_u64).ok_or(malformed)?;
    Ok(FreshProof { id, issued_at: UnixTime::try_from(issued_at).map_err(|_| malformed)? })
}
