use std::time::Duration;

use pact_mandate::{Monotonic, PublicKey, SecretKey, Signer};
use pact_revocation::Entry;
use proptest::prelude::*;
use tempfile::TempDir;

use super::{super::witness as witness_file, *};

mod beginning;
mod breaks;
mod clock;
mod folder;
mod shares;
mod witness;

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

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

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
