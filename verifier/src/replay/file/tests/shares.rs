//! Single use, and who may have how much of the store.

use super::*;

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
