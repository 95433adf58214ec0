#![doc = include_str!("../README.md")]

pub mod entry;

pub use entry::Entry;
