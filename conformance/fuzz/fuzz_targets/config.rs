//! Policy files.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pact_conformance::{corpus, entry};

fuzz_target!(
    init: pact_fuzz::plant(corpus::config()),
    |bytes: &[u8]| {
        let _ = entry::config(bytes);
    }
);
