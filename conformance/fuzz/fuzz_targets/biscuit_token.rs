//! Biscuit tokens and the blocks in them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::biscuit_token()),
    |bytes: &[u8]| {
        let _ = entry::biscuit_token(bytes);
    }
);
