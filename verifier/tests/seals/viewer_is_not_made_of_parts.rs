//! A viewer comes from a verified chain and a fresh list alone.

use pact_mandate::Now;
use pact_verifier::{VerifiedChain, Viewer};

fn look(chain: VerifiedChain, now: Now) -> Viewer {
    Viewer { chain, now }
}

fn main() {}
