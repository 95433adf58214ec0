use proptest::prelude::*;

use super::*;
use crate::samples::{scope, scope_items, scopes};

fn covers(granted: &str, needed: &str) -> bool {
    granted.parse::<ScopeItem>().unwrap().covers(&needed.parse().unwrap())
}

#[test]
fn board_scopes_and_opaque_ones_are_told_apart() {
    let board = |text: &str| matches!(text.parse::<ScopeItem>().unwrap(), ScopeItem::Board(..));
    for text in ["task.read@project:web", "*@project:w", "a@project:0-", "ä.*@project:web"] {
        assert!(board(text), "{text}");
    }
    for text in [
        "task.read",
        "a@b@project:web",
        "@project:web",
        "a@project:",
        "a@project:Web",
        "a@project:-w",
        "a@project:w.x",
        "a@project:w@project:w",
        "a@Project:web",
    ] {
        assert!(!board(text), "{text}");
    }
}

#[test]
fn an_entry_is_1_to_200_characters_without_spaces() {
    for bad in ["", " ", "a b", "a\tb", "a\u{a0}b", "a\u{2028}b", "a\0b", &"a".repeat(201)] {
        assert_eq!(bad.parse::<ScopeItem>(), Err(ScopeError::NotAnItem), "{bad:?}");
        assert_eq!(bad.parse::<Action>(), Err(ScopeError::NotAnAction), "{bad:?}");
    }
    assert!("ä".repeat(200).parse::<ScopeItem>().is_ok());
    assert_eq!("a@b".parse::<Action>(), Err(ScopeError::NotAnAction));
    for bad in ["", "Web", "-w", "w_x", "w.x", &"w".repeat(64)] {
        assert_eq!(bad.parse::<Project>(), Err(ScopeError::NotAProject), "{bad}");
    }
}

#[test]
fn a_scope_is_bounded() {
    let items = |count: usize| vec!["a".parse::<ScopeItem>().unwrap(); count];
    assert!(Scope::try_from(items(MAX_SCOPE_ITEMS)).is_ok());
    assert_eq!(Scope::try_from(items(MAX_SCOPE_ITEMS + 1)), Err(ScopeError::TooMany));
    let text = serde_json::to_string(&items(MAX_SCOPE_ITEMS + 1)).unwrap();
    assert!(serde_json::from_str::<Scope>(&text).is_err());
}

/// Board rule 2.6.
#[test]
fn an_action_covers_itself_and_what_its_pattern_says() {
    for (granted, needed) in [
        ("*", "task.read"),
        ("*", "*"),
        ("*", "a.*"),
        ("task.read", "task.read"),
        ("task.*", "task.work"),
        ("task.*", "task"),
        ("task.*", "task.*"),
        ("task.*", "task.a.*"),
        ("task.*", "task.a.b"),
    ] {
        assert!(
            covers(&format!("{granted}@project:web"), &format!("{needed}@project:web")),
            "{granted} {needed}"
        );
        assert!(covers(granted, needed), "{granted} {needed}");
    }
    for (granted, needed) in [
        ("task.read", "task.work"),
        ("task.read", "task.*"),
        ("task.*", "tasks"),
        ("task.*", "taskx.a"),
        ("task.*", "*"),
        ("task", "task.read"),
        ("task*", "task.read"),
        (".*", "a"),
        ("*.read", "task.read"),
        ("task.a.*", "task.*"),
    ] {
        assert!(
            !covers(&format!("{granted}@project:web"), &format!("{needed}@project:web")),
            "{granted} {needed}"
        );
        assert!(!covers(granted, needed), "{granted} {needed}");
    }
}

#[test]
fn projects_and_kinds_do_not_cover_each_other() {
    assert!(!covers("task.read@project:web", "task.read@project:app"));
    assert!(!covers("*@project:web", "task.read"));
    assert!(!covers("*", "task.read@project:web"));
    assert!(!covers("task.read@project:*", "task.read@project:web"));
}

/// A grant of `*.*` permits no `task.read`; were `*` covered by it, a child of it would.
#[test]
fn a_pattern_is_not_covered_as_the_prefix_of_a_longer_one() {
    for (granted, needed) in [("*.*", "*"), ("a.*.*", "a.*"), ("*.*.*", "*.*")] {
        assert!(
            !covers(&format!("{granted}@project:web"), &format!("{needed}@project:web")),
            "{granted} {needed}"
        );
        assert!(!covers(granted, needed), "{granted} {needed}");
    }
    assert!(covers("*.*", "*.x") && covers("*.*", "*.*") && covers("a.b.*", "a.b"));
}

#[test]
fn a_scope_names_its_first_entry_beyond_another() {
    let parent = scope(&["task.*@project:web", "other"]);
    assert_eq!(scope(&["task.read@project:web", "other"]).first_beyond(&parent), None);
    let wider = scope(&["task.read@project:web", "note@project:web", "more"]);
    assert_eq!(wider.first_beyond(&parent).unwrap().to_string(), "note@project:web");
}

proptest! {
    #[test]
    fn an_entry_has_one_text(text in "\\PC{1,20}(@project:[a-z0-9-]{0,4})?") {
        if let Ok(item) = text.parse::<ScopeItem>() {
            prop_assert_eq!(item.to_string(), text);
        }
    }

    #[test]
    fn covering_is_reflexive(item in scope_items()) {
        prop_assert!(item.covers(&item));
    }

    #[test]
    fn covering_is_transitive(a in scope_items(), b in scope_items(), c in scope_items()) {
        prop_assert!(!(a.covers(&b) && b.covers(&c)) || a.covers(&c), "{a} {b} {c}");
    }

    #[test]
    fn narrowing_is_reflexive_and_transitive(a in scopes(), b in scopes(), c in scopes()) {
        let narrows = |child: &Scope, parent: &Scope| child.first_beyond(parent).is_none();
        prop_assert!(narrows(&a, &a));
        prop_assert!(!(narrows(&c, &b) && narrows(&b, &a)) || narrows(&c, &a));
    }

    #[test]
    fn narrowing_is_sound(parent in scopes(), child in scopes(), needed in scope_items()) {
        let narrows = child.first_beyond(&parent).is_none();
        prop_assert!(!(narrows && child.covers(&needed)) || parent.covers(&needed));
    }
}
