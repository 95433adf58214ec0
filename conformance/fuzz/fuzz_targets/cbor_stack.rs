//! Stacks of Tenuo warrants and the payloads in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::cbor_stack()),
    |bytes: &[u8]| {
        let _ = entry::cbor_stack(bytes);
    }
);
