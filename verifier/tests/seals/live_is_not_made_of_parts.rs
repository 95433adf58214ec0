//! A live chain comes from asking a fresh list alone.

use pact_verifier::{HeldChain, LiveChain, live::AskedList};

fn believe(held: HeldChain, asked: AskedList) -> LiveChain {
    LiveChain { held, asked }
}

fn main() {}
