#![doc = include_str!("../README.md")]

pub mod format;
pub mod limits;
pub mod proof;
pub mod refusal;
pub mod trust;

pub use refusal::Refusal;
pub use trust::{RootKey, TrustSnapshot, TrustedIssuer};
