//! Proofs for a Biscuit credential (protocol P4).

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::{Asked, UnixTime};
use pact_verifier::proof::{
    Audience,
    dpop::{Draft, assemble},
};
use serde::Serialize;

use crate::{error::SignError, holder::Holder};

/// A token and the proof for one call: two headers of that call or, where there are none, members of its `_meta`.
#[derive(Clone, Debug)]
pub struct DpopProof {
    token: String,
    proof: String,
}

/// The members of `params._meta`.
#[derive(Clone, Debug, Serialize)]
pub struct DpopMeta<'a> {
    #[serde(rename = "pact/credential")]
    credential: &'a str,
    #[serde(rename = "pact/proof")]
    proof: MetaProof<'a>,
}

#[derive(Clone, Debug, Serialize)]
struct MetaProof<'a> {
    dpop: &'a str,
}

/// Proves possession for one call at one place. `id` is new for each call: 16 random bytes.
pub fn sign_dpop(
    holder: &Holder,
    token_text: &str,
    asked: &Asked,
    audience: &Audience,
    id: [u8; 16],
    issued_at: UnixTime,
) -> Result<DpopProof, SignError> {
    let jti = URL_SAFE_NO_PAD.encode(id);
    let draft = Draft { holder: holder.public_key(), token_text, asked, audience, jti: &jti, issued_at };
    let input = draft.signing_input()?;
    let proof = assemble(&input, &holder.sign(input.as_bytes())?);
    DpopProof::new(token_text, proof)
}

impl DpopProof {
    pub(crate) fn new(token_text: &str, proof: String) -> Result<DpopProof, SignError> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'=' | b':');
        if token_text.is_empty() || !token_text.bytes().all(plain) {
            return Err(SignError::NotAToken);
        }
        Ok(DpopProof { token: token_text.to_owned(), proof })
    }

    /// The value of the header `Authorization`.
    pub fn authorization(&self) -> String {
        format!("DPoP {}", self.token)
    }

    /// The value of the header `DPoP`.
    pub fn dpop(&self) -> &str {
        &self.proof
    }

    /// The same pair for a transport without headers.
    pub fn meta(&self) -> DpopMeta<'_> {
        DpopMeta { credential: &self.token, proof: MetaProof { dpop: &self.proof } }
    }
}

#[cfg(test)]
mod tests {
    use pact_mandate::{Json, Signature};

    use super::*;
    use crate::call::tool_call;

    fn asked() -> Asked {
        tool_call("refund_order", Json::parse(br#"{"amount_usd":5}"#).unwrap()).unwrap()
    }

    fn sign(token: &str) -> Result<DpopProof, SignError> {
        let holder = Holder::from_seed(&[2; 32]).unwrap();
        let audience: Audience = "http://127.0.0.1:1/mcp".parse().unwrap();
        sign_dpop(&holder, token, &asked(), &audience, [9; 16], UnixTime::try_from(1_800_000_000).unwrap())
    }

    #[test]
    fn p4_a_proof_is_a_jws_by_the_holder_over_this_call() {
        let proof = sign("dG9rZW4=").unwrap();
        assert_eq!(proof.authorization(), "DPoP dG9rZW4=");
        let (signed, signature) = proof.dpop().rsplit_once('.').unwrap();
        let signature: Signature = signature.parse().unwrap();
        Holder::from_seed(&[2; 32]).unwrap().public_key().verify(signed.as_bytes(), &signature).unwrap();
        let claims = signed.split_once('.').unwrap().1;
        let claims: serde_json::Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        assert_eq!(claims["htu"], "http://127.0.0.1:1/mcp");
        assert_eq!(claims["pact_tool"], "refund_order");
        assert_eq!(claims["jti"], URL_SAFE_NO_PAD.encode([9; 16]));
        let meta = serde_json::to_value(proof.meta()).unwrap();
        assert_eq!(meta["pact/credential"], "dG9rZW4=");
        assert_eq!(meta["pact/proof"]["dpop"], proof.dpop());
    }

    #[test]
    fn p4_what_cannot_stand_in_a_header_is_no_token() {
        for text in ["", "a b", "a\n", "a,b", "ä"] {
            assert_eq!(sign(text).unwrap_err(), SignError::NotAToken, "{text}");
        }
    }
}
