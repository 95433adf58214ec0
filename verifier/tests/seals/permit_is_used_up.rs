//! One permit, one call.

use pact_verifier::Permit;

fn forward(permit: Permit) {
    let _ = permit.into_call();
}

fn twice(permit: Permit) {
    forward(permit);
    forward(permit);
}

fn main() {}
