//! The name of one request: in the answer, in the log, and nowhere a secret.

use std::{
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// 16 hexadecimal digits of this process and 16 of the request in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RequestId {
    process: u64,
    count: u64,
}

/// Gives out ids.
#[derive(Debug)]
pub(crate) struct RequestIds {
    process: u64,
    next: AtomicU64,
}

impl RequestIds {
    /// Ids that no other process gives out, `random` being so.
    pub(crate) fn new(random: [u8; 8]) -> RequestIds {
        RequestIds { process: u64::from_be_bytes(random), next: AtomicU64::new(1) }
    }

    /// One more.
    pub(crate) fn next(&self) -> RequestId {
        RequestId { process: self.process, count: self.next.fetch_add(1, Ordering::Relaxed) }
    }
}

impl RequestId {
    /// The same as bytes.
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        ((u128::from(self.process) << 64) | u128::from(self.count)).to_be_bytes()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}{:016x}", self.process, self.count)
    }
}
