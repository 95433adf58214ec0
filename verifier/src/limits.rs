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
/// Nesting of constraints in one Tenuo warrant (Tenuo's MAX_CONSTRAINT_DEPTH).
pub const MAX_CONSTRAINT_DEPTH: usize = 32;
/// Bytes of one Tenuo constraint (Tenuo's wire specification, section 13).
pub const MAX_CONSTRAINT_BYTES: usize = 4 * 1024;
/// Tools of one Tenuo warrant.
pub const MAX_TOOLS: usize = 256;
/// Bytes of a tool's or an argument's name in a Tenuo warrant.
pub const MAX_TENUO_NAME_BYTES: usize = 256;
/// Constrained arguments of one tool of a Tenuo warrant.
pub const MAX_CONSTRAINED_ARGUMENTS: usize = 64;
/// Extensions of one Tenuo warrant.
pub const MAX_EXTENSIONS: usize = 64;
/// Bytes of one extension of a Tenuo warrant.
pub const MAX_EXTENSION_BYTES: usize = 8 * 1024;
/// Approvers of one Tenuo warrant: each is a key to be checked, and nobody collects more approvals for one call.
pub const MAX_APPROVERS: usize = 64;
/// Comparisons for all links of one Tenuo stack (an honest one needs some hundreds), and for one argument of a call.
pub const MAX_COMPARISONS: usize = 1 << 20;
/// Seconds of one window of a Tenuo proof.
pub const PROOF_WINDOW_SECONDS: u64 = 30;
/// Windows before and after the present one in which a stock Tenuo proof counts.
pub const PROOF_WINDOWS_AROUND: u64 = 2;
/// Bytes of the sidecar's public URL, as proofs name it.
pub const MAX_AUDIENCE_BYTES: usize = 2048;
