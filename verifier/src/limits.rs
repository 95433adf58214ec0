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
/// Nesting of constraints in one Tenuo warrant (Tenuo's `MAX_CONSTRAINT_DEPTH`).
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
/// Comparisons for all links of one Tenuo stack, and for the arguments of one call (an honest one needs some hundreds).
pub const MAX_COMPARISONS: usize = 1 << 20;
/// Seconds of one window of a Tenuo proof.
pub const PROOF_WINDOW_SECONDS: u64 = 30;
/// Windows before and after the present one in which a stock Tenuo proof counts.
pub const PROOF_WINDOWS_AROUND: u64 = 2;
/// Bytes of the sidecar's public URL, as proofs name it.
pub const MAX_AUDIENCE_BYTES: usize = 2048;
/// Bytes of one configuration file: far more than a person writes.
pub const MAX_CONFIG_BYTES: usize = 1024 * 1024;
/// Bytes, about, of the chains that are kept verified (protocol C7): some ten thousand of four warrants.
pub const MAX_CACHE_BYTES: u64 = 64 * 1024 * 1024;
/// Proofs that the replay store remembers at one time (protocol P6): ten thousand calls a second for as long as a proof
/// counts, in about 100 MB.
pub const MAX_PROOFS: usize = 1 << 20;
/// Proofs of one holder among them: a thousand calls a second. Past it that holder waits, and nobody else.
pub const MAX_PROOFS_PER_HOLDER: usize = 1 << 16;
/// Proofs of all holders below one grant of a root among them: a quarter, so that nobody fills the store by handing a
/// credential on to keys of its own.
pub const MAX_PROOFS_PER_GRANT: usize = MAX_PROOFS / 4;
/// Seconds by which the replay store's witness runs ahead of the clock: it is synced once in so many, and a record that
/// breaks begins later by no more.
pub const WITNESS_SECONDS: u64 = 30;
/// Seconds by which our clock may be behind the replay store's broken record: so long all proofs are refused. By more the
/// store does not open, since somebody must set the clock.
pub const MAX_CLOCK_BEHIND_SECONDS: u64 = 600;
/// Records in one file of the replay store (3 MB); a file is removed whole when its last record has ended.
pub const MAX_RECORDS_PER_SEGMENT: usize = 1 << 16;
/// Ended records that one call clears away: more than it adds, so that memory shrinks, and few, so that no call waits.
pub const MAX_CLEARED_PER_CALL: usize = 64;
/// Facts in one block of a token (structural admission; also the rights that one authority block can grant).
pub const MAX_FACTS: usize = 64;
/// Rules in one block of a token (structural admission).
pub const MAX_RULES: usize = 8;
/// Checks in one block of a token (structural admission).
pub const MAX_CHECKS: usize = 32;
/// Alternatives of one check (structural admission; one for each entry of a scope).
pub const MAX_QUERIES: usize = 64;
/// Predicates in the body of one query or rule (structural admission).
pub const MAX_PREDICATES: usize = 3;
/// Terms of one predicate. No predicate that we know of has more than three.
pub const MAX_TERMS: usize = 8;
/// Expressions of one query or rule. A bound on each side of a value needs two.
pub const MAX_EXPRESSIONS: usize = 8;
/// Operations in one expression (structural admission).
pub const MAX_OPERATIONS: usize = 16;
/// Nesting of closures (structural admission).
pub const MAX_CLOSURE_DEPTH: usize = 2;
/// Members of one set or array (structural admission).
pub const MAX_MEMBERS: usize = 256;
/// Bytes of one text or byte string in a token (structural admission).
pub const MAX_TEXT_BYTES: usize = 1024;
/// Words in all symbol tables of a token: the engine looks each of them up by going through them.
pub const MAX_SYMBOLS: usize = 1024;
/// Combinations of facts that one query may match (structural admission).
pub const MAX_MATCHES: usize = 10_000;
/// Facts looked at and operations done in one evaluation: some 20 ms of the engine's time.
pub const MAX_STEPS: usize = 1_000_000;
/// Judged arguments stated for one call: twice what a mandate can limit.
pub const MAX_STATED_ARGUMENTS: usize = 64;
/// Evaluations that may wait for their turn: at 0.1 ms each, what one core does in a tenth of a second.
pub const MAX_WAITING_EVALUATIONS: usize = 1024;
/// Seconds that one evaluation may take, and one may wait. The engine looks at its clock between joins only, so the
/// structural limits are what holds; this one is wide, because a narrow one refuses good tokens on a busy machine.
pub const EVALUATION_SECONDS: u64 = 2;
/// Bytes of one DPoP proof: with a token's hash, a tool's name and three digests, an honest one has some 700.
pub const MAX_DPOP_BYTES: usize = 4096;
/// Bytes of a proof's own id (protocol P4).
pub const MAX_JTI_BYTES: usize = 128;
/// Arguments of one tool that headers repeat: a request has 100 header lines.
pub const MAX_PARAM_MARKS: usize = 32;
/// Bytes of the name that a tool's schema marks an argument with; the longest registered header has 50.
pub const MAX_PARAM_NAME_BYTES: usize = 64;
/// Bytes of a path that a policy judges (Linux: `PATH_MAX`).
pub const MAX_PATH_BYTES: usize = 4096;
/// Bytes of a file that the command reads: a list of a million ids is half of it.
pub const MAX_INPUT_BYTES: u64 = 64 * 1024 * 1024;
/// Codes that one log of receipts may count: there are some three hundred in all.
pub const MAX_RECEIPT_CODES: usize = 1024;
/// Keys by which one log of receipts may say to be signed: one a rotation, for years.
pub const MAX_RECEIPT_KEYS: usize = 64;
