use std::{os::unix::fs::PermissionsExt, time::Duration};

use pact_mandate::{Monotonic, PublicKey, SecretKey, Signer};
use pact_revocation::Entry;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{super::witness, *};
use crate::limits::WITNESS_SECONDS;

const BOOT: Option<BootId> = Some(BootId([1; 16]));
const OTHER_BOOT: Option<BootId> = Some(BootId([2; 16]));
const WIDE: Bounds = Bounds { proofs: 1000, per_holder: 1000, per_grant: 1000 };
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
    proof_below(seed, seed, id, made_at)
}

/// Of a holder to whom another one handed on what it was granted.
fn proof_below(granted_to: u8, seed: u8, id: u8, made_at: u64) -> ProofId {
    let made_at = at(made_at).wall;
    let grant = Entry::of_key(&holder(granted_to).thumbprint());
    ProofId::new(holder(seed), grant, [id; 32], made_at.minus(5), made_at.plus(61))
}

fn open(folder: &TempDir, seconds: u64) -> FileReplay {
    open_in(folder, BOOT, seconds).unwrap()
}

fn open_in(folder: &TempDir, boot: Option<BootId>, seconds: u64) -> Result<FileReplay, OpenError> {
    FileReplay::open_bounded(folder.path(), boot, at(seconds), WIDE)
}

/// The folder as it is when its process is killed, or the power fails, at this moment.
fn as_it_is(folder: &TempDir) -> TempDir {
    let copy = TempDir::new().unwrap();
    for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    copy
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
    let bounds = Bounds { proofs: 3, per_holder: 2, per_grant: 3 };
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
fn p6_whoever_hands_a_grant_on_to_many_keys_has_one_share_for_them_all() {
    let folder = TempDir::new().unwrap();
    let bounds = Bounds { proofs: 100, per_holder: 2, per_grant: 5 };
    let open = |seconds| FileReplay::open_bounded(folder.path(), BOOT, at(seconds), bounds).unwrap();
    let store = open(START);
    let now = at(START + 10);
    let leaves: Vec<_> =
        (10..20).map(|leaf| code(store.record(&proof_below(1, leaf, 1, START + 10), now))).collect();
    assert_eq!(leaves, [["recorded"; 5], ["replay_grant_quota"; 5]].concat());
    assert_eq!(code(store.record(&proof_of(1, 2, START + 10), now)), "replay_grant_quota", "its own key too");
    assert_eq!(code(store.record(&proof_of(2, 1, START + 10), now)), "recorded", "and nobody else's");
    // Who calls again is still told so, and the shares are the same after a restart.
    drop(store);
    let store = open(START + 11);
    assert_eq!(code(store.record(&proof_below(1, 10, 1, START + 10), now)), "replayed");
    assert_eq!(code(store.record(&proof_below(1, 10, 2, START + 10), now)), "replay_grant_quota");
    let later = at(START + 10 + 61 + 5);
    assert_eq!(code(store.record(&proof_below(1, 10, 3, START + 76), later)), "recorded");
    assert_eq!(store.state.lock().unwrap().seen().owners(), (1, 1), "no share outlives its proofs");
}

#[test]
fn p6_one_grant_cannot_take_more_than_a_quarter_of_the_store() {
    const { assert!(MAX_PROOFS_PER_GRANT * 4 <= MAX_PROOFS && MAX_PROOFS_PER_HOLDER <= MAX_PROOFS_PER_GRANT) };
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
fn p7_the_newest_file_that_is_missing_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    let used = proof(2, START + 11);
    store.record(&used, at(START + 11)).unwrap();
    for folder in [as_it_is(&folder), {
        drop(store);
        folder
    }] {
        fs::remove_file(newest(&folder)).unwrap();
        let store = open(&folder, START + 12);
        assert!(store.health().since >= at(START + 12).wall);
        assert_eq!(code(store.record(&used, at(START + 12))), "proof_before_store");
    }
}

#[test]
fn p7_a_file_that_is_cut_short_between_two_records_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    store.record(&proof(1, START + 10), at(START + 10)).unwrap();
    let (first, shorter) = (newest(&folder), fs::read(newest(&folder)).unwrap());
    store.record(&proof(2, START + 11), at(START + 11)).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    store.record(&proof(3, START + 12), at(START + 12)).unwrap();
    // Of a file that another one follows, whenever the process is killed …
    let killed = as_it_is(&folder);
    fs::write(killed.path().join(first.file_name().unwrap()), &shorter).unwrap();
    assert!(open(&killed, START + 13).health().since >= at(START + 13).wall);
    // … and of the last one, after an orderly end.
    drop(store);
    let last = newest(&folder);
    let bytes = fs::read(&last).unwrap();
    fs::write(&last, &bytes[..bytes.len() - 48]).unwrap();
    assert!(open(&folder, START + 13).health().since >= at(START + 13).wall);
}

