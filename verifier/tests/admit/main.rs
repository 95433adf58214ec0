//! The front door, end to end: credentials minted by the formats' own crates, proofs made by the holder's functions,
//! lists signed and kept by the revocation crate, proofs recorded in a folder.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "in a test a panic is a failure, also in what the tests share"
)]

mod acts;
mod biscuit;
#[cfg(feature = "cli")]
mod cli;
mod limits;
mod lists;
mod open_answers;
mod order;
mod tenuo;
mod viewer;
mod world;
