//! Revocation lists: heads, bodies, deltas, and the compatible ones.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::lists()),
    |bytes: &[u8]| {
        let _ = entry::lists(bytes);
    }
);
