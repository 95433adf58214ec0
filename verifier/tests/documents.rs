//! What the documents say, held against the source.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is a failure, also in what the tests share"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const REFUSALS: &str = include_str!("../REFUSALS.md");
const THREATS: &str = include_str!("../THREATS.md");

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every text that a function `code` returns, with the file that says so.
fn codes_of_source() -> Vec<(String, PathBuf)> {
    let mut codes = Vec::new();
    let of_lists = here().join("../revocation/src/fresh.rs");
    let is_told = |path: &PathBuf| {
        path.components().any(|part| matches!(part.as_os_str().to_str(), Some("cli" | "tests" | "tests.rs")))
    };
    let own = sources(&here().join("src")).into_iter().filter(|path| !is_told(path));
    for path in own.chain([of_lists]) {
        let text = fs::read_to_string(&path).unwrap();
        for function in text.split("fn code(").skip(1) {
            let body = function.split("\n    }\n").next().unwrap();
            let texts = body.split('"').skip(1).step_by(2);
            codes.extend(texts.map(|code| (code.to_owned(), path.clone())));
        }
    }
    codes
}

/// The first cells of a document's table rows: those in backquotes.
fn first_cells(document: &str) -> Vec<&str> {
    document
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(cell, _)| cell))
        .collect()
}

#[test]
fn each_refusal_has_one_code_that_no_other_has_and_stands_in_the_table() {
    let mut homes: BTreeMap<String, PathBuf> = BTreeMap::new();
    for (code, path) in codes_of_source() {
        let plain = code.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        assert!(plain, "{code} of {path:?} is not snake_case");
        if let Some(other) = homes.insert(code.clone(), path.clone()) {
            panic!("{code} is a code in {other:?} and in {path:?}");
        }
    }
    let listed = first_cells(REFUSALS);
    let set: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(set.len(), listed.len(), "a code stands twice in REFUSALS.md");
    let source: BTreeSet<&str> = homes.keys().map(String::as_str).collect();
    let missing: Vec<_> = source.difference(&set).collect();
    let stale: Vec<_> = set.difference(&source).collect();
    assert!(missing.is_empty() && stale.is_empty(), "REFUSALS.md lacks {missing:?} and still has {stale:?}");
}

#[test]
fn each_threat_names_a_test_that_exists() {
    let mut tests = BTreeSet::new();
    let elsewhere = here().join("../revocation/src");
    for path in sources(&here().join("src"))
        .into_iter()
        .chain(sources(&here().join("tests")))
        .chain(sources(&elsewhere))
        .chain(sources(&here().join("sidecar/src")))
        .chain(sources(&here().join("sidecar/tests")))
    {
        let text = fs::read_to_string(&path).unwrap();
        let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
        tests.extend(names.map(str::to_owned));
    }
    let mut rows = 0;
    for line in THREATS.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack")) {
        rows += 1;
        let cell = line.trim_end_matches('|').rsplit('|').next().unwrap();
        let named: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test is named: {line}");
        for name in named {
            let seal = here().join("tests/seals").join(format!("{name}.rs"));
            assert!(tests.contains(name) || seal.exists(), "there is no test {name}");
        }
    }
    assert!(rows > 30, "{rows} threats");
}
