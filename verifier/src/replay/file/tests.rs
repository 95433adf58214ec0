use std::{os::unix::fs::PermissionsExt, time::Duration};

use pact_mandate::{Monotonic, PublicKey, SecretKey, Signer};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const BOOT: Option<BootId> = Some(BootId([1; 16]));
const WIDE: Bounds = Bounds { proofs: 1000, per_holder: 1000 };
/// When the stores of these tests begin.
const START: u64 = 1_800_000_000;

fn at(seconds: u64) -> Now {
    let wall = UnixTime::try_from(seconds).unwrap();
    Now::new(wall, Monotonic::from_origin(Duration::from_secs(seconds)))
}

fn holder(seed: u8) -> PublicKey {
    *SecretKey::from_seed(&[seed; 32]).unwrap().public_key()
}

/// A proof of one holder that was made at that second and counts for 60.
fn proof(id: u8, made_at: u64) -> ProofId {
    proof_of(1, id, made_at)
}

fn proof_of(seed: u8, id: u8, made_at: u64) -> ProofId {
    let made_at = at(made_at).wall;
    ProofId::new(holder(seed), [id; 32], made_at.minus(5), made_at.plus(61))
}

fn open(folder: &TempDir, seconds: u64) -> FileReplay {
    FileReplay::open_bounded(folder.path(), BOOT, at(seconds), WIDE).unwrap()
}

fn code(result: Result<(), ReplayFault>) -> &'static str {
    result.map_or_else(|fault| fault.code(), |()| "recorded")
}

/// The one file of a fresh store.
fn newest(folder: &TempDir) -> PathBuf {
    segment::path(folder.path(), *segment::numbers(folder.path()).unwrap().last().unwrap())
}

#[test]
fn p6_a_proof_counts_once() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    assert_eq!(store.record(&proof(1, START + 10), at(START + 10)), Ok(()));
    assert_eq!(store.record(&proof(1, START + 10), at(START + 10)), Err(ReplayFault::Replayed));
    assert_eq!(store.record(&proof(2, START + 10), at(START + 10)), Ok(()));
    assert_eq!(store.record(&proof_of(2, 1, START + 10), at(START + 10)), Ok(()), "another holder's own id");
    assert_eq!(store.health().held, 3);
}

#[test]
fn p6_a_proof_is_kept_until_its_end_plus_the_skew() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    assert_eq!(store.record(&used, at(START + 10 + 61 + 4)), Err(ReplayFault::Replayed));
    assert_eq!(code(store.record(&used, at(START + 10 + 61 + 5))), "proof_forgotten");
    assert_eq!(store.health().held, 0);
}

#[test]
fn p6_each_holder_has_a_share_and_a_full_store_refuses() {
    let folder = TempDir::new().unwrap();
    let bounds = Bounds { proofs: 3, per_holder: 2 };
    let store = FileReplay::open_bounded(folder.path(), BOOT, at(START), bounds).unwrap();
    let now = at(START + 10);
    assert_eq!(code(store.record(&proof_of(1, 1, START + 10), now)), "recorded");
    assert_eq!(code(store.record(&proof_of(1, 2, START + 10), now)), "recorded");
    assert_eq!(code(store.record(&proof_of(1, 3, START + 10), now)), "replay_quota");
    assert_eq!(code(store.record(&proof_of(2, 1, START + 10), now)), "recorded");
    assert_eq!(code(store.record(&proof_of(3, 1, START + 10), now)), "replay_store_full");
    let later = at(START + 10 + 61 + 5);
    assert_eq!(code(store.record(&proof_of(1, 4, START + 76), later)), "recorded", "what ended makes room");
}

#[test]
fn p7_a_new_folder_refuses_proofs_that_could_have_been_used_before() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    // The accepted skew is 5 s, so a proof of START + 5 could have been used at START.
    assert_eq!(code(store.record(&proof(1, START + 5), at(START + 6))), "proof_before_store");
    assert_eq!(code(store.record(&proof(1, START + 6), at(START + 6))), "recorded");
    assert_eq!(store.health().since, at(START).wall);
}

#[test]
fn p7_an_unbroken_record_is_continued() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    drop(store);
    for start in 11..20 {
        let store = open(&folder, START + start);
        assert_eq!(store.record(&used, at(START + start)), Err(ReplayFault::Replayed));
        let other = u8::try_from(start).unwrap();
        assert_eq!(code(store.record(&proof(other, START + 10), at(START + start))), "recorded");
    }
}

#[test]
fn p7_an_id_that_was_used_again_after_its_end_is_read_back_with_its_later_end() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    let again = proof(1, START + 80);
    store.record(&again, at(START + 80)).unwrap();
    drop(store);
    let store = open(&folder, START + 90);
    assert_eq!(store.record(&again, at(START + 90)), Err(ReplayFault::Replayed));
}

#[test]
fn p7_another_boot_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    drop(open(&folder, START));
    for boot in [Some(BootId([2; 16])), None, BOOT] {
        let store = FileReplay::open_bounded(folder.path(), boot, at(START + 20), WIDE).unwrap();
        assert_eq!(store.health().since, at(START + 20).wall, "{boot:?}");
        assert_eq!(code(store.record(&proof(1, START + 25), at(START + 26))), "proof_before_store");
    }
}

#[test]
fn p7_a_file_that_is_missing_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    drop(store);
    let first = newest(&folder);
    drop(open(&folder, START + 11));
    fs::remove_file(first).unwrap();
    assert_eq!(open(&folder, START + 12).health().since, at(START + 12).wall);
}

