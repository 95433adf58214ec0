#![doc = include_str!("../README.md")]

pub mod clock;
pub mod config;
pub mod limits;

pub use clock::Clock;
pub use config::{Config, ConfigError};
