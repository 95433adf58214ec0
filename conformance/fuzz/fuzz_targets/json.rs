//! JSON texts, the strict parser and the canonical form.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::json()),
    |bytes: &[u8]| {
        let _ = entry::json(bytes);
    }
);
