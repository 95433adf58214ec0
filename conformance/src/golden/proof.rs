//! Proofs of possession for the golden call.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::{Signer, UnixTime};
use pact_verifier::proof::{
    FreshProof,
    dpop::{Draft, assemble},
    tenuo,
};
use serde_json::json;

use super::{Cases, Fault, biscuit, call, key, mandate::START, tenuo as stack};

/// `@id` and `@iat` of the golden proof.
pub fn fresh() -> Result<FreshProof, Fault> {
    Ok(FreshProof { id: [0x33; 16], issued_at: UnixTime::try_from(START + 60)? })
}

/// What the holder signs for a Tenuo warrant (protocol P1).
pub fn p1_message() -> Result<Vec<u8>, Fault> {
    let (asked, audience, action) = (call::asked()?, call::audience()?, "task.read".parse()?);
    Ok(tenuo::message_p1(&stack::LEAF_ID, &action, &asked, &audience, &fresh()?)?)
}

/// `params._meta` of a call with a Tenuo credential.
pub fn p1_meta() -> Result<String, Fault> {
    let signature = key::holder_key()?.sign(&p1_message()?)?;
    let fresh = fresh()?;
    let meta = json!({
        "tenuo": {"warrant": STANDARD.encode(stack::stack()?), "signature": STANDARD.encode(signature.as_bytes())},
        "pact/proof": {"id": URL_SAFE_NO_PAD.encode(fresh.id), "iat": fresh.issued_at},
    });
    Ok(meta.to_string())
}

/// The text of the golden token.
pub fn token_text() -> Result<String, Fault> {
    Ok(base64::engine::general_purpose::URL_SAFE.encode(biscuit::token()?))
}

/// The header and claims of a DPoP proof, as they are signed (protocol P4).
pub fn dpop_input() -> Result<String, Fault> {
    let holder = key::holder_key()?;
    let draft = Draft {
        holder: holder.public_key(),
        token_text: &token_text()?,
        asked: &call::asked()?,
        audience: &call::audience()?,
        jti: &URL_SAFE_NO_PAD.encode([0x33; 16]),
        issued_at: UnixTime::try_from(START + 60)?,
    };
    Ok(draft.signing_input()?)
}

/// The whole proof.
pub fn dpop() -> Result<String, Fault> {
    let input = dpop_input()?;
    Ok(assemble(&input, &key::holder_key()?.sign(input.as_bytes())?))
}

fn part(input: &str, at: usize) -> Result<String, Fault> {
    let part = input.split('.').nth(at).ok_or("a proof has lost a part")?;
    Ok(String::from_utf8(URL_SAFE_NO_PAD.decode(part)?)?)
}

pub(crate) fn cases() -> Result<Cases, Fault> {
    let input = dpop_input()?;
    Ok(Cases::from([
        ("proof.params", URL_SAFE_NO_PAD.encode(call::asked()?.params)),
        ("proof.p1.message", hex(&p1_message()?)),
        ("proof.p1.signature", key::holder_key()?.sign(&p1_message()?)?.to_string()),
        ("proof.p1.meta", p1_meta()?),
        ("proof.dpop.header", part(&input, 0)?),
        ("proof.dpop.claims", part(&input, 1)?),
        ("proof.dpop", dpop()?),
        ("proof.dpop.token", token_text()?),
    ]))
}

/// Bytes as lower-case hex, 32 a line.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2 + bytes.len() / 32);
    for (at, byte) in bytes.iter().enumerate() {
        if at > 0 && at % 32 == 0 {
            text.push('\n');
        }
        text.extend(
            [byte >> 4, byte & 0xf].map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or_default()),
        );
    }
    text
}
