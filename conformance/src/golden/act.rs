//! The proof of an act on a session (protocol M4): an answer to what the tool server asked.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::{Signer, UnixTime, canonical, json::Number};
use pact_verifier::{Act, act::RequestId};
use serde_json::json;

use super::{
    Cases, Fault, call, key,
    mandate::START,
    proof::{fresh, hex, token_text},
    tenuo as stack,
};

/// The answer, byte for byte.
pub const BODY: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"roots":[]}}"#;

/// The session and the request that it is for.
pub fn act() -> Act {
    Act::respond("5f0c", RequestId::Number(Number::from_u64(7)), BODY.as_bytes())
}

fn message() -> Result<Vec<u8>, Fault> {
    Ok(act().tenuo_message(&stack::LEAF_ID, &call::audience()?, &fresh()?)?)
}

/// The headers that carry a Tenuo credential and its proof, as one JSON object.
fn headers() -> Result<String, Fault> {
    let (signature, fresh) = (key::holder_key()?.sign(&message()?)?, fresh()?);
    let fresh = json!({"iat": fresh.issued_at, "id": URL_SAFE_NO_PAD.encode(fresh.id)});
    let headers = json!({
        "X-Pact-Proof": fresh.to_string(),
        "X-Tenuo-PoP": STANDARD.encode(signature.as_bytes()),
        "X-Tenuo-Warrant": STANDARD.encode(stack::stack()?),
    });
    Ok(headers.to_string())
}

fn claims() -> Result<String, Fault> {
    let (holder, jti) = (key::holder_key()?, URL_SAFE_NO_PAD.encode([0x33; 16]));
    let issued_at = UnixTime::try_from(START + 60)?;
    let input = act().dpop_input(holder.public_key(), &token_text()?, &call::audience()?, &jti, issued_at)?;
    let claims = input.split('.').nth(1).ok_or("a proof has lost its claims")?;
    Ok(String::from_utf8(URL_SAFE_NO_PAD.decode(claims)?)?)
}

pub(crate) fn cases() -> Result<Cases, Fault> {
    let mut arguments = Vec::new();
    canonical::write(&act().asked()?.arguments, &mut arguments)?;
    Ok(Cases::from([
        ("act.body", BODY.to_owned()),
        ("act.arguments", String::from_utf8(arguments)?),
        ("act.message", hex(&message()?)),
        ("act.headers", headers()?),
        ("act.claims", claims()?),
    ]))
}
