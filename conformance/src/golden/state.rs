//! The sidecar's state folder: the floor of a list, a file of used proofs and its witness.

use std::{fs, path::Path, time::Duration};

use pact_mandate::{Format, Monotonic, Now, Signer, UnixTime, jwks::KeySet};
use pact_revocation::{Entry, FloorFolder, Keeper};
use pact_verifier::{
    FileReplay, ReplayStore,
    replay::{BootId, ProofId},
};

use super::{Cases, Fault, key, list, mandate::START, proof::hex};

pub(super) fn cases() -> Result<Cases, Fault> {
    let folder = tempfile::tempdir()?;
    let (floors, proofs) = (folder.path().join("lists"), folder.path().join("replay"));
    raise(&floors)?;
    use_proofs(&proofs)?;
    let floor = fs::read_to_string(floors.join("pact-b8b758be8adf3d037d232aba52046be6.floor"))?;
    Ok(Cases::from([
        ("state.floor", floor),
        ("state.seen", hex(&fs::read(proofs.join("00000000000000000000.seen"))?)),
        ("state.witness", hex(&fs::read(proofs.join("witness"))?)),
    ]))
}

/// Both golden lists come, one after the other.
fn raise(folder: &Path) -> Result<(), Fault> {
    let signer = key::list_key()?;
    let keys = KeySet::new(vec![(signer.key_id().clone(), *signer.public_key())])?;
    let floor = FloorFolder::open(folder)?;
    let mut keeper = Keeper::new("board.example.org".parse()?, Format::Pact, keys, floor)?;
    for (list, seconds) in [(list::first()?, 0), (list::second()?, 30)] {
        keeper.accept_whole(&list.head_bytes()?, list.body_bytes(), at(seconds)?)?;
    }
    Ok(())
}

/// Two proofs of the golden holder are used, a second apart, and the process ends in good order.
fn use_proofs(folder: &Path) -> Result<(), Fault> {
    let store = FileReplay::open(folder, Some(BootId::from_bytes([0x55; 16])), at(0)?)?;
    let holder = *key::holder_key()?.public_key();
    let grant = Entry::of_key(&holder.thumbprint());
    for (id, seconds) in [([0x66; 32], 60), ([0x77; 32], 61)] {
        let made = at(seconds)?.wall;
        store.record(&ProofId::new(holder, grant, id, made.minus(5), made.plus(61)), at(seconds)?)?;
    }
    Ok(())
}

fn at(seconds: u64) -> Result<Now, Fault> {
    let passed = Monotonic::from_origin(Duration::from_secs(seconds));
    Ok(Now::new(UnixTime::try_from(START + seconds)?, passed))
}
