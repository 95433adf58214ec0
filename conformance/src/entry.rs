//! One function for each decoder that takes bytes from strangers. Property tests and fuzz targets call the same ones: each must
//! answer within bounded time and memory, whatever the bytes are. A broken law (what was read is written back as other bytes, say)
//! panics.

mod config;
mod credential;
mod list;
mod mandate;
mod receipt;
mod signed;
mod stage;
mod text;

pub use config::config;
pub use credential::{biscuit_token, cbor_stack, proof};
pub use list::lists;
pub use mandate::mandate;
pub use receipt::receipts;
pub use text::{json, key_set};

/// What became of the bytes: nothing when they were accepted, else the reason as a person would read it.
pub type Answer = Result<(), String>;

/// The reason of a refusal. Its text is made here, so that making it is tested as well.
fn reason(error: impl std::fmt::Display) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests;
