//! Mandates, alone and in chains.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::mandate()),
    |bytes: &[u8]| {
        let _ = entry::mandate(bytes);
    }
);
