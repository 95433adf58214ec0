//! Leave for an act on a session forwards no call.

use pact_verifier::{ActPermit, Permit};

fn forward(permit: Permit) {
    let _ = permit.into_call();
}

fn act(permit: ActPermit) {
    forward(permit);
}

fn main() {}
