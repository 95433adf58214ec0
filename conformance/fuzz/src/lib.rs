//! Seeds for the fuzzer: valid inputs, from which it starts to mutate.

use std::{env, fs, path::Path};

use pact_conformance::{corpus::Inputs, golden::Fault};

/// Writes the seeds into the corpus folder that the fuzzer was started with: its first argument that is no option.
///
/// # Panics
///
/// When there are no seeds or one cannot be written: a run without them would look green and reach little.
pub fn plant(seeds: Result<Inputs, Fault>) {
    let seeds = seeds.unwrap_or_else(|fault| panic!("no seeds: {fault}"));
    let Some(folder) = env::args().skip(1).find(|argument| !argument.starts_with('-')) else { return };
    // A file is an input to be tried again, not a corpus.
    if !Path::new(&folder).is_dir() {
        return;
    }
    for (at, seed) in seeds.iter().enumerate() {
        let path = Path::new(&folder).join(format!("seed-{at}"));
        fs::write(&path, seed).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}
