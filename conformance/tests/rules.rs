//! Every rule that code, tests or documents name stands on the page of rules.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may stop where it fails")]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const PAGE: &str = include_str!("../PROTOCOL.md");
const SECTIONS: &str = "KCPRTMI";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

fn texts(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && !name.starts_with('.') && name != "target" {
            texts(&path, found);
        } else if path.is_file() && [".rs", ".md"].iter().any(|end| name.ends_with(end)) {
            found.push((path.clone(), fs::read_to_string(&path).unwrap()));
        }
    }
}

/// A rule's id at the beginning of a text, and what follows it.
fn id(text: &str) -> Option<(String, &str)> {
    let section = text.chars().next()?.to_ascii_uppercase();
    let digits = text.get(1..)?.chars().take_while(char::is_ascii_digit).count();
    let (number, rest) = text.get(1..)?.split_at(digits);
    (SECTIONS.contains(section) && (1..=2).contains(&digits)).then(|| (format!("{section}{number}"), rest))
}

/// The ids of `P1, P4 and C1` at the beginning of a text; line breaks inside a comment count as spaces.
fn listed(text: &str) -> Vec<String> {
    let mut ids = Vec::new();
    let mut rest = text;
    while let Some((found, after)) = id(rest) {
        ids.push(found);
        let next = [", ", " and ", " to "].iter().find_map(|between| after.strip_prefix(between));
        rest = next.unwrap_or_default();
    }
    ids
}

/// Where rules are named: in a test's name, after the word "protocol", as a refusal's rule, in a table's cell.
fn named(text: &str) -> BTreeSet<String> {
    let flat = text.replace("\n//! ", " ").replace("\n/// ", " ").replace("\n    /// ", " ");
    let after = |mark: &'static str| flat.split(mark).skip(1);
    let tests = after("fn ").filter_map(id).filter(|(_, rest)| rest.starts_with('_')).map(|(id, _)| id);
    let told = after("protocol ").chain(after("rule ")).flat_map(listed);
    // Test keys are named `k1`, rules `K1`.
    let is_rule = |text: &&str| text.starts_with(|first: char| first.is_ascii_uppercase());
    let alone = |(found, rest): (String, &str)| rest.trim().is_empty().then_some(found);
    let quoted = after("\"").filter(is_rule).filter_map(id).filter_map(alone);
    let cells = after("| ").filter(is_rule).filter_map(id).filter_map(alone);
    tests.chain(told).chain(quoted).chain(cells).collect()
}

#[test]
fn every_rule_that_is_named_stands_on_the_page() {
    let rules: BTreeSet<String> = PAGE.split("\n**").skip(1).filter_map(id).map(|(found, _)| found).collect();
    assert!(rules.len() > 40, "{rules:?}");
    let mut files = Vec::new();
    texts(&repository(), &mut files);
    let mut all = BTreeMap::new();
    for (path, text) in &files {
        all.extend(named(text).into_iter().map(|found| (found, path)));
    }
    assert!(all.len() > 30, "the search finds too little: {all:?}");
    let unknown: Vec<_> = all.iter().filter(|(found, _)| !rules.contains(*found)).collect();
    assert_eq!(unknown, [], "rules that PROTOCOL.md does not have");
}

#[test]
fn the_search_reads_ids_wherever_they_are_named() {
    let text = "fn k3_one() {} fn p256_is_no_rule() {}\n/// (protocol R5,\n/// T2 and C7).\n| `code` | 401 | M1 | x |\n=> \"P6\"";
    let expected = ["K3", "R5", "T2", "C7", "M1", "P6"].map(str::to_owned);
    assert_eq!(named(text), expected.into_iter().collect());
}
