#![doc = include_str!("../README.md")]

mod admin;
pub mod answer;
pub mod clock;
pub mod config;
pub mod fault;
mod feed;
mod framed;
mod framing;
mod gate;
mod header;
mod health;
pub mod keys;
mod lifeline;
pub mod limits;
mod listener;
mod lists;
pub mod mcp;
mod metrics;
mod panic;
mod passage;
mod receipts;
mod receive;
mod request_id;
mod respond;
mod sampler;
mod sidecar;
mod upstream;
mod watchers;

pub use clock::Clock;
pub use config::{Config, ConfigError};
pub use fault::Fault;
pub use receipts::{DigestKey, FolderError, ReceiptKeyError, ReceiptsError};
pub use sidecar::{Sidecar, StartError, check, run};
