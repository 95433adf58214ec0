//! A held chain comes from judging a proof alone.

use pact_mandate::Call;
use pact_verifier::{HeldChain, VerifiedChain};

fn believe(mut held: HeldChain, chain: VerifiedChain, call: Call) -> HeldChain {
    held.chain = chain;
    held.call = call;
    held
}

fn main() {}
