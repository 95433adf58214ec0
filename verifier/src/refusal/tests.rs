//! The table of refusals, row by row, against one refusal of each code.

use std::collections::{BTreeMap, BTreeSet};

use super::*;

mod biscuit;
mod others;
mod proofs;
mod tenuo;

const TABLE: &str = include_str!("../../REFUSALS.md");

/// One refusal of each code there is. A new variant goes into the file of its family; the first test asks for it.
fn all() -> Vec<Refusal> {
    [tenuo::all(), biscuit::all(), proofs::all(), others::all()].concat()
}

/// The rows: status and rule by code.
fn rows() -> BTreeMap<&'static str, (u16, &'static str)> {
    let cells = |line: &'static str| -> Option<_> {
        let mut cells = line.strip_prefix("| `")?.split(" | ");
        Some((cells.next()?.strip_suffix('`')?, (cells.next()?.parse().ok()?, cells.next()?)))
    };
    TABLE.lines().filter_map(cells).collect()
}

fn status(class: Class) -> u16 {
    match class {
        Class::Malformed => 400,
        Class::Unauthenticated => 401,
        Class::Forbidden => 403,
        Class::TooMany => 429,
        Class::Unavailable => 503,
    }
}

#[test]
fn each_row_of_the_table_says_the_class_and_the_rule_of_its_refusal() {
    let (all, rows) = (all(), rows());
    let codes: BTreeSet<_> = all.iter().map(Refusal::code).collect();
    assert_eq!(codes.len(), all.len(), "a code is here twice");
    let listed: BTreeSet<_> = rows.keys().copied().collect();
    let (missing, stale): (Vec<_>, Vec<_>) =
        (listed.difference(&codes).collect(), codes.difference(&listed).collect());
    assert!(missing.is_empty(), "no refusal here has the codes {missing:?} of REFUSALS.md: add one of each");
    assert!(stale.is_empty(), "REFUSALS.md lacks {stale:?}");
    for refusal in &all {
        let told = (status(refusal.class()), refusal.rule());
        assert_eq!(rows.get(refusal.code()), Some(&told), "{} of REFUSALS.md", refusal.code());
    }
}

#[test]
fn a_refusal_is_told_at_the_rung_that_its_rows_heading_names() {
    let mut heading = "";
    for line in TABLE.lines() {
        heading = line.strip_prefix("## ").unwrap_or(heading);
        let Some((code, _)) = line.strip_prefix("| `").and_then(|rest| rest.split_once('`')) else {
            continue;
        };
        let rungs: Vec<u8> = heading
            .split(':')
            .next()
            .into_iter()
            .flat_map(|rungs| rungs.bytes())
            .filter(u8::is_ascii_digit)
            .map(|digit| digit - b'0')
            .collect();
        let refusal = all().into_iter().find(|refusal| refusal.code() == code);
        let rung = refusal.map(|refusal| refusal.rung());
        assert!(rung.is_some_and(|rung| rungs.contains(&rung)), "{code} is of {rung:?}, not of {heading}");
    }
}

#[test]
fn k4_a_root_that_nobody_has_is_told_from_every_other_refusal() {
    let unknown: Vec<_> = all().into_iter().filter(Refusal::is_unknown_root).collect();
    let codes: BTreeSet<_> = unknown.iter().map(Refusal::code).collect();
    assert_eq!(codes, ["biscuit_unknown_root", "tenuo_untrusted_root"].into());
}

#[test]
fn p2_p3_a_proof_that_breaks_a_rule_of_its_own_names_that_rule() {
    let rules: BTreeMap<_, _> = all().iter().map(|refusal| (refusal.code(), refusal.rule())).collect();
    let expected = [
        ("tenuo_proof_reserved_argument", "P2"),
        ("dpop_reserved_argument", "P2"),
        ("argument_reserved", "P2"),
        ("tenuo_proof_tool_renamed", "P3"),
        ("stock_proof_refused", "P3"),
        ("stock_proof_covers_less", "P3"),
        ("tenuo_proof_invalid", "P1"),
        ("dpop_signature", "P4"),
    ];
    for (code, rule) in expected {
        assert_eq!(rules.get(code), Some(&rule), "{code}");
    }
}
