//! The sidecar over real sockets, in front of a tool server that records what reaches it.

mod client;
mod issuer;
mod stand;
mod upstream;

mod calls;
mod command;
mod lists;
mod operations;
mod shapes;
mod streams;
