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

/// Where tests stand whose names a threat may name.
const TESTED: [&str; 8] = [
    "src",
    "tests",
    "sidecar/src",
    "sidecar/tests",
    "../revocation/src",
    "../issuer/src",
    "../issuer/tests",
    "../issuer/mandate/src",
];

/// The functions of a text that its test runner calls: under `#[test]` or `#[tokio::test]`, also those of `proptest!`,
/// each of which has such a line. Nothing else is a test, whatever it is called.
fn tests_of(text: &str) -> BTreeSet<String> {
    let mut tests = BTreeSet::new();
    let mut is_marked = false;
    for line in text.lines().map(str::trim_start) {
        if line == "#[test]" || line.starts_with("#[tokio::test") {
            is_marked = true;
        } else if let Some(name) = name_of_function(line) {
            if std::mem::take(&mut is_marked) {
                tests.insert(name.to_owned());
            }
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            is_marked = false;
        }
    }
    tests
}

fn name_of_function(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    rest.split(['(', '<']).next()
}

#[test]
fn a_function_is_a_test_only_where_a_test_runner_calls_it() {
    let text = "\
#[test]
fn plain() { fn inner() {} }
fn record() {}
#[tokio::test(flavor = \"multi_thread\")]
/// Told.
#[ignore = \"needs X\"]
async fn awaited() {}
pub async fn open() {}
#[test]
const NONE: u8 = 0;
fn after() {}
proptest! {
    #[test]
    fn law(x in 0..1) {}
    fn generic<T>() {}
}";
    assert_eq!(tests_of(text), ["awaited", "law", "plain"].map(str::to_owned).into());
}

#[test]
fn each_threat_names_a_test_that_exists() {
    let files = TESTED.iter().flat_map(|folder| sources(&here().join(folder)));
    let tests: BTreeSet<String> =
        files.flat_map(|path| tests_of(&fs::read_to_string(path).unwrap())).collect();
    let mut rows = 0;
    for line in THREATS.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| attack |")) {
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
