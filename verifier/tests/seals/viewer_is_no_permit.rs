//! What sees tools forwards nothing.

use pact_verifier::{Permit, Viewer};

fn forward(permit: Permit) {
    let _ = permit.into_call();
}

fn call(viewer: Viewer) {
    forward(viewer);
}

fn main() {}
