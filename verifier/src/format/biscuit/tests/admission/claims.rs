//! A token that speaks for the request, the issuer or another block.

use super::*;

#[test]
fn c3_only_the_verifier_speaks_for_the_request() {
    for (fact, name) in [
        (r#"tool("task.read")"#, "tool"),
        (r#"project("web")"#, "project"),
        (r#"arg("cost_usd", 1)"#, "arg"),
        ("time(2020-01-01T00:00:00Z)", "time"),
        (r#"operation("read")"#, "operation"),
        (r#"resource("file")"#, "resource"),
    ] {
        source_refused(&[fact], FACT(0, 0), Defect::RequestFact { name });
        source_refused(&[&authority(), fact], FACT(1, 0), Defect::RequestFact { name });
    }
}

#[test]
fn c3_a_block_cannot_satisfy_its_own_check_on_the_project() {
    let block = r#"project("web"); check if project("web")"#;
    source_refused(&[&authority(), block], FACT(1, 0), Defect::RequestFact { name: "project" });
}

#[test]
fn c3_no_rule_makes_what_only_a_verifier_or_a_fact_may_state() {
    for (rule, name) in [
        (r#"tool("wire") <- tool("task.read")"#, "tool"),
        ("arg($k, 1) <- f($k)", "arg"),
        ("time($t) <- f($t)", "time"),
        ("holder($h) <- f($h)", "holder"),
        ("mandate($m) <- f($m)", "mandate"),
        ("source($s) <- f($s)", "source"),
    ] {
        source_refused(&[&authority(), rule], RULE(1, 0), Defect::ReservedRule { name });
    }
}

#[test]
fn c3_a_second_holder_is_refused_in_whatever_block() {
    let one = format!(r#"holder("{}")"#, holder());
    let two = format!("{one}; f(1)");
    for blocks in [[one.as_str(), one.as_str()], [one.as_str(), two.as_str()]] {
        source_refused(&blocks, FACT(1, 0), Defect::HolderRepeated);
    }
    let other = biscuit_auth::KeyPair::new().public().to_bytes_hex();
    source_refused(&[&format!("{one}; holder(hex:{other})")], FACT(0, 1), Defect::MixedTypes);
}

#[test]
fn c3_the_holder_is_one_strict_key() {
    let key = holder().to_string();
    let bytes = pact_mandate::hex::encode(holder().as_bytes());
    for good in [format!(r#"holder("{key}")"#), format!("holder(hex:{bytes})")] {
        let token = mint(&[&format!("{good};{}", authority())]);
        assert_eq!(open_at(&token, NOW).unwrap().holder, Some(holder()));
    }
    for bad in [
        r#"holder("")"#.to_owned(),
        format!(r#"holder("{key}=")"#),
        format!(r#"holder("{key}", "{key}")"#),
        "holder(1)".to_owned(),
        "holder(hex:00)".to_owned(),
        // A point of small order, under which anybody signs.
        format!("holder(hex:01{})", "00".repeat(31)),
    ] {
        source_refused(&[&bad], FACT(0, 0), Defect::HolderMalformed);
    }
}

#[test]
fn c6_the_source_stands_once_in_the_authority_block() {
    let token = mint(&[&format!(r#"source("https://partner.example");{}"#, authority()), &leaf()]);
    assert_eq!(open_at(&token, NOW).unwrap().source.unwrap().as_str(), "https://partner.example");
    let source = r#"source("https://partner.example")"#;
    source_refused(&[&authority(), source], FACT(1, 0), Defect::SourceMalformed);
    source_refused(&[&format!("{source};source(\"other\")")], FACT(0, 1), Defect::SourceMalformed);
    source_refused(&["source(1)"], FACT(0, 0), Defect::SourceMalformed);
    source_refused(&[r#"source("")"#], FACT(0, 0), Defect::SourceMalformed);
}

#[test]
fn r1_a_mandate_fact_is_one_uuid_in_lower_case() {
    for bad in ["mandate(1)", r#"mandate("x")"#, r#"mandate("11111111-1111-4111-8111-11111111111A")"#] {
        source_refused(&[bad], FACT(0, 0), Defect::MandateMalformed);
    }
}

#[test]
fn c3_third_party_blocks_are_refused() {
    let token = mint_under(&root(), &[&authority()]);
    let other = KeyPair::new();
    let request = token.third_party_request().unwrap();
    let block = request.create_block(&other.private(), BlockBuilder::new().fact("f(1)").unwrap()).unwrap();
    let token = token.append_third_party(other.public(), block).unwrap();
    refused(&token.to_vec().unwrap(), Place::Envelope, Defect::ThirdParty);
}

#[test]
fn c3_trusting_is_refused_at_every_level() {
    let block = changed(&["check if f(1)"], 0, |block| {
        block.version = Some(4);
        let content = Some(scope::Content::ScopeType(scope::ScopeType::Authority.into()));
        block.scope.push(schema::Scope { content });
    });
    refused(&block, Place::Block(0), Defect::Trusting);
    source_refused(&["r(1) <- f(1) trusting previous"], RULE(0, 0), Defect::Trusting);
    source_refused(&["check if f(1) trusting authority"], CHECK(0, 0), Defect::Trusting);
    let keys = changed(&["f(1)"], 0, |block| block.public_keys.push(KeyPair::new().public().to_proto()));
    refused(&keys, Place::Block(0), Defect::PublicKeys);
    let unseen = changed(&["check if f(1)"], 0, |block| {
        block.version = Some(4);
        let content = Some(scope::Content::ScopeType(scope::ScopeType::Previous.into()));
        block.checks[0].queries[0].scope.push(schema::Scope { content });
    });
    refused(&unseen, CHECK(0, 0), Defect::Trusting);
}

#[test]
fn c3_a_block_cannot_define_the_words_of_an_earlier_one() {
    let mut blocks = blocks_of(&mint(&["f(1)", "check if true"]));
    let word = blocks[0].symbols.pop().unwrap();
    blocks[1].symbols.push(word);
    let blocks: Vec<Vec<u8>> = blocks.iter().map(Message::encode_to_vec).collect();
    refused(&sign(&blocks).encode_to_vec(), FACT(0, 0), Defect::SymbolUnknown { index: 1024 });
}
