//! No permit without a record of its proof.

use pact_mandate::Now;
use pact_verifier::{LiveChain, Permit, Policy};

fn skip(live: LiveChain, policy: &Policy, now: Now) {
    let _ = Permit::grant(live, policy, now);
}

fn main() {}
