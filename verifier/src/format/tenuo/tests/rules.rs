//! Each rule by a stack that breaks it and nothing else. Every stack is validly signed.

mod alone;
mod between;
mod called;

use pact_mandate::Signer;

use super::forge::{NOW, Sketch, chain, key};
use crate::format::tenuo::open;

/// The refusal of a stack under the root key 1, or `accepted`.
fn opened(stack: &[u8]) -> &'static str {
    super::code(open(stack, &super::trust(key(1).public_key()), super::at(NOW)))
}

/// The same, of sketches.
fn judged(sketches: &[&Sketch]) -> &'static str {
    opened(&chain(sketches))
}

/// The refusal of a call under a stack, or `accepted`.
fn called(sketches: &[&Sketch], tool: &str, arguments: &str) -> &'static str {
    let trust = super::trust(key(1).public_key());
    super::code(super::permits(&chain(sketches), &trust, NOW, &super::call(tool, arguments)))
}
