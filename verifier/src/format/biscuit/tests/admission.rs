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

mod bounds {
    use super::*;

    #[test]
    fn c1_a_token_is_at_most_16_kilobytes() {
        assert_eq!(
            check_structure(&vec![0; MAX_TOKEN_BYTES + 1]),
            Err(BiscuitFault::TooLarge { limit: MAX_TOKEN_BYTES })
        );
        assert!(!matches!(check_structure(&vec![0; MAX_TOKEN_BYTES]), Err(BiscuitFault::TooLarge { .. })));
    }

    #[test]
    fn c3_a_token_has_at_most_16_blocks() {
        let block = "check if true";
        admitted(&vec![block; MAX_BLOCKS]);
        source_refused(&vec![block; MAX_BLOCKS + 1], Place::Envelope, too_many("blocks", MAX_BLOCKS));
    }

    #[test]
    fn c3_a_block_has_at_most_64_facts() {
        let facts = |count| repeat(count, |at| format!("f({at});"));
        admitted(&[&facts(MAX_FACTS)]);
        source_refused(&[&facts(MAX_FACTS + 1)], FACT(0, MAX_FACTS), too_many("facts", MAX_FACTS));
    }

    #[test]
    fn c3_a_block_has_at_most_8_rules() {
        let rules = |count| repeat(count, |at| format!("r{at}($x) <- f($x);"));
        admitted(&[&rules(MAX_RULES)]);
        source_refused(&[&rules(MAX_RULES + 1)], RULE(0, MAX_RULES), too_many("rules", MAX_RULES));
    }

    #[test]
    fn c3_a_block_has_at_most_32_checks() {
        let checks = |count| repeat(count, |_| "check if true;".to_owned());
        admitted(&[&checks(MAX_CHECKS)]);
        source_refused(&[&checks(MAX_CHECKS + 1)], CHECK(0, MAX_CHECKS), too_many("checks", MAX_CHECKS));
    }

    #[test]
    fn c3_a_check_has_at_most_64_queries() {
        let queries = |count| format!("check if true{}", repeat(count - 1, |_| " or true".to_owned()));
        admitted(&[&queries(MAX_QUERIES)]);
        source_refused(
            &[&queries(MAX_QUERIES + 1)],
            CHECK(0, 0),
            too_many("queries of a check", MAX_QUERIES),
        );
    }

    #[test]
    fn c3_a_query_has_at_most_3_predicates() {
        admitted(&["check if a(1), b(1), c(1)"]);
        let limit = too_many("predicates of a query", MAX_PREDICATES);
        source_refused(&["check if a(1), b(1), c(1), d(1)"], CHECK(0, 0), limit);
    }

    #[test]
    fn c3_a_predicate_has_at_most_8_terms() {
        admitted(&["f(1,2,3,4,5,6,7,8)"]);
        source_refused(&["f(1,2,3,4,5,6,7,8,9)"], FACT(0, 0), too_many("terms of a predicate", MAX_TERMS));
    }

    #[test]
    fn c3_a_query_has_at_most_8_expressions() {
        let query = |count| format!("check if true{}", repeat(count - 1, |_| ", true".to_owned()));
        admitted(&[&query(MAX_EXPRESSIONS)]);
        let limit = too_many("expressions of a query", MAX_EXPRESSIONS);
        source_refused(&[&query(MAX_EXPRESSIONS + 1)], CHECK(0, 0), limit);
    }

    #[test]
    fn c3_an_expression_has_at_most_16_operations() {
        let negations = |count| {
            let negate = schema::OpUnary { kind: op_unary::Kind::Negate.into(), ffi_name: None };
            let mut ops = vec![value(term::Content::Bool(true))];
            ops.resize(count, schema::Op { content: Some(op::Content::Unary(negate)) });
            with_operations(ops)
        };
        assert_eq!(check_structure(&negations(MAX_OPERATIONS)), Ok(()));
        let limit = too_many("operations of an expression", MAX_OPERATIONS);
        refused(&negations(MAX_OPERATIONS + 1), CHECK(0, 0), limit);
    }

