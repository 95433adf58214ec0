//! Each rule of admission, on a token that is signed well and has just this one fault.

use biscuit_auth::{
    BlockBuilder, KeyPair,
    format::schema::{self, op, op_binary, op_unary, scope, term},
};
use proptest::prelude::*;
use prost::Message;

use super::forge::*;
use crate::{
    format::biscuit::{BiscuitFault, Defect, Place, admission::admit, check_structure},
    limits::{
        MAX_BLOCKS, MAX_CHECKS, MAX_CLOSURE_DEPTH, MAX_EXPRESSIONS, MAX_FACTS, MAX_MATCHES, MAX_MEMBERS,
        MAX_OPERATIONS, MAX_PREDICATES, MAX_QUERIES, MAX_RULES, MAX_STEPS, MAX_SYMBOLS, MAX_TERMS,
        MAX_TEXT_BYTES, MAX_TOKEN_BYTES,
    },
};

mod bounds;
mod chance;
mod claims;
mod encoding;
mod statements;

const FACT: fn(usize, usize) -> Place = |block, fact| Place::Fact { block, fact };
const RULE: fn(usize, usize) -> Place = |block, rule| Place::Rule { block, rule };
const CHECK: fn(usize, usize) -> Place = |block, check| Place::Check { block, check };

fn refused(token: &[u8], place: Place, defect: Defect) {
    assert_eq!(check_structure(token), Err(BiscuitFault::Structure { place, defect }));
    // What is refused by structure is never evaluated, however well it is signed.
    assert!(matches!(open_at(token, NOW), Err(BiscuitFault::Structure { .. })));
}

fn source_refused(blocks: &[&str], place: Place, defect: Defect) {
    refused(&mint(blocks), place, defect);
}

fn admitted(blocks: &[&str]) {
    assert_eq!(check_structure(&mint(blocks)), Ok(()), "{blocks:?}");
}

fn too_many(what: &'static str, limit: usize) -> Defect {
    Defect::TooMany { what, limit }
}

fn repeat(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).map(text).collect()
}

fn value(content: term::Content) -> schema::Op {
    schema::Op { content: Some(op::Content::Value(schema::Term { content: Some(content) })) }
}

fn binary(kind: i32) -> schema::Op {
    schema::Op { content: Some(op::Content::Binary(schema::OpBinary { kind, ffi_name: None })) }
}

/// A token whose only check has this one expression.
fn with_operations(ops: Vec<schema::Op>) -> Vec<u8> {
    changed(&[r#"check if "a" === "a""#], 0, |block| {
        block.version = Some(6);
        block.checks[0].queries[0].expressions[0].ops = ops;
    })
}

/// Tokens to bend: the exported shape, and one with every kind of statement.
fn any_token() -> impl Strategy<Value = Vec<u8>> {
    let rich = r#"r($x) <- f($x), g($y), $y < 3; f("a"); g(1); h({1,2},[1,"a"],hex:00,true);
        check all f($x), {"a"}.contains($x); check if tool($t), $t === "a" || $t.starts_with("b")"#;
    prop_oneof![
        Just(pact()),
        Just(mint(&[&authority(), rich])),
        Just(mint_under(&p256_root(), &[&authority()]).to_vec().unwrap())
    ]
}

proptest! {
    #[test]
    fn any_bytes_are_answered(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(check_structure(&bytes).is_err() || admit(&bytes).is_ok());
        prop_assert!(open_at(&bytes, NOW).is_err());
    }

    #[test]
    fn c3_a_bent_token_is_refused(token in any_token(), at: prop::sample::Index, bits in 1..=255_u8, cut: bool) {
        let at = at.index(token.len());
        let mut bent = token.clone();
        if cut { bent.truncate(at) } else { bent[at] ^= bits }
        // The root key id alone is not signed; bent, it names no root or another one.
        prop_assert!(open_at(&bent, NOW).is_err());
    }

    #[test]
    fn c3_a_well_signed_block_of_any_bent_bytes_is_answered(at: prop::sample::Index, bits in 1..=255_u8) {
        let mut blocks: Vec<Vec<u8>> = blocks_of(&pact()).iter().map(Message::encode_to_vec).collect();
        let at = at.index(blocks[1].len());
        blocks[1][at] ^= bits;
        let token = sign(&blocks).encode_to_vec();
        let allowed = call("task.read", &[("project", r#""web""#), ("cost_usd", "1")]);
        let answer = judge(&token, &allowed, NOW);
        prop_assert!(!matches!(answer, Err(BiscuitFault::EnginePanicked | BiscuitFault::EngineLimit)));
        // Whatever passes admission, the engine reads.
        prop_assert_ne!(answer, Err(BiscuitFault::Unreadable));
    }
}
