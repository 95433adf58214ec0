//! No list is asked for a chain whose holder did not prove itself.

use pact_mandate::Now;
use pact_revocation::Lists;
use pact_verifier::{LiveChain, VerifiedChain};

fn skip(chain: VerifiedChain, lists: &Lists, now: Now) {
    let _ = LiveChain::check(chain, lists, now);
}

fn main() {}
