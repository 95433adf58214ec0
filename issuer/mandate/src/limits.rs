//! Every bound of this crate, each with its source.

/// Links in a chain of mandates: five hand-offs below the root (board rules 2.4, 2.5).
pub const MAX_DEPTH: u8 = 5;
/// Hand-offs that a root may grant at the most (board rule 2.4).
pub const MAX_DELEGATIONS: u8 = 5;
/// Entries in one scope. A person reads a scope before granting it; past this nobody does.
pub const MAX_SCOPE_ITEMS: usize = 64;
/// Characters of one scope entry (board rule 2.6).
pub const MAX_SCOPE_CHARS: usize = 200;
/// Limit keys in one mandate. As many constraints as one Tenuo tool may carry.
pub const MAX_CEILINGS: usize = 32;
/// Characters of the name of a limit or argument.
pub const MAX_NAME_CHARS: usize = 64;
/// Characters of a human's, agent's or issuer's id.
pub const MAX_ID_CHARS: usize = 200;
/// Characters of a key id.
pub const MAX_KEY_ID_CHARS: usize = 128;
/// Keys whose multiples are kept to verify faster: 10 MiB, and more holders than call one sidecar at a time.
pub const MAX_FAMILIAR_KEYS: usize = 256;
/// Verifications after which a key's multiples are made: about as many as it takes to win back the time of making them.
pub const FAMILIAR_AFTER: u32 = 8;
/// The largest integer that every JSON reader keeps exactly: 2^53 − 1 (RFC 7493 2.2).
pub const MAX_SAFE_INTEGER: u64 = 9_007_199_254_740_991;
/// Bytes of one signed statement other than a list's body.
pub const MAX_STATEMENT_BYTES: usize = 64 * 1024;
/// Bytes of one published key set (an honest one holds a handful of keys).
pub const MAX_KEY_SET_BYTES: usize = 64 * 1024;
/// Keys in one published set.
pub const MAX_KEYS: usize = 64;
/// Nesting of a JSON text that we read (deeper than any MCP message in its published schemas).
pub const MAX_JSON_DEPTH: usize = 32;
/// Values in one JSON text that we read; bounds the memory of a hostile body.
pub const MAX_JSON_NODES: usize = 65_536;
/// Nesting of a CBOR item (Tenuo constraints nest to 32, each level being an array and a map).
pub const MAX_CBOR_DEPTH: usize = 96;
/// Longest life of any credential: Tenuo's cap of 90 days, in seconds.
pub const MAX_LIFETIME_SECONDS: u64 = 7_776_000;
/// Bytes of one line of a log. A receipt names at most a chain's ids and some digests.
pub const MAX_LOG_LINE_BYTES: usize = 64 * 1024;
