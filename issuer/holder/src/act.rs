//! Proofs for acts on a session: its stream, its end, and answers to what the tool server asks (protocol M4).

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::UnixTime;
use pact_verifier::{
    Act,
    proof::{Audience, FreshProof, dpop::assemble},
};
use serde::Serialize;

use crate::{dpop::DpopProof, error::SignError, holder::Holder, stack::unverified_leaf_id};

/// The headers that carry a Tenuo credential and the proof for one act.
#[derive(Clone, Debug, Serialize)]
pub struct TenuoHeaders {
    #[serde(rename = "X-Tenuo-Warrant")]
    warrant: String,
    #[serde(rename = "X-Tenuo-PoP")]
    signature: String,
    #[serde(rename = "X-Pact-Proof")]
    fresh: String,
}

impl TenuoHeaders {
    /// Name and value of each, the names in lower case.
    pub fn pairs(&self) -> [(&'static str, &str); 3] {
        [("x-tenuo-warrant", &self.warrant), ("x-tenuo-pop", &self.signature), ("x-pact-proof", &self.fresh)]
    }
}

/// Proves one act by the holder of a Tenuo credential. `fresh` is new for each: 16 random bytes and the present time.
pub fn sign_tenuo_act(
    holder: &Holder,
    stack_text: &str,
    act: &Act,
    audience: &Audience,
    fresh: &FreshProof,
) -> Result<TenuoHeaders, SignError> {
    let message = act.tenuo_message(&unverified_leaf_id(stack_text)?, audience, fresh)?;
    let (iat, id) = (fresh.issued_at.seconds(), URL_SAFE_NO_PAD.encode(fresh.id));
    Ok(TenuoHeaders {
        warrant: stack_text.to_owned(),
        signature: STANDARD.encode(holder.sign(&message)?.as_bytes()),
        fresh: format!(r#"{{"iat":{iat},"id":"{id}"}}"#),
    })
}

/// Proves one act by the holder of a Biscuit. `id` is new for each: 16 random bytes.
pub fn sign_dpop_act(
    holder: &Holder,
    token_text: &str,
    act: &Act,
    audience: &Audience,
    id: [u8; 16],
    issued_at: UnixTime,
) -> Result<DpopProof, SignError> {
    let jti = URL_SAFE_NO_PAD.encode(id);
    let input = act.dpop_input(holder.public_key(), token_text, audience, &jti, issued_at)?;
    let proof = assemble(&input, &holder.sign(input.as_bytes())?);
    DpopProof::new(token_text, proof)
}
