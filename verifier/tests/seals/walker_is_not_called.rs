//! The walkers are behind the door.

fn main() {
    let _ = pact_verifier::format::tenuo::open;
    let _ = pact_verifier::format::biscuit::open;
}
