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
mod hosts;
pub mod keys;
mod lifeline;
pub mod limits;
mod listener;
mod lists;
pub mod mcp;
mod metadata;
mod metrics;
mod panic;
mod passage;
mod receive;
mod reload;
mod replay;
mod request_id;
mod respond;
mod rules;
mod sampler;
mod sidecar;
mod upstream;
mod watchers;

pub use clock::Clock;
pub use config::{Config, ConfigError};
pub use fault::Fault;
pub use sidecar::{Sidecar, StartError, check, run};
