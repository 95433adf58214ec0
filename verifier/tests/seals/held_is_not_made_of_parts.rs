//! A held chain comes from judging a proof alone.

use pact_mandate::Call;
use pact_verifier::{HeldChain, VerifiedChain};

fn believe(chain: VerifiedChain, call: Call) -> HeldChain {
    HeldChain { chain, call, possession: todo!() }
}

fn main() {}
