//! Leave for an act is used up by whoever does it, and there is no copy of it.

use pact_verifier::ActPermit;

fn twice(permit: ActPermit) {
    let _ = permit.into_act();
    let _ = permit.into_act();
}

fn copy(permit: &ActPermit) -> ActPermit {
    permit.clone()
}

fn main() {}
