//! What another decoder might read otherwise.

use super::*;

/// Appends a field to a message that ends the bytes.
fn outer(change: impl FnOnce(&mut schema::Biscuit)) -> Vec<u8> {
    let mut outer = schema::Biscuit::decode(pact().as_slice()).unwrap();
    change(&mut outer);
    outer.encode_to_vec()
}

#[test]
fn c3_a_token_has_one_encoding() {
    let token = pact();
    let mut unknown = token.clone();
    unknown.extend([0x28, 0x01]);
    refused(&unknown, Place::Envelope, Defect::UnknownField { number: 5 });
    let twice = [token.as_slice(), &token].concat();
    refused(&twice, Place::Envelope, Defect::Encoding);
    refused(&token[..token.len() - 1], Place::Envelope, Defect::Truncated);
    refused(&[], Place::Envelope, Defect::Missing { what: "the proof" });
    let reordered = [&outer(|token| token.root_key_id = None)[..], &[0x08, 0x01]].concat();
    refused(&reordered, Place::Envelope, Defect::Encoding);
}

#[test]
fn c3_what_is_admitted_is_what_the_crate_reads() {
    let token = pact();
    assert_eq!(schema::Biscuit::decode(token.as_slice()).unwrap().encode_to_vec(), token);
}

#[test]
fn c3_unknown_fields_of_a_block_are_refused() {
    let mut blocks: Vec<Vec<u8>> = blocks_of(&pact()).iter().map(Message::encode_to_vec).collect();
    blocks[1].extend([0x48, 0x01]);
    refused(&sign(&blocks).encode_to_vec(), Place::Block(1), Defect::UnknownField { number: 9 });
}

#[test]
fn c3_unknown_algorithms_and_versions_of_signatures_are_refused() {
    let token = outer(|token| token.authority.next_key.algorithm = 2);
    refused(&token, Place::Envelope, Defect::UnknownValue { what: "a key's algorithm", value: 2 });
    let token = outer(|token| token.blocks[0].version = Some(2));
    refused(&token, Place::Envelope, Defect::UnknownValue { what: "a signature's version", value: 2 });
    let token = outer(|token| token.authority.next_key.key.push(0));
    refused(&token, Place::Envelope, Defect::Encoding);
    let token = outer(|token| token.proof.content = None);
    refused(&token, Place::Envelope, Defect::Missing { what: "the proof's content" });
}

#[test]
fn c3_versions_are_3_to_6_and_cover_what_the_block_uses() {
    for version in [None, Some(0), Some(2), Some(7)] {
        let token = changed(&["f(1)"], 0, |block| block.version = version);
        refused(&token, Place::Block(0), Defect::Version { found: version.unwrap_or(0) });
    }
    for (source, needed) in [
        ("check all f($x), $x < 1", 4),
        ("reject if f(1)", 6),
        ("check if 1 !== 2", 4),
        ("check if 1 == 1", 6),
        ("check if true && true", 6),
        ("check if [1].any($x -> $x === 1)", 6),
    ] {
        admitted(&[source]);
        let token = changed(&[source], 0, |block| block.version = Some(needed - 1));
        refused(&token, CHECK(0, 0), Defect::NewerThanVersion { needed, declared: needed - 1 });
    }
}

#[test]
fn c3_the_symbol_table_has_each_word_once() {
    let repeated = |word: &str| changed(&["f(1)"], 0, |block| block.symbols.push(word.to_owned()));
    refused(&repeated("f"), Place::Block(0), Defect::SymbolRepeated);
    refused(&repeated("read"), Place::Block(0), Defect::SymbolRepeated);
    let mut blocks = blocks_of(&mint(&["f(1)", "g(1)"]));
    blocks[1].symbols.push("f".to_owned());
    let blocks: Vec<Vec<u8>> = blocks.iter().map(Message::encode_to_vec).collect();
    refused(&sign(&blocks).encode_to_vec(), Place::Block(1), Defect::SymbolRepeated);
}

#[test]
fn c3_every_word_and_variable_is_in_a_table() {
    for index in [28, 1023, 1025, u64::MAX] {
        let token = changed(&["f(1)"], 0, |block| block.facts[0].predicate.name = index);
        refused(&token, FACT(0, 0), Defect::SymbolUnknown { index });
    }
    let token = changed(&["check if f($x), $x < 1"], 0, |block| {
        block.checks[0].queries[0].body[0].terms[0].content = Some(term::Content::Variable(5000));
    });
    refused(&token, CHECK(0, 0), Defect::SymbolUnknown { index: 5000 });
}

#[test]
fn c3_texts_have_no_control_characters() {
    source_refused(&["f(\"a\nb\")"], Place::Block(0), Defect::ControlCharacter);
    let token = changed(&["f(1)"], 0, |block| block.context = Some("a\u{7f}".to_owned()));
    refused(&token, Place::Block(0), Defect::ControlCharacter);
    let token = changed(&["f(1)"], 0, |block| block.context = Some("a remark".to_owned()));
    assert_eq!(check_structure(&token), Ok(()));
    let mut block = blocks_of(&mint(&["f(1)"]))[0].encode_to_vec();
    let at = block.iter().position(|byte| *byte == b'f').unwrap();
    block[at] = 0xff;
    refused(&sign(&[block]).encode_to_vec(), Place::Block(0), Defect::NotText);
}
