//! One permit, one call.

use pact_verifier::Permit;

fn twice(permit: &Permit) -> Permit {
    permit.clone()
}

fn main() {}
