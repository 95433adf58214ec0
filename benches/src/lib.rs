#![doc = include_str!("../README.md")]

pub mod lists;
pub mod rounds;
pub mod wire;
pub mod world;
