//! Tokens made with the crate's builder or by hand, and what becomes of them.

mod admission;
mod forge;
mod judgement;
mod opening;
mod samples;
