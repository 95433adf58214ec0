//! Leave for an act comes from the ladder alone.

use pact_verifier::{Act, ActPermit, VerifiedChain};

fn make(chain: VerifiedChain, act: Act) -> ActPermit {
    ActPermit { chain, act }
}

fn main() {}
