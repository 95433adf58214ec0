//! Statements of any content under a signature that holds, so that what stands behind it is reached.

use pact_mandate::{SecretKey, Signed, Signer, Statement, canonical, signed::SignatureText};

use super::reason;

/// What an issuer would send that signs whatever text it is given.
pub(super) fn signed_text<T: Statement>(payload: &str, signer: &SecretKey) -> Result<Signed<T>, String> {
    let signature = signer.sign(payload.as_bytes()).map_err(reason)?;
    let signature = String::from(SignatureText::new(signer.key_id().clone(), signature));
    let envelope = serde_json::json!({"payload": payload, "signature": signature});
    Signed::from_bytes(&canonical::to_bytes(&envelope).map_err(reason)?).map_err(reason)
}
