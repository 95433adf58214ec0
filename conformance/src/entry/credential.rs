//! Credentials and proofs, through the front of the ladder.

use base64::{
    Engine,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use pact_mandate::{Json, Signer};
use pact_verifier::{HeldChain, Presented, PresentedProof, Refusal, VerifiedChain, carriage};

use super::{
    Answer, reason,
    stage::{Stage, stage},
};
use crate::golden::{Fault, biscuit, tenuo};

/// A stack of Tenuo warrants; or the payload of one, which is signed here as a root and as a child of the golden root, so
/// that what stands behind the signatures is reached as well.
pub fn cbor_stack(bytes: &[u8]) -> Answer {
    let [as_root, as_child] = signed_payload(bytes).map_err(reason)?;
    let answers = [bytes, &as_root, &as_child].map(|stack| open(Presented::tenuo(&STANDARD.encode(stack))));
    any_of(answers)
}

fn signed_payload(payload: &[u8]) -> Result<[Vec<u8>; 2], Fault> {
    let stage = stage()?;
    let link = |payload| tenuo::Link { payload, signer: &stage.issuer };
    Ok([tenuo::sign(&[link(payload)])?, tenuo::sign(&[link(&stage.root_warrant), link(payload)])?])
}

/// A Biscuit token; or the bytes of a block, which is signed here as the authority block and as the one after the golden
/// authority block.
pub fn biscuit_token(bytes: &[u8]) -> Answer {
    let [as_first, as_second] = signed_block(bytes).map_err(reason)?;
    let text = |token: &[u8]| URL_SAFE_NO_PAD.encode(token);
    any_of([bytes, &as_first, &as_second].map(|token| open(Presented::biscuit(&text(token)))))
}

fn signed_block(block: &[u8]) -> Result<[Vec<u8>; 2], Fault> {
    let authority = stage()?.authority_block.clone();
    Ok([biscuit::sign(&[block.to_vec()])?, biscuit::sign(&[authority, block.to_vec()])?])
}

/// `params._meta` of a request; or a DPoP proof; or the claims of one, which the golden holder then signs.
pub fn proof(bytes: &[u8]) -> Answer {
    let text = std::str::from_utf8(bytes).map_err(reason)?;
    let claims = signed_claims(text).map_err(reason)?;
    any_of([
        carried(bytes),
        prove(&PresentedProof::Dpop(text.to_owned())),
        prove(&PresentedProof::Dpop(claims)),
    ])
}

fn signed_claims(claims: &str) -> Result<String, Fault> {
    let stage = stage()?;
    let input = format!("{}.{}", stage.dpop_header, URL_SAFE_NO_PAD.encode(claims));
    let signature = stage.holder.sign(input.as_bytes())?;
    Ok(format!("{input}.{signature}"))
}

fn carried(meta: &[u8]) -> Answer {
    let params = [br#"{"_meta":"#, meta, b"}"].concat();
    let params = Json::parse(&params).map_err(reason)?;
    let (presented, proof) =
        carriage::read(Some(&params), carriage::Headers::default()).map_err(|refusal| worded(&refusal))?;
    hold(presented, &proof)
}

fn prove(proof: &PresentedProof) -> Answer {
    hold(stage()?.token.clone(), proof)
}

fn hold(presented: Presented, proof: &PresentedProof) -> Answer {
    let Stage { policy, audience, call, now, .. } = stage()?;
    let chain = verified(presented)?;
    let held = HeldChain::prove(chain, proof, call.clone(), policy, audience, *now);
    held.map(|_| ()).map_err(|refusal| worded(&refusal))
}

fn open<E: std::fmt::Display>(presented: Result<Presented, E>) -> Answer {
    verified(presented.map_err(reason)?).map(|_| ())
}

fn verified(presented: Presented) -> Result<VerifiedChain, String> {
    let Stage { trust, cache, now, .. } = stage()?;
    VerifiedChain::open(presented, trust, cache, *now).map_err(|refusal| worded(&refusal))
}

/// A refusal always has a code, and a text for a person.
fn worded(refusal: &Refusal) -> String {
    let code = refusal.code();
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    assert!(!code.is_empty() && code.bytes().all(plain), "{code} is no code");
    format!("{code}: {refusal}")
}

/// Accepted if it was accepted in any reading.
fn any_of(answers: [Answer; 3]) -> Answer {
    if answers.iter().any(Result::is_ok) {
        return Ok(());
    }
    Err(answers.into_iter().filter_map(Result::err).collect::<Vec<_>>().join("; "))
}
