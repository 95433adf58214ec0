#![doc = include_str!("../README.md")]

pub mod agent;
pub mod invitation;
pub mod mcp;
pub mod report;
pub mod shop;
pub mod stage;
pub mod story;
