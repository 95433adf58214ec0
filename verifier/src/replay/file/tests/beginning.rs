//! What a record begins with, and whether it is continued.

use super::*;
use crate::{ProofKind, limits::PROOF_WINDOW_SECONDS};

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

/// What the store says of itself is what it does: a proof that is made then counts, and one that was made before does not.
#[test]
fn p7_t2_the_store_says_from_when_on_each_kind_of_proof_counts() {
    for start in START..START + PROOF_WINDOW_SECONDS {
        let folder = TempDir::new().unwrap();
        let store = open(&folder, start);
        for (kind, step) in [(ProofKind::Fresh, 1), (ProofKind::Stock, PROOF_WINDOW_SECONDS)] {
            let from = store.health().counts_from(kind);
            let made = |id, at: UnixTime| {
                let grant = Entry::from_bytes([1; 16]);
                ProofId::new(holder(1), grant, [id; 32], at.minus(kind.future_skew()), at.plus(90))
            };
            let now = at(from.seconds());
            assert_eq!(code(store.record(&made(1, from.minus(step)), now)), "proof_before_store", "{kind:?}");
            assert_eq!(from.seconds() % step, 0, "a stock proof is made at the beginning of a window");
            let id = u8::try_from(step).unwrap();
            assert_eq!(code(store.record(&made(id, from), now)), "recorded", "{kind:?}");
        }
    }
}