    #[test]
    fn c3_a_set_has_at_most_256_members() {
        let set = |count| {
            format!(
                "check if {{{}}}.contains(1)",
                (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(",")
            )
        };
        admitted(&[&set(MAX_MEMBERS)]);
        source_refused(&[&set(MAX_MEMBERS + 1)], CHECK(0, 0), too_many("members of a set", MAX_MEMBERS));
    }

    #[test]
    fn c3_a_text_has_at_most_a_kilobyte() {
        let text = |count| format!(r#"f("{}")"#, "a".repeat(count));
        admitted(&[&text(MAX_TEXT_BYTES)]);
        source_refused(
            &[&text(MAX_TEXT_BYTES + 1)],
            Place::Block(0),
            Defect::TextTooLong { limit: MAX_TEXT_BYTES },
        );
        let bytes = |count| format!("f(hex:{})", "00".repeat(count));
        admitted(&[&bytes(MAX_TEXT_BYTES)]);
        source_refused(
            &[&bytes(MAX_TEXT_BYTES + 1)],
            FACT(0, 0),
            Defect::TextTooLong { limit: MAX_TEXT_BYTES },
        );
    }

    #[test]
    fn c3_a_token_has_at_most_1024_words_of_its_own() {
        let words = |count| {
            changed(&["check if true"], 0, |block| {
                block.symbols = (0..count).map(|at| format!("w{at}")).collect()
            })
        };
        assert_eq!(check_structure(&words(MAX_SYMBOLS)), Ok(()));
        refused(&words(MAX_SYMBOLS + 1), Place::Block(0), too_many("symbols", MAX_SYMBOLS));
    }

    #[test]
    fn c3_closures_nest_at_most_twice() {
        admitted(&["check if [1].any($x -> [2].any($y -> $y === 2))"]);
        let deep = "check if [1].any($x -> [2].any($y -> [3].any($z -> $z === 3)))";
        source_refused(&[deep], CHECK(0, 0), Defect::TooDeep { limit: MAX_CLOSURE_DEPTH });
    }

    /// The rule that finding 1 breaks: the engine's clock does not stop a join, so its size is bounded beforehand.
    #[test]
    fn c3_a_query_may_match_in_at_most_10000_ways() {
        let facts = repeat(22, |at| format!("f({at});"));
        let join = "check if f($a), f($b), f($c)";
        let token = mint(&[&authority(), &format!("{facts}{join}")]);
        refused(&token, CHECK(1, 0), Defect::TooManyMatches { limit: MAX_MATCHES });
        let facts = repeat(21, |at| format!("f({at});"));
        admitted(&[&authority(), &format!("{facts}{join}")]);
        // Facts of other blocks count as well, and those that a rule may make.
        let facts = repeat(60, |at| format!("f({at});"));
        let refusal = Defect::TooManyMatches { limit: MAX_MATCHES };
        source_refused(&[&facts, &facts, "check if f($a), f($b)"], CHECK(2, 0), refusal.clone());
        source_refused(
            &[&facts, "r($a, $b) <- f($a), f($b); check if r($a, $b), f($c)"],
            CHECK(1, 0),
            refusal,
        );
    }

    #[test]
    fn c3_all_queries_together_take_at_most_a_million_steps() {
        let facts = repeat(64, |at| format!("f({at});"));
        let check = format!("check if f($a), f($b){}", repeat(30, |_| " or f($a), f($b)".to_owned()));
        admitted(&[&facts, &check]);
        let token = mint(&[&facts, &format!("{check};{check};{check};{check}")]);
        let Err(BiscuitFault::Structure { place, defect }) = check_structure(&token) else {
            panic!("too much work")
        };
        assert_eq!((place.block(), defect), (Some(1), Defect::TooMuchWork { limit: MAX_STEPS }));
    }
}

mod claims {
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
            (r#"arg($k, 1) <- f($k)"#, "arg"),
            (r#"time($t) <- f($t)"#, "time"),
            (r#"holder($h) <- f($h)"#, "holder"),
            (r#"mandate($m) <- f($m)"#, "mandate"),
            (r#"source($s) <- f($s)"#, "source"),
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
        let bytes: String = holder().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
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
        let block =
            request.create_block(&other.private(), BlockBuilder::new().fact("f(1)").unwrap()).unwrap();
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
}

mod chance {
    use super::*;

    /// The rule that finding 8 breaks: which fact the engine tries first must not matter.
    #[test]
    fn c3_facts_of_one_name_have_one_type() {
        source_refused(
            &[r#"amount(3); amount("x"); check if amount($a), $a <= 5"#],
            FACT(0, 1),
            Defect::MixedTypes,
        );
        source_refused(&["amount(3)", r#"amount("x")"#], FACT(1, 0), Defect::MixedTypes);
        admitted(&[r#"amount(3); amount(3, "x"); amount(4)"#]);
    }

    #[test]
    fn c3_a_rule_adds_to_no_other_facts() {
        source_refused(&["f(1); r(2); r($x) <- f($x)"], RULE(0, 0), Defect::AmbiguousRule);
        source_refused(&["r($x) <- f($x)", "r($x) <- g($x)"], RULE(0, 0), Defect::AmbiguousRule);
        source_refused(&["r($x) <- r($x)"], RULE(0, 0), Defect::RecursiveRule);
        source_refused(&["a($x) <- b($x); b($x) <- a($x)"], RULE(0, 0), Defect::RecursiveRule);
        admitted(&["a($x) <- b($x); b($x) <- c($x); c(1)"]);
    }

    #[test]
    fn c3_the_value_of_an_unnamed_argument_is_not_read() {
        source_refused(&["check if arg($k, $v), $v <= 5"], CHECK(0, 0), Defect::OpenArgument);
        source_refused(&["check if arg($k, $v), f($v)"], CHECK(0, 0), Defect::OpenArgument);
        source_refused(&["r($v) <- arg($k, $v)"], RULE(0, 0), Defect::OpenArgument);
        admitted(&[r#"reject if arg($k, $v), !{"a"}.contains($k)"#]);
        admitted(&[r#"check if arg("a", $v), $v <= 5"#]);
    }

    #[test]
    fn c3_lazy_operators_see_one_combination_of_facts() {
        admitted(&[r#"check if tool($t), $t === "a" || $t === "b""#]);
        source_refused(
            &[r#"f(1); f(2); check if f($x), $x === 1 || $x < 2"#],
            CHECK(0, 0),
            Defect::LazyOverMany,
        );
        source_refused(
            &[r#"check if arg($k, $v), {"a"}.any($a -> $a === $k)"#],
            CHECK(0, 0),
            Defect::LazyOverMany,
        );
    }

    #[test]
    fn c3_operators_that_fail_by_value_or_hide_a_failure_are_refused() {
        for (expression, name) in [
            ("1 + 1 === 2", "arithmetic"),
            ("1 / 0 === 2", "arithmetic"),
            (r#""a".matches("a")"#, "matches"),
            ("1 & 1 === 1", "bitwise"),
            (r#"{"a": 1}.get("a") === 1"#, "get"),
            ("(1 / 0 === 2).try_or(true)", "arithmetic"),
            ("true.try_or(true)", "try_or"),
            (r#""a".extern::test("a")"#, "extern::"),
            (r#""a".extern::test()"#, "extern::"),
            (r#"1.type() === "integer""#, "type"),
        ] {
            let token = mint(&[&format!("check if {expression}")]);
            let Err(BiscuitFault::Structure { place, defect }) = check_structure(&token) else {
                panic!("{expression}")
            };
            let map = expression.starts_with('{');
            let expected = if map { Defect::Term { kind: "map" } } else { Defect::Operator { name } };
            assert_eq!((place, defect), (CHECK(0, 0), expected), "{expression}");
        }
    }

    #[test]
    fn c3_every_other_operator_is_admitted() {
        let last = op_binary::Kind::TryOr as i32;
        for kind in 0..=last {
            let lazy = (23..=26).contains(&kind);
            let token = with_operations(vec![
                value(term::Content::Bool(true)),
                value(term::Content::Bool(true)),
                binary(kind),
            ]);
            match check_structure(&token) {
                Ok(()) => assert!(matches!(kind, 0..=7 | 13..=16 | 20..=22), "{kind}"),
                Err(BiscuitFault::Structure { defect: Defect::Expression, .. }) => assert!(lazy, "{kind}"),
                Err(BiscuitFault::Structure { defect: Defect::Operator { .. }, .. }) => {
                    assert!(matches!(kind, 8..=12 | 17..=19 | 27..=29), "{kind}");
                }
                other => panic!("{kind}: {other:?}"),
            }
        }
        let unknown = with_operations(vec![
            value(term::Content::Bool(true)),
            value(term::Content::Bool(true)),
            binary(last + 1),
        ]);
        refused(&unknown, CHECK(0, 0), Defect::UnknownValue { what: "a binary operator", value: 30 });
    }
}

mod encoding {
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
}

mod statements {
    use super::*;

    #[test]
    fn c3_a_fact_has_no_variable() {
        let token = changed(&["f(1); check if g($x)"], 0, |block| {
            block.facts[0].predicate.terms = block.checks[0].queries[0].body[0].terms.clone();
        });
        refused(&token, FACT(0, 0), Defect::VariableInFact);
    }

    #[test]
    fn c3_checks_queries_and_expressions_are_not_empty() {
        let token = changed(&["check if f(1)"], 0, |block| block.checks[0].queries.clear());
        refused(&token, CHECK(0, 0), Defect::EmptyCheck);
        let token = changed(&["check if f(1)"], 0, |block| block.checks[0].queries[0].body.clear());
        refused(&token, CHECK(0, 0), Defect::EmptyQuery);
        refused(&with_operations(vec![]), CHECK(0, 0), Defect::Expression);
    }

    #[test]
    fn c3_an_expression_leaves_one_value() {
        let yes = || value(term::Content::Bool(true));
        refused(&with_operations(vec![yes(), yes()]), CHECK(0, 0), Defect::Expression);
        refused(&with_operations(vec![yes(), binary(13)]), CHECK(0, 0), Defect::Expression);
        let closure = |params: Vec<u32>| schema::Op {
            content: Some(op::Content::Closure(schema::OpClosure { params, ops: vec![yes()] })),
        };
        refused(&with_operations(vec![closure(vec![])]), CHECK(0, 0), Defect::Expression);
        refused(&with_operations(vec![yes(), closure(vec![0]), binary(23)]), CHECK(0, 0), Defect::Expression);
        refused(&with_operations(vec![closure(vec![]), yes(), binary(23)]), CHECK(0, 0), Defect::Expression);
        assert_eq!(check_structure(&with_operations(vec![yes(), closure(vec![]), binary(23)])), Ok(()));
        let two = with_operations(vec![yes(), closure(vec![0, 1]), binary(25)]);
        refused(&two, CHECK(0, 0), too_many("parameters of a closure", 1));
    }

    #[test]
    fn c3_every_variable_is_bound_by_a_predicate() {
        let token = changed(&["check if f($x), 1 < 2", "check if g($y)"], 0, |block| {
            let ops = &mut block.checks[0].queries[0].expressions[0].ops;
            // `time`, a word of every token, as the name of a variable.
            ops[0] = value(term::Content::Variable(5));
        });
        refused(&token, CHECK(0, 0), Defect::UnboundVariable);
        let token = changed(&["r(1) <- f($x)"], 0, |block| {
            block.rules[0].head.terms[0].content = Some(term::Content::Variable(5));
        });
        refused(&token, RULE(0, 0), Defect::UnboundVariable);
    }

    #[test]
    fn c3_kinds_of_terms() {
        source_refused(&["f(null)"], FACT(0, 0), Defect::Term { kind: "null" });
        source_refused(&[r#"f({"a": 1})"#], FACT(0, 0), Defect::Term { kind: "map" });
        source_refused(&["f([[1]])"], FACT(0, 0), Defect::Term { kind: "nested array" });
        source_refused(&["f([{1}])"], FACT(0, 0), Defect::Term { kind: "nested set" });
        admitted(&[r#"f(1, "a", true, hex:00, 2027-01-01T00:00:00Z, {1, 2}, [1, "a"])"#]);
        let set = |second: term::Content| {
            changed(&["f({1, 2})"], 0, |block| {
                let Some(term::Content::Set(set)) = &mut block.facts[0].predicate.terms[0].content else {
                    panic!()
                };
                set.set[1].content = Some(second);
            })
        };
        refused(&set(term::Content::Integer(1)), FACT(0, 0), Defect::Set);
        refused(&set(term::Content::Bool(true)), FACT(0, 0), Defect::Set);
        refused(&set(term::Content::Variable(5)), FACT(0, 0), Defect::Term { kind: "variable" });
        let late = changed(&["f(1)"], 0, |block| {
            block.facts[0].predicate.terms[0].content = Some(term::Content::Date(253_402_300_800));
        });
        refused(&late, FACT(0, 0), Defect::Date);
        let none = changed(&["f(1)"], 0, |block| block.facts[0].predicate.terms[0].content = None);
        refused(&none, FACT(0, 0), Defect::Missing { what: "a term's content" });
        let kind = changed(&["check all f(1)"], 0, |block| block.checks[0].kind = Some(3));
        refused(&kind, CHECK(0, 0), Defect::UnknownValue { what: "a check's kind", value: 3 });
    }
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
