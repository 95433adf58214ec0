//! Revocation lists, from files.

use std::path::{Path, PathBuf};

use pact_mandate::{Format, IssuerId, Now, jwks::KeySet};
use pact_revocation::{FloorFolder, FloorInMemory, Keeper, ListRefusal, Lists};

use super::{
    Unjudged,
    inputs::read_bytes,
    trust_file::{ListFiles, OwnList},
};

/// What is held, and what was refused. A list that is refused is as if it were not there: nothing is fresh.
pub(crate) fn load(
    files: &[ListFiles],
    state: Option<&Path>,
    now: Now,
) -> Result<(Lists, Vec<String>), Unjudged> {
    let (mut lists, mut refused) = (Lists::none(), Vec::new());
    let mut take = |name: String, outcome: Result<_, ListRefusal>| match outcome {
        Ok(held) => lists = lists.with(held),
        Err(refusal) => refused.push(format!("{name}: {refusal}")),
    };
    for issuer in files {
        if let Some(own) = &issuer.own {
            let name = format!("the list of {}", issuer.issuer);
            take(name, load_own(&issuer.issuer, own, state, now)?);
        }
        // Where the issuer's own list is named, it alone speaks: when that is refused, nothing takes its place.
        let compatible = issuer.compatible.iter().filter(|_| issuer.own.is_none());
        for (format, path) in compatible {
            let mut keeper = keeper(&issuer.issuer, *format, issuer.mandate_keys.clone(), state)?;
            let name = format!("the {format} list of {}", issuer.issuer);
            take(name, keeper.accept_compatible(&read_bytes(path)?, now));
        }
    }
    Ok((lists, refused))
}

fn load_own(
    issuer: &IssuerId,
    own: &OwnList,
    state: Option<&Path>,
    now: Now,
) -> Result<Result<std::sync::Arc<pact_revocation::Held>, ListRefusal>, Unjudged> {
    let mut keeper = keeper(issuer, Format::Pact, own.keys.clone(), state)?;
    let head = read_bytes(&own.head)?;
    let examined = match keeper.examine(&head, now) {
        Ok(examined) => examined,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let path = body_path(&own.bodies, &examined.head().entries().sha256.to_string());
    Ok(keeper.accept_whole(&head, &read_bytes(&path)?, now))
}

fn body_path(bodies: &Path, name: &str) -> PathBuf {
    if bodies.is_dir() { bodies.join(name) } else { bodies.to_owned() }
}

/// With a state folder, an older list than one that was seen is refused (protocol R7).
fn keeper(issuer: &IssuerId, kind: Format, keys: KeySet, state: Option<&Path>) -> Result<Keeper, Unjudged> {
    let unusable = |error| Unjudged::new(format!("the floor of {issuer}"), error);
    match state {
        Some(state) => {
            let floors = FloorFolder::open(state.join("floors")).map_err(unusable)?;
            Keeper::new(issuer.clone(), kind, keys, floors).map_err(unusable)
        }
        None => Keeper::new(issuer.clone(), kind, keys, FloorInMemory::default()).map_err(unusable),
    }
}
