//! A permit comes from the last rung alone.

use pact_verifier::{LiveChain, Permit};

fn believe(live: LiveChain) -> Permit {
    Permit { live }
}

fn main() {}
