//! Every bound of this crate, each with its source.

use std::time::Duration;

/// A list older than this answers nothing (protocol R5).
pub const MAX_AGE: Duration = Duration::from_mins(1);
/// How far ahead of our clock a list may be signed (protocol R5, T2).
pub const MAX_FUTURE_SECONDS: u64 = 5;
/// How long an entry stays after what it names has expired (protocol R6).
pub const KEEP_AFTER_EXPIRY_SECONDS: u64 = 600;
/// From signing to `next_update`, unless the publisher says less: a list older than that is stale anyway (protocol R5).
pub const NEXT_UPDATE_SECONDS: u64 = 60;
/// Deltas that a head names (protocol R1).
pub const MAX_DELTAS: usize = 64;
/// Sources that a head names. With 200 characters an id they stay well below the 64 KiB of a statement.
pub const MAX_SOURCES: usize = 128;
/// Entries of one list: four times the million that a list is built for.
pub const MAX_ENTRIES: u64 = 4_194_304;
/// Bytes of one body: [`MAX_ENTRIES`] in as many groups.
pub const MAX_BODY_BYTES: u64 = 16 + 24 * MAX_ENTRIES;
/// All deltas of a head together take no more than its body, or than this: reading more than the body never pays.
pub const MIN_DELTA_ALLOWANCE: u64 = 64 * 1024;
/// Bytes of a signed head as it travels: a statement of 64 KiB, escaped, and its signature.
pub const MAX_HEAD_BYTES: u64 = 6 * 64 * 1024 + 1024;
/// Bytes of a compatible list. 400,000 Tenuo ids or 125,000 Biscuit ids; an issuer with more publishes our own list.
pub const MAX_COMPATIBLE_BYTES: u64 = 16 * 1024 * 1024;
/// Entries of a compatible list, so that a hostile one costs no more than its bytes.
pub const MAX_COMPATIBLE_ENTRIES: usize = 400_000;
/// Bytes of one floor file: a mark of at most 200 bytes for each of 64 keys, and names.
pub const MAX_FLOOR_BYTES: u64 = 32 * 1024;
/// Keys whose floors are remembered for one issuer: as many as a key set may hold.
pub const MAX_MARKS: usize = pact_mandate::limits::MAX_KEYS;
/// Seconds for which a head or a compatible list may be cached (protocol R2).
pub const LIST_CACHE_SECONDS: u64 = 5;
/// Seconds for which a body may be cached: it never changes, so a year.
pub const BODY_CACHE_SECONDS: u64 = 31_536_000;
/// Seconds for which a body is served and stored after no head names it any more: twice the life of a head.
pub const BODY_KEPT_SECONDS: u64 = 120;