#[test]
fn p7_a_witness_that_is_missing_or_damaged_breaks_the_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    drop(store);
    let (missing, damaged) = (as_it_is(&folder), as_it_is(&folder));
    fs::remove_file(witness::path(missing.path())).unwrap();
    fs::write(witness::path(damaged.path()), "pact-witness/1").unwrap();
    for folder in [missing, damaged] {
        let store = open(&folder, START + 12);
        assert!(store.health().since > at(START + 12).wall, "not before the end of what was used");
        assert_eq!(code(store.record(&used, at(START + 12))), "proof_before_store");
    }
}

#[test]
fn p7_a_process_that_is_killed_between_two_files_leaves_nothing_that_counts_twice() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 10);
    store.record(&used, at(START + 10)).unwrap();
    let before = fs::read(witness::path(folder.path())).unwrap();
    store.state.lock().unwrap().turn(folder.path()).unwrap();
    // The file has begun, the witness does not know of it yet.
    let killed = as_it_is(&folder);
    fs::write(witness::path(killed.path()), before).unwrap();
    let store = open(&killed, START + 11);
    assert_eq!(store.health().since, at(START).wall, "unbroken");
    assert_eq!(code(store.record(&used, at(START + 11))), "replayed");
}

#[test]
fn p7_the_witness_is_not_written_with_each_record() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let mut written = std::collections::HashSet::new();
    for second in 0..=2 * WITNESS_SECONDS {
        let id = u8::try_from(second).unwrap();
        store.record(&proof(id, START + 10 + second), at(START + 10 + second)).unwrap();
        written.insert(fs::read(witness::path(folder.path())).unwrap());
    }
    assert_eq!(written.len(), 2);
}

#[test]
fn p6_a_store_whose_witness_cannot_be_written_refuses() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    fs::remove_file(witness::path(folder.path())).unwrap();
    fs::create_dir(witness::path(folder.path())).unwrap();
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 10))), "replay_store_failed");
    assert_eq!(store.health().held, 0);
    let turn = || store.state.lock().unwrap().turn(folder.path());
    assert!(turn().is_err());
    // Once it can, it goes on as if nothing had been.
    fs::remove_dir(witness::path(folder.path())).unwrap();
    assert_eq!(turn(), Ok(()));
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 10))), "recorded");
    drop(store);
    let store = open(&folder, START + 11);
    assert_eq!(code(store.record(&proof(1, START + 10), at(START + 11))), "replayed");
}

