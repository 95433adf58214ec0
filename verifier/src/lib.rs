#![doc = include_str!("../README.md")]

pub mod act;
pub mod cache;
pub mod carriage;
pub mod chain;
pub mod format;
pub mod held;
pub mod limits;
pub mod live;
pub mod permit;
pub mod policy;
pub mod presented;
pub mod proof;
pub mod receipt;
pub mod refusal;
pub mod repeated;
pub mod replay;
pub mod strict;
pub mod trust;
pub mod verifier;
pub mod viewer;

pub use act::{Act, ActPermit};
pub use cache::ChainCache;
pub use chain::VerifiedChain;
pub use held::{HeldChain, ProofKind};
pub use live::LiveChain;
pub use permit::{Permit, Standing};
pub use policy::Policy;
pub use presented::Presented;
pub use proof::{Audience, PresentedProof};
pub use receipt::Receipt;
pub use refusal::Refusal;
pub use replay::{FileReplay, ReplayStore};
pub use trust::{RootKey, TrustSnapshot, TrustedIssuer};
pub use verifier::{Known, Refused, Verifier};
pub use viewer::Viewer;
