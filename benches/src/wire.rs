//! The sidecar over real sockets, beside bare proxies that are hosted alike: every server is a process of its own.

pub mod calls;
pub mod contest;
pub mod hosted;
pub mod list;
pub mod load;
pub mod measures;
pub mod memory;
pub mod paced;
pub mod proxy;
pub mod stand;
pub mod stream;
pub mod tools;
