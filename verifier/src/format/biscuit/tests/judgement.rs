//! Calls under tokens: what the verifier states, and that our judgement is the engine's.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use biscuit_auth::{
    AuthorizerBuilder, Biscuit, BlockBuilder,
    builder::{self, Term},
    datalog::ExternFunc,
};
use pact_mandate::{Judged, amount::AmountError};
use proptest::{prelude::*, sample::select};

use super::forge::*;
use crate::{
    format::biscuit::{BiscuitFault, engine},
    limits::MAX_STATED_ARGUMENTS,
};

const WEB: (&str, &str) = ("project", r#""web""#);

fn under(checks: &str, arguments: &[(&str, &str)]) -> Result<(), BiscuitFault> {
    let block = format!(r#"right("web", "task.read"); check if time($t), $t <= {END}; {checks}"#);
    judge(&mint(&[&block]), &call("task.read", &[&[WEB], arguments].concat()), NOW)
}

fn failed(block: usize, check: usize) -> Result<(), BiscuitFault> {
    Err(BiscuitFault::CheckFailed { block, check })
}

#[test]
fn c3_the_exported_shape_allows_what_it_grants_and_nothing_else() {
    let token = pact();
    let judge = |action, arguments: &[_]| judge(&token, &call(action, arguments), NOW);
    assert_eq!(judge("task.read", &[WEB, ("cost_usd", "1"), ("task_id", r#""t-1""#)]), Ok(()));
    assert_eq!(judge("task.work", &[WEB, ("cost_usd", "1")]), failed(1, 0));
    assert_eq!(judge("task.read", &[("project", r#""api""#), ("cost_usd", "1")]), failed(0, 0));
    assert_eq!(judge("task.read", &[WEB, ("cost_usd", "1.0000001")]), failed(1, 1));
    assert_eq!(judge("task.read", &[WEB]), failed(0, 1));
    assert_eq!(judge("task.read", &[WEB, ("cost_usd", "1"), ("other", "1")]), failed(1, 3));
}

#[test]
fn c3_without_a_right_in_the_authority_block_nothing_is_granted() {
    let end = format!("check if time($t), $t <= {END}");
    let right = r#"right("web", "task.read")"#;
    let read = call("task.read", &[WEB]);
    assert_eq!(judge(&mint(&[&end]), &read, NOW), Err(BiscuitFault::NotGranted));
    assert_eq!(judge(&mint(&[&end, right]), &read, NOW), Err(BiscuitFault::NotGranted));
    assert_eq!(judge(&mint(&[&format!("{end}; {right}")]), &read, NOW), Ok(()));
    let swapped = r#"right("task.read", "web")"#;
    assert_eq!(judge(&mint(&[&format!("{end}; {swapped}")]), &read, NOW), Err(BiscuitFault::NotGranted));
}

#[test]
fn c3_later_blocks_only_narrow() {
    let allowed = call("task.read", &[WEB, ("cost_usd", "1")]);
    assert_eq!(judge(&mint(&[&authority()]), &allowed, NOW), Ok(()));
    let narrowed = format!("right(\"api\", \"task.read\"); {}", r#"check if tool("task.work")"#);
    assert_eq!(judge(&mint(&[&authority(), &narrowed]), &allowed, NOW), failed(1, 0));
}

#[test]
fn t2_a_call_at_the_end_is_refused_even_where_the_statement_would_pass() {
    let token = pact();
    let allowed = call("task.read", &[WEB, ("cost_usd", "1")]);
    assert_eq!(judge(&token, &allowed, END_SECONDS - 1), Ok(()));
    let ended = Err(BiscuitFault::Expired { ended: at(END_SECONDS) });
    assert_eq!(judge(&token, &allowed, END_SECONDS), ended);
}

#[test]
fn c4_a_request_value_is_never_rounded_down() {
    let limit = r#"check if arg("cost", $v), $v <= 2500000"#;
    for fits in ["2.5", "2.49999999", "25e-1", "0", "-0"] {
        assert_eq!(under(limit, &[("cost", fits)]), Ok(()), "{fits}");
    }
    for beyond in ["2.500001", "2.5000004", "2.50000000000000000000000001", "1e9"] {
        assert_eq!(under(limit, &[("cost", beyond)]), failed(0, 1), "{beyond}");
    }
    let not_an_amount = |text, fault| {
        let argument = "cost".to_owned();
        let refused = Err(BiscuitFault::ArgumentNotAnAmount { argument, fault });
        assert_eq!(under(limit, &[("cost", text)]), refused, "{text}");
    };
    not_an_amount("-1", AmountError::Negative);
    not_an_amount("1e400", AmountError::TooLarge);
    not_an_amount("9223372036854.775808", AmountError::TooLarge);
}

#[test]
fn c4_a_value_between_two_millionths_is_refused_where_the_token_bounds_from_below() {
    for below in [
        r#"check if arg("cost", $v), $v >= 2500000"#,
        r#"check if arg("cost", $v), 2500000 < $v"#,
        r#"check if arg("cost", $v), $v === 2500000"#,
        r#"check if arg("cost", 2500000)"#,
        r#"reject if arg("cost", $v), $v <= 2499999"#,
        r#"check if arg("cost", $v), $v <= 2500000, $v >= 2500000"#,
    ] {
        let argument = "cost".to_owned();
        assert_eq!(
            under(below, &[("cost", "2.4999999")]),
            Err(BiscuitFault::ArgumentTooFine { argument }),
            "{below}"
        );
        let exact = if below.contains('<') && below.contains("2500000 <") { "2.500001" } else { "2.5" };
        assert_eq!(under(below, &[("cost", exact)]), Ok(()), "{below}");
    }
}

#[test]
fn c3_texts_and_booleans_are_texts_and_nothing_else_is_stated() {
    assert_eq!(under(r#"check if arg("flag", "true")"#, &[("flag", "true")]), Ok(()));
    assert_eq!(under(r#"check if arg("flag", "false")"#, &[("flag", "false")]), Ok(()));
    assert_eq!(under(r#"check if arg("note", "a \"b\"")"#, &[("note", r#""a \"b\"""#)]), Ok(()));
    assert_eq!(under(r#"check if arg("n", "5")"#, &[("n", "5")]), failed(0, 1));
    for other in ["null", "[]", "{}", r#"["a"]"#] {
        let argument = "x".to_owned();
        assert_eq!(under("", &[("x", other)]), Err(BiscuitFault::ArgumentNotScalar { argument }), "{other}");
    }
}

#[test]
fn c3_a_text_where_a_number_is_limited_is_refused() {
    let limit = r#"check if arg("cost", $v), $v <= 2500000"#;
    assert_eq!(under(limit, &[("cost", r#""1""#)]), Err(BiscuitFault::NotEvaluable));
    assert_eq!(under(limit, &[("cost", "true")]), Err(BiscuitFault::NotEvaluable));
}

#[test]
fn c3_a_call_names_a_project_and_a_bounded_number_of_arguments() {
    for arguments in [&[][..], &[("project", "1")], &[("project", r#""Web""#)], &[("project", "null")]] {
        assert_eq!(judge(&pact(), &call("task.read", arguments), NOW), Err(BiscuitFault::NoProject));
    }
    let names: Vec<String> = (0..MAX_STATED_ARGUMENTS).map(|at| format!("a{at}")).collect();
    let mut many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "1")).collect();
    let limit = MAX_STATED_ARGUMENTS;
    assert_eq!(under("", &many), Err(BiscuitFault::TooManyArguments { limit }));
    many.pop();
    assert_eq!(under("", &many), Ok(()));
}

#[test]
fn c3_a_panic_in_the_engine_is_a_refusal_and_the_next_call_is_judged() {
    let explode = ExternFunc::new(Arc::new(|_, _| panic!("as the engine might")));
    let token = mint_under(&root(), &[r#"check if "a".extern::explode()"#]);
    let builder = AuthorizerBuilder::new()
        .set_limits(engine::wide_limits())
        .register_extern_func("explode".to_owned(), explode)
        .policy("allow if true")
        .unwrap();
    for _ in 0..100 {
        assert_eq!(engine::evaluate(builder.clone(), &token), Err(BiscuitFault::EnginePanicked));
    }
    assert_eq!(judge(&pact(), &call("task.read", &[WEB, ("cost_usd", "1")]), NOW), Ok(()));
}

/// The heaviest tokens that admission lets through, in the time that the limit promises (with room for a busy machine).
#[test]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn c3_what_is_admitted_is_judged_soon() {
    let facts = (0..64).map(|at| format!("f({at})")).collect::<Vec<_>>().join(";");
    let queries = vec!["f($a), f($b), $a > 100, $b > 100"; 40].join(" or ");
    let token = mint(&[&format!("{}{facts}; check if {queries}", authority().replace("right", "r2"))]);
    let started = Instant::now();
    let _ = judge(&token, &call("task.read", &[WEB, ("cost_usd", "1")]), NOW);
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
}

/// A link as exported: pairs of tool and project, limits in millionths, seconds until the end.
#[derive(Clone, Debug)]
struct Link {
    pairs: Vec<(&'static str, &'static str)>,
    limits: Vec<(&'static str, u32)>,
    end: u64,
}

const TOOLS: [&str; 3] = ["task.read", "task.work", "task"];
const PROJECTS: [&str; 2] = ["web", "api"];
const KEYS: [&str; 2] = ["cost_usd", "runs"];

fn link() -> impl Strategy<Value = Link> {
    let pairs = prop::collection::vec((select(&TOOLS[..]), select(&PROJECTS[..])), 1..4);
    let limits = prop::collection::btree_map(select(&KEYS[..]), 0..3_u32, 0..3);
    (pairs, limits, 1..4_u64).prop_map(|(pairs, limits, end)| Link {
        pairs,
        limits: limits.into_iter().collect(),
        end,
    })
}

impl Link {
    fn block(&self, authority: bool, last: bool) -> BlockBuilder {
        let mut block = BlockBuilder::new();
        if authority {
            for (tool, project) in &self.pairs {
                block = block.code(format!(r#"right("{project}", "{tool}")"#)).unwrap();
            }
        }
        let pairs: Vec<String> = self
            .pairs
            .iter()
            .map(|(tool, project)| format!(r#"tool("{tool}"), project("{project}")"#))
            .collect();
        block = block.code(format!("check if {}", pairs.join(" or "))).unwrap();
        for (key, limit) in &self.limits {
            block = block.code(format!(r#"check if arg("{key}", $v), $v <= {limit}"#)).unwrap();
        }
        let end = at(NOW + self.end).rfc3339();
        block = block.code(format!("check if time($t), $t <= {end}")).unwrap();
        if last {
            let keys: Vec<String> = self.limits.iter().map(|(key, _)| format!(r#""{key}""#)).collect();
            let keys = [&["\"task_id\"".to_owned()], keys.as_slice()].concat().join(", ");
            block = block.code(format!("reject if arg($k, $v), !{{{keys}}}.contains($k)")).unwrap();
        }
        block
    }
}

fn export(links: &[Link]) -> Biscuit {
    let last = links.len() - 1;
    let authority = links[0].block(true, last == 0);
    let token = Biscuit::builder().root_key_id(root_id(&root())).merge(authority).build(&root()).unwrap();
    links
        .iter()
        .enumerate()
        .skip(1)
        .fold(token, |token, (at, link)| token.append(link.block(false, at == last)).unwrap())
}

/// The crate asked plainly, as any other verifier would.
fn plainly(token: &Biscuit, call: &Judged, arguments: &[(&str, u32)], now: u64) -> bool {
    let mut builder = AuthorizerBuilder::new()
        .fact(builder::fact("tool", &[builder::string(call.action.as_str())]))
        .and_then(|b| {
            b.fact(builder::fact("project", &[builder::string(call.arguments["project"].as_str().unwrap())]))
        })
        .and_then(|b| b.fact(builder::fact("time", &[Term::Date(now)])))
        .and_then(|b| b.policy("allow if tool($t), project($p), right($p, $t)"))
        .and_then(|b| b.policy("deny if true"))
        .unwrap()
        .set_limits(engine::wide_limits());
    for (name, millionths) in arguments {
        builder = builder
            .fact(builder::fact("arg", &[builder::string(name), builder::int(i64::from(*millionths))]))
            .unwrap();
    }
    builder.build(token).unwrap().authorize().is_ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn c3_our_judgement_is_the_engines_at_every_boundary(
        links in prop::collection::vec(link(), 1..4),
        tool in select(&TOOLS[..]),
        project in select(&PROJECTS[..]),
        arguments in prop::collection::btree_map(select(&["cost_usd", "runs", "task_id", "other"][..]), 0..4_u32, 0..4),
        later in 0..5_u64,
    ) {
        let token = export(&links);
        let texts: Vec<(&str, String)> =
            arguments.iter().map(|(name, millionths)| (*name, format!("{millionths}e-6"))).collect();
        let mut named: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let project = format!("\"{project}\"");
        named.push(("project", &project));
        let asked = call(tool, &named);
        let now = NOW + later;
        let arguments: Vec<(&str, u32)> = arguments.into_iter().collect();
        let ours = judge(&token.to_vec().unwrap(), &asked, now);
        let plain = plainly(&token, &asked, &arguments, now);
        // Ours is strict about the very second of the end (T2); elsewhere the two are one.
        let end = NOW + links.iter().map(|link| link.end).min().unwrap();
        prop_assert_eq!(ours.is_ok(), plain && now < end, "{:?}", ours);
        if now >= end {
            let expired = BiscuitFault::Expired { ended: at(end) };
            prop_assert_eq!(ours, Err(expired));
        }
    }
}
