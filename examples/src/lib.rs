#![doc = include_str!("../README.md")]

pub mod mcp;
pub mod shop;
