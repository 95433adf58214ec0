//! Proofs for a Tenuo credential (protocol P1; P3 for stock verifiers).

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::{Action, Asked, Json, Signature, UnixTime};
use pact_verifier::proof::{
    Audience, FreshProof,
    tenuo::{message_p1, message_stock},
};
use serde::Serialize;

use crate::{error::SignError, holder::Holder, stack::unverified_leaf_id};

/// A credential and the proof for one call: the members that go into `params._meta` of that call.
#[derive(Clone, Debug, Serialize)]
pub struct TenuoProof {
    tenuo: WarrantAndSignature,
    #[serde(rename = "pact/proof", skip_serializing_if = "Option::is_none")]
    fresh: Option<FreshText>,
}

#[derive(Clone, Debug, Serialize)]
struct WarrantAndSignature {
    signature: String,
    warrant: String,
}

#[derive(Clone, Debug, Serialize)]
struct FreshText {
    iat: u64,
    id: String,
}

/// Proves possession for one call at one place. `action` is the tool's name in the credential; `fresh` is new for each
/// call: 16 random bytes and the present time.
pub fn sign_tenuo(
    holder: &Holder,
    stack_text: &str,
    action: &Action,
    asked: &Asked,
    audience: &Audience,
    fresh: &FreshProof,
) -> Result<TenuoProof, SignError> {
    let message = message_p1(&unverified_leaf_id(stack_text)?, action, asked, audience, fresh)?;
    let fresh = FreshText { iat: fresh.issued_at.seconds(), id: URL_SAFE_NO_PAD.encode(fresh.id) };
    Ok(TenuoProof::new(stack_text, &holder.sign(&message)?, Some(fresh)))
}

/// The proof that any Tenuo verifier takes: over warrant, tool, arguments and the 30-second window of `now`, and so the
/// same bytes for the same call within one window (protocol P3). Where the verifier is ours, prefer [`sign_tenuo`].
pub fn sign_tenuo_stock(
    holder: &Holder,
    stack_text: &str,
    action: &Action,
    arguments: &Json,
    now: UnixTime,
) -> Result<TenuoProof, SignError> {
    let message = message_stock(&unverified_leaf_id(stack_text)?, action, arguments, now)?;
    Ok(TenuoProof::new(stack_text, &holder.sign(&message)?, None))
}

impl TenuoProof {
    fn new(stack_text: &str, signature: &Signature, fresh: Option<FreshText>) -> TenuoProof {
        let signature = STANDARD.encode(signature.as_bytes());
        TenuoProof { tenuo: WarrantAndSignature { signature, warrant: stack_text.to_owned() }, fresh }
    }

    /// The signature alone, in standard base64: what a plain HTTP route takes in `X-Tenuo-PoP`.
    pub fn signature(&self) -> &str {
        &self.tenuo.signature
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use pact_mandate::PublicKey;
    use tenuo::{Authorizer, ConstraintSet, SigningKey, Warrant, Wildcard, wire};

    use super::*;
    use crate::call::tool_call;

    const AGENT: [u8; 32] = [2; 32];
    const ARGUMENTS: &str = r#"{"project":"shop","amount_usd":12.5,"order":7}"#;

    struct Issued {
        root: tenuo::PublicKey,
        warrant: Warrant,
        stack: String,
    }

    fn issued() -> Issued {
        let root = SigningKey::from_bytes(&[1; 32]);
        let mut limits = ConstraintSet::new();
        for name in ["project", "amount_usd", "order"] {
            limits.insert(name, Wildcard::new());
        }
        let warrant = Warrant::builder()
            .capability("order.refund", limits)
            .holder(SigningKey::from_bytes(&AGENT).public_key())
            .ttl(Duration::from_mins(5))
            .build(&root)
            .unwrap();
        let stack = wire::encode_stack(&wire::WarrantStack(vec![warrant.clone()])).unwrap();
        Issued { root: root.public_key(), warrant, stack: STANDARD.encode(stack) }
    }

    fn arguments() -> Json {
        Json::parse(ARGUMENTS.as_bytes()).unwrap()
    }

    fn signature_of(proof: &TenuoProof) -> [u8; 64] {
        STANDARD.decode(proof.signature()).unwrap().try_into().unwrap()
    }

    #[test]
    fn p3_a_stock_proof_is_what_tenuo_itself_accepts() {
        let Issued { root, warrant, stack } = issued();
        let now = UnixTime::try_from(u64::try_from(tenuo_now(&warrant)).unwrap()).unwrap();
        let holder = Holder::from_seed(&AGENT).unwrap();
        let proof =
            sign_tenuo_stock(&holder, &stack, &"order.refund".parse().unwrap(), &arguments(), now).unwrap();
        let shown = serde_json::to_value(&proof).unwrap();
        assert_eq!(shown.as_object().unwrap().keys().collect::<Vec<_>>(), ["tenuo"]);
        let args = tenuo::meta_envelope::args_from_json(ARGUMENTS).unwrap();
        let signature = tenuo::Signature::from_bytes(&signature_of(&proof)).unwrap();
        let authorizer = Authorizer::builder().trusted_root(root).build().unwrap();
        authorizer.check_chain(&[warrant], "order.refund", &args, Some(&signature), &[]).unwrap();
    }

    fn tenuo_now(warrant: &Warrant) -> i64 {
        warrant.issued_at().timestamp()
    }

    #[test]
    fn p1_a_proof_covers_the_call_the_place_and_its_own_id() {
        let holder = Holder::from_seed(&AGENT).unwrap();
        let stack = issued().stack;
        let id = unverified_leaf_id(&stack).unwrap();
        let action: Action = "order.refund".parse().unwrap();
        let asked = tool_call("refund_order", arguments()).unwrap();
        let audience: Audience = "http://127.0.0.1:1/mcp".parse().unwrap();
        let fresh = FreshProof { id: [9; 16], issued_at: UnixTime::try_from(1_800_000_000).unwrap() };
        let proof = sign_tenuo(&holder, &stack, &action, &asked, &audience, &fresh).unwrap();
        let signature = Signature::from_bytes(signature_of(&proof));
        let holds = |asked: &Asked, audience: &Audience, fresh: &FreshProof| {
            let message = message_p1(&id, &action, asked, audience, fresh).unwrap();
            PublicKey::verify(holder.public_key(), &message, &signature).is_ok()
        };
        assert!(holds(&asked, &audience, &fresh));
        assert!(!holds(&tool_call("other", arguments()).unwrap(), &audience, &fresh));
        assert!(!holds(&asked, &"http://127.0.0.1:2/mcp".parse().unwrap(), &fresh));
        assert!(!holds(&asked, &audience, &FreshProof { id: [8; 16], ..fresh }));
        let shown = serde_json::to_value(&proof).unwrap();
        assert_eq!(shown["pact/proof"]["iat"], 1_800_000_000);
        assert_eq!(shown["pact/proof"]["id"], URL_SAFE_NO_PAD.encode([9; 16]));
    }
}
