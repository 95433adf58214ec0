//! Published key sets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::key_set()),
    |bytes: &[u8]| {
        let _ = entry::key_set(bytes);
    }
);
