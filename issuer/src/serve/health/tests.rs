use pact_revocation::ListVersion;

use super::*;

fn at(seconds: u64) -> UnixTime {
    UnixTime::try_from(seconds).unwrap()
}

fn look(keys: Vec<(Role, KeyState)>, signed_at: Option<u64>, looked_at: u64) -> Look {
    let report = Report {
        keys,
        version: ListVersion::try_from(7).unwrap(),
        signed_at: signed_at.map(at),
        journal_lines: 3,
        journal_bytes: 400,
    };
    Look { report, at: at(looked_at), fault: None, failures: 0 }
}

fn both() -> Vec<(Role, KeyState)> {
    Role::ALL.map(|role| (role, KeyState::Active)).to_vec()
}

fn reasons(look: &Look, now: u64) -> Vec<String> {
    let health = Health::judge(look, true, at(now));
    assert_eq!(health.ready, health.reasons.is_empty());
    health.reasons
}

#[test]
fn r2_a_publisher_that_stands_still_is_not_ready_before_its_lists_go_stale() {
    let look = look(both(), Some(1_000), 1_000);
    assert_eq!(reasons(&look, 1_000 + LATE_SECONDS), Vec::<String>::new());
    let late = reasons(&look, 1_001 + LATE_SECONDS);
    assert_eq!(late.len(), 2, "{late:?}");
    assert!(late[0].starts_with("lists: last signed 31 s ago"), "{late:?}");
    assert!(late[1].starts_with("journal: last looked at 31 s ago"), "{late:?}");
}

#[test]
fn t1_a_clock_that_steps_back_makes_no_list_young() {
    let reasons = reasons(&look(both(), Some(1_000), 990), 999);
    assert!(reasons[0].contains("which is to come"), "{reasons:?}");
}

#[test]
fn each_role_needs_a_key_that_signs() {
    let keys = vec![(Role::Mandate, KeyState::Next), (Role::List, KeyState::Active)];
    assert_eq!(reasons(&look(keys, Some(1_000), 1_000), 1_000), ["keyring: no mandate key is active"]);
    assert!(reasons(&look(both(), None, 1_000), 1_000)[0].contains("none was signed"));
}

#[test]
fn an_error_belongs_to_the_part_that_it_stops() {
    let io = || StoreError::Io { path: "x".into(), source: std::io::Error::other("full") };
    let role = Role::List;
    for (error, part) in [
        (PublishError::Journal(io()), Part::Journal),
        (PublishError::Store(io()), Part::Lists),
        (
            PublishError::Store(StoreError::Keyring(crate::keyring::KeyringError::NoActive(role))),
            Part::Keyring,
        ),
    ] {
        assert_eq!(Part::of(&error), part, "{error}");
        let fault = Some((part, error.to_string()));
        let look = Look { fault, ..look(both(), Some(1_000), 1_000) };
        assert_eq!(reasons(&look, 1_000).len(), 1);
    }
}

#[test]
fn r2_a_publisher_that_ended_is_named_first() {
    let health = Health::judge(&look(both(), Some(1_000), 1_000), false, at(1_000));
    assert_eq!((health.ready, health.reasons), (false, vec![format!("publisher: {PUBLISHER_ENDED}")]));
}
