use std::{env, fs, path::PathBuf};

use super::*;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("FORMATS.md")
}

/// The page with every golden block made anew, and the names of the blocks in their order.
fn renewed(text: &str, cases: &Cases) -> (String, Vec<String>) {
    let (mut out, mut names) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some((_, name)) = line.strip_prefix("```").and_then(|fence| fence.split_once(" golden=")) else {
            continue;
        };
        let case = cases.get(name).unwrap_or_else(|| panic!("no golden case is called {name}"));
        out.push_str(case.trim_end_matches('\n'));
        out.push_str("\n```\n");
        names.push(name.to_owned());
        assert!(lines.any(|line| line == "```"), "the block {name} has no end");
    }
    (out, names)
}

/// With `PACT_BLESS=1` the page is written instead.
#[test]
fn the_page_of_formats_holds_the_golden_cases() {
    let cases = cases().unwrap();
    let text = fs::read_to_string(page()).unwrap();
    let (renewed, mut names) = renewed(&text, &cases);
    names.sort();
    assert_eq!(names, cases.keys().copied().collect::<Vec<_>>(), "each case stands on the page once");
    if env::var_os("PACT_BLESS").is_some() {
        fs::write(page(), &renewed).unwrap();
        return;
    }
    let changed = text.lines().zip(renewed.lines()).find(|(old, new)| old != new);
    assert_eq!(changed, None, "a format has changed: is that wanted? PACT_BLESS=1 writes the page anew");
    assert_eq!(text.lines().count(), renewed.lines().count());
}
