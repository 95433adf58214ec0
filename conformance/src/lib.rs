#![doc = include_str!("../README.md")]

pub mod corpus;
pub mod entry;
pub mod golden;
