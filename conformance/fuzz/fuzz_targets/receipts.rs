//! Files of receipts.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::receipts()),
    |bytes: &[u8]| {
        let _ = entry::receipts(bytes);
    }
);
