//! Possession of a chain that nobody verified proves nothing.

use pact_mandate::{Call, Now};
use pact_verifier::{Audience, HeldChain, Policy, Presented, PresentedProof};

fn skip(presented: Presented, proof: &PresentedProof, call: Call, policy: &Policy, audience: &Audience, now: Now) {
    let _ = HeldChain::prove(presented, proof, call, policy, audience, now);
}

fn main() {}
