//! What each rung found, in words.

use pact_verifier::{Permit, VerifiedChain, live::AskedList};

use super::inputs::SingleUse;

pub(crate) fn verified(chain: &VerifiedChain) -> String {
    let links = chain.ids().len();
    format!(
        "{links} signature(s) hold up to the root {} of {}; it ends at {}",
        chain.root(),
        chain.issuer(),
        chain.expires_at()
    )
}

pub(crate) fn held(chain: &VerifiedChain) -> String {
    match chain.holder() {
        Some(key) => format!("the proof is by the holder's key {}, for this very call", key.thumbprint()),
        None => "it names no holder, and its issuer is trusted for bearer use".to_owned(),
    }
}

pub(crate) fn live(asked: AskedList) -> String {
    format!("list {} is {} s old and names none of it", asked.version, asked.age.as_secs())
}

pub(crate) fn permit(permit: &Permit, single_use: SingleUse) -> String {
    let single_use = match single_use {
        SingleUse::Recorded => "the proof is used up",
        SingleUse::LeftOut => "single use was left out, as asked",
        SingleUse::Unjudged => "single use could not be judged",
    };
    format!("credential, issuer's remit and policy allow {}; {single_use}", permit.call().judged.action)
}
