//! Proofs of possession and where they are carried.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::proof()),
    |bytes: &[u8]| {
        let _ = entry::proof(bytes);
    }
);