#[test]
fn t1_p7_a_reboot_with_an_earlier_clock_gives_no_used_proof_back() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let used = proof(1, START + 300);
    store.record(&used, at(START + 300)).unwrap();
    let killed = as_it_is(&folder);
    // What the system had not written out yet when it died is gone: the record itself …
    let lost = as_it_is(&folder);
    let bytes = fs::read(newest(&lost)).unwrap();
    fs::write(newest(&lost), &bytes[..bytes.len() - 48]).unwrap();
    // … or the witness, where its folder was copied without it.
    let bare = as_it_is(&folder);
    fs::remove_file(witness::path(bare.path())).unwrap();
    drop(store);
    for folder in [folder, killed, lost, bare] {
        let store = open_in(&folder, OTHER_BOOT, START + 100).unwrap();
        assert!(store.health().since >= at(START + 300).wall, "{:?}", store.health());
        assert_eq!(code(store.record(&used, at(START + 299))), "proof_before_store");
        // It lasts as long as the clock is behind, and some seconds.
        let later = START + 300 + 61 + 6;
        assert_eq!(code(store.record(&proof(2, later), at(later))), "recorded");
        drop(store);
        let store = open_in(&folder, BOOT, START + 100).unwrap();
        assert_eq!(store.health().since, at(later).wall, "and is handed on to the next boot");
    }
}

#[test]
fn t1_p7_a_clock_that_is_far_behind_the_record_keeps_the_store_shut() {
    let folder = TempDir::new().unwrap();
    let store = open(&folder, START);
    let far = START + 30 * 365 * 86_400;
    store.record(&proof(1, far), at(far)).unwrap();
    drop(store);
    // In the same boot nothing is lost, so nothing is in doubt.
    assert_eq!(open(&folder, START + 10).health().since, at(START).wall);
    let shut = open_in(&folder, OTHER_BOOT, START + 10).unwrap_err();
    assert_eq!(shut, OpenError::ClockBehind { until: at(far).wall, now: at(START + 10).wall });
    assert!(shut.to_string().contains("set the clock"), "{shut}");
    let most = far - MAX_CLOCK_BEHIND_SECONDS;
    assert!(open_in(&folder, OTHER_BOOT, most - 1).is_err(), "it stays shut, and nothing was changed");
    assert_eq!(open_in(&folder, OTHER_BOOT, most).unwrap().health().since, at(far).wall);
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
    store.state.lock().unwrap().break_for_test(&newest(&folder));
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
        let grant = Entry::from_bytes([1; 16]);
        let proof = ProofId::new(holder(1), grant, id, made.wall.minus(5), made.wall.plus(61));
        store.record(&proof, made).unwrap();
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
            None => bytes.truncate(cut.index(bytes.len())),
        }
        fs::write(&path, &bytes).unwrap();
        let store = open(&folder, START + 11);
        for id in 0..count {
            let refused = store.record(&proof(id, START + 10), at(START + 11)).unwrap_err();
            prop_assert!(matches!(refused.code(), "replayed" | "proof_before_store"));
        }
        prop_assert_eq!(store.health().since == at(START).wall, bytes == whole);
    }

    /// Against a model that remembers everything: whatever order of calls, orderly ends, kills, reboots and clocks.
    #[test]
    fn p6_no_order_of_calls_and_restarts_lets_a_proof_count_twice(
        steps in proptest::collection::vec((0_u8..6, 0_u64..40, -40_i64..60, 0_u8..16), 1..40),
    ) {
        let mut folder = TempDir::new().unwrap();
        let mut boot = 1;
        let mut store = Some(open(&folder, START));
        let mut clock = START + 10;
        let mut used = std::collections::HashSet::new();
        for (id, age, step, fate) in steps {
            clock = clock.saturating_add_signed(step).max(START);
            if fate < 4 {
                let killed = (fate > 1).then(|| as_it_is(&folder));
                drop(store.take());
                folder = killed.unwrap_or(folder);
                boot += fate % 2;
                let boot = Some(BootId([boot; 16]));
                store = Some(open_in(&folder, boot, clock).unwrap_or_else(|error| {
                    let OpenError::ClockBehind { until, .. } = error else { panic!("{error}") };
                    // Somebody sets the clock.
                    clock = until.seconds();
                    open_in(&folder, boot, clock).unwrap()
                }));
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
