//! No permit for a chain that no list was asked about.

use pact_mandate::Now;
use pact_verifier::{HeldChain, Permit, Policy, ReplayStore};

fn skip(held: HeldChain, policy: &Policy, replay: &dyn ReplayStore, now: Now) {
    let _ = Permit::grant(held, policy, replay, now);
}

fn main() {}