#[test]
fn p7_two_processes_cannot_share_a_folder() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    assert_eq!(FileReplay::open(folder.path(), BOOT, at(START)).unwrap_err(), OpenError::InUse);
    drop(store);
    assert!(FileReplay::open(folder.path(), BOOT, at(START)).is_ok());
}

#[test]
fn p6_a_store_that_cannot_write_refuses() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    // A file that is open for reading alone fails each write, as a full disk does.
    store.state.lock().unwrap().segment.break_for_test(&newest(&folder));
    let refused = store.record(&proof(1, START + 10), at(START + 10)).unwrap_err();
    assert_eq!(
        (refused.code(), refused.class()),
        ("replay_store_failed", crate::refusal::Class::Unavailable)
    );
    assert!(store.health().failed.is_some());
    assert_eq!(store.health().held, 0, "what was not written is not remembered as used");
}

#[test]
fn an_unusable_folder_is_an_error() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    assert!(matches!(FileReplay::open(&file, BOOT, at(START)), Err(OpenError::Failed(_))));
    assert!(fs::metadata(&file).unwrap().permissions().mode() > 0);
}

#[test]
fn t1_a_clock_that_is_set_back_revives_no_proof() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    // The clock goes on until the proof is forgotten …
    assert_eq!(code(store.record(&proof(2, START + 500), at(START + 500))), "recorded");
    // … and is set back to when it counted.
    assert_eq!(code(store.record(&used, at(START + 20))), "proof_forgotten");
    drop(store);
    let store = open(&folder, START + 20);
    assert_eq!(code(store.record(&used, at(START + 20))), "replayed", "its file is still there");
    assert_eq!(
        code(store.record(&proof(3, START + 498), at(START + 498))),
        "recorded",
        "two seconds harm nobody"
    );
}

#[test]
fn t1_a_forgotten_file_leaves_its_floor_behind() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    assert_eq!(code(store.record(&proof(2, START + 500), at(START + 500))), "recorded");
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    assert_eq!(segment::numbers(folder.path()).unwrap().len(), 2, "the first holds what still counts");
    assert_eq!(code(store.record(&proof(3, START + 900), at(START + 900))), "recorded");
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    assert_eq!(segment::numbers(folder.path()).unwrap().len(), 2, "the first is gone, the second counts");
    drop(store);
    let store = open(&folder, START + 20);
    assert_eq!(code(store.record(&used, at(START + 20))), "proof_forgotten");
}

#[test]
fn p7_memory_and_disk_stay_bounded_over_many_calls() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    for second in 0..4000_u64 {
        let id: [u8; 32] = std::array::from_fn(|at| second.to_be_bytes()[at % 8]);
        let made = at(START + 10 + second);
        store.record(&ProofId::new(holder(1), id, made.wall.minus(5), made.wall.plus(61)), made).unwrap();
        if second % 500 == 499 {
            store.state.lock().unwrap().turn(folder.path()).unwrap();
        }
    }
    assert!(store.health().held <= 67, "{:?}", store.health());
    assert!(segment::numbers(folder.path()).unwrap().len() <= 2);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Whatever is cut off or changed in the newest file: no proof that was used counts again.
    #[test]
    fn p7_a_torn_or_altered_file_never_gives_a_used_proof_back(
        count in 1_u8..6,
        cut in any::<prop::sample::Index>(),
        flip in any::<Option<(prop::sample::Index, u8)>>(),
    ) {
        let folder = TempDir::new().unwrap();
        let store = open(&folder, START);
        for id in 0..count {
            store.record(&proof(id, START + 10), at(START + 10)).unwrap();
        }
        drop(store);
        let path = newest(&folder);
        let mut bytes = fs::read(&path).unwrap();
        let whole = bytes.clone();
        match flip {
            Some((place, with)) => { let place = place.index(bytes.len()); bytes[place] ^= with; }
            // A record that is cut off whole was never written: `write` came before the permit.
            None => bytes.truncate(cut.index(bytes.len())),
        }
        let last_whole = (bytes.len() - 72.min(bytes.len())).is_multiple_of(48) && bytes.len() >= 72;
        prop_assume!(flip.is_some() || !last_whole);
        fs::write(&path, &bytes).unwrap();
        let store = open(&folder, START + 11);
        for id in 0..count {
            let refused = store.record(&proof(id, START + 10), at(START + 11)).unwrap_err();
            prop_assert!(matches!(refused.code(), "replayed" | "proof_before_store"));
        }
        prop_assert_eq!(store.health().since == at(START).wall, bytes == whole);
    }

    /// Against a model that remembers everything: whatever order of calls, restarts and clocks.
    #[test]
    fn p6_no_order_of_calls_and_restarts_lets_a_proof_count_twice(
        steps in proptest::collection::vec((0_u8..6, 0_u64..40, -20_i64..100, prop::bool::weighted(0.1)), 1..60),
    ) {
        let folder = TempDir::new().unwrap();
        let mut store = Some(open(&folder, START));
        let mut clock = START + 10;
        let mut used = std::collections::HashSet::new();
        for (id, age, step, restart) in steps {
            clock = clock.saturating_add_signed(step).max(START);
            if restart {
                drop(store.take());
                store = Some(open(&folder, clock));
            }
            let made_at = (clock - age) / 20 * 20;
            let now = at(clock);
            // A proof past its end never comes this far (protocol P4).
            let fresh = proof(id, made_at);
            if now.wall < fresh.ends_at() && store.as_ref().unwrap().record(&fresh, now).is_ok() {
                prop_assert!(used.insert((id, made_at)), "counted twice");
            }
        }
    }
}
