//! What was not verified answers no question.

use pact_verifier::Presented;

fn issuer_of(presented: &Presented) -> &pact_mandate::IssuerId {
    presented.issuer()
}

fn main() {}
