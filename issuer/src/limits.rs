//! Every bound of this crate, each with its source.

/// Seconds that a mandate's issue time may lie ahead of our clock (protocol T2).
pub const ISSUE_SKEW_SECONDS: u64 = pact_verifier::limits::ISSUE_SKEW_SECONDS;
/// Shortest life that may be asked of a credential, in seconds (board rule 5.1).
pub const MIN_CREDENTIAL_SECONDS: u64 = 60;
/// Life of a credential when none is asked for: 24 hours (board rule 5.1).
pub const DEFAULT_CREDENTIAL_SECONDS: u64 = 24 * 3600;
/// An amount in a Tenuo warrant is below this many millionths, 2^53 (protocol C4).
pub const MAX_TENUO_MILLIONTHS: u64 = 1 << 53;
/// Seconds by which Tenuo's clock, which its crate reads itself, may differ from the time that we were given.
pub const MAX_CLOCK_DIFFERENCE_SECONDS: u64 = 5;
/// Seconds for which a retired key stays published after the last thing that it signed has expired (protocol K6).
pub const KEY_SKEW_SECONDS: u64 = 60;
/// Bytes of a request for a credential anew: the statement, each byte escaped at the worst, and its signature.
pub const MAX_REISSUE_BYTES: usize = 16 * 1024;
/// Seconds for which such a request counts, as a proof of possession does (protocol P4).
pub const REISSUE_WINDOW_SECONDS: u64 = 60;
/// Seconds that it may be dated ahead of our clock (protocol T2).
pub const REISSUE_SKEW_SECONDS: u64 = 5;
/// How many of them one holder may make for one mandate within that time: clients that are started one after the other.
pub const MAX_REISSUES_A_HOLDER: usize = 6;
/// Ids of such requests that are remembered; each stands for one that a registered holder made within the last minute.
pub const MAX_REISSUES_KEPT: usize = 16_384;
/// Such requests that wait for the one thread that signs; past them the answer is to come later.
pub const MAX_REISSUES_WAITING: usize = 64;
/// Seconds that the body of one may take to arrive.
pub const REISSUE_BODY_SECONDS: u64 = 10;
/// Lifetime of a published key set in caches, when `init` names none: how long a next key waits (protocol K6).
pub const DEFAULT_KEY_CACHE_SECONDS: u64 = 300;
/// A list is signed anew after so many seconds (protocol R2).
pub const RESIGN_SECONDS: u64 = 10;
/// Lists that were signed longer ago are late: half of what verifiers accept is gone (protocol R5), in seconds.
pub const LATE_SECONDS: u64 = 30;
/// Milliseconds between two looks at the data folder: a revocation by another process is published within a second.
pub const WATCH_MILLISECONDS: u64 = 250;
/// Tries to become the one writer of a data folder, with a pause after each: ten seconds. Another command has it for
/// milliseconds, the compaction of a long journal for seconds.
pub const LOCK_TRIES: u32 = 500;
/// Milliseconds from one of them to the next: what a person who waits for a command does not notice.
pub const LOCK_PAUSE_MILLISECONDS: u64 = 20;
