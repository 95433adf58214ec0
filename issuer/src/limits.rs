//! Every bound of this crate, each with its source.

/// Seconds that a mandate's issue time may lie ahead of our clock (protocol T2).
pub const ISSUE_SKEW_SECONDS: u64 = pact_verifier::limits::ISSUE_SKEW_SECONDS;
/// Shortest life that may be asked of a credential, in seconds (board rule 5.1).
pub const MIN_CREDENTIAL_SECONDS: u64 = 60;
/// Life of a credential when none is asked for: 24 hours (board rule 5.1).
pub const DEFAULT_CREDENTIAL_SECONDS: u64 = 24 * 3600;
/// Tools of one Tenuo warrant (reference: Tenuo wire format).
pub const MAX_WARRANT_TOOLS: usize = tenuo::wire::MAX_TOOLS_PER_WARRANT;
/// Constraints of one tool of a Tenuo warrant.
pub const MAX_TOOL_CONSTRAINTS: usize = tenuo::wire::MAX_CONSTRAINTS_PER_TOOL;
/// An amount in a Tenuo warrant is below this many millionths, 2^53 (protocol C4).
pub const MAX_TENUO_MILLIONTHS: u64 = 1 << 53;
/// Seconds by which Tenuo's clock, which its crate reads itself, may differ from the time that we were given.
pub const MAX_CLOCK_DIFFERENCE_SECONDS: u64 = 5;
