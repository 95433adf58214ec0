//! Every bound of this crate, each with its source.

/// Seconds that a list or a proof may lie ahead of our clock (protocol T2).
pub const FUTURE_SKEW_SECONDS: u64 = 5;
/// Seconds that a credential's issue time may lie ahead of our clock (protocol T2).
pub const ISSUE_SKEW_SECONDS: u64 = 30;
/// Seconds for which a proof with an issue time of its own counts (protocol P4).
pub const PROOF_LIFETIME_SECONDS: u64 = 60;
/// Bytes of one Tenuo warrant (reference: Tenuo wire format, 1.3).
pub const MAX_WARRANT_BYTES: usize = 64 * 1024;
/// Bytes of one Tenuo warrant stack.
pub const MAX_STACK_BYTES: usize = 256 * 1024;
/// Warrants in one stack: Tenuo's hard cap on depth.
pub const MAX_WARRANTS: usize = 64;
/// Bytes of one Biscuit token (structural admission).
pub const MAX_TOKEN_BYTES: usize = 16 * 1024;
/// Blocks in one Biscuit token (structural admission).
pub const MAX_BLOCKS: usize = 16;
/// Bytes of the sidecar's public URL, as proofs name it.
pub const MAX_AUDIENCE_BYTES: usize = 2048;
