#![doc = include_str!("../README.md")]

pub mod act;
#[cfg(feature = "bridge")]
pub mod bridge;
pub mod call;
pub mod dpop;
pub mod error;
pub mod file;
pub mod holder;
pub mod limits;
pub mod reissue;
pub mod stack;
pub mod tenuo;

pub use dpop::{DpopProof, sign_dpop};
pub use error::SignError;
pub use holder::Holder;
pub use tenuo::{TenuoProof, sign_tenuo, sign_tenuo_stock};
