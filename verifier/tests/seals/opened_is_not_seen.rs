//! What a format's walker found is not for others to make up.

use pact_verifier::format::Opened;

fn main() {}
