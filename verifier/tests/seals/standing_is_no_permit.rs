//! What an open answer rests on forwards nothing.

use pact_verifier::{Permit, Standing};

fn forward(permit: Permit) {
    let _ = permit.into_call();
}

fn again(standing: Standing) {
    forward(standing);
}

fn main() {}
