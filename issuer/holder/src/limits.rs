//! Every bound of this crate, each with its source.

use std::time::Duration;

/// Bytes of a credential, of an argument file, or of what a command prints: more than any verifier takes.
pub const MAX_CREDENTIAL_BYTES: usize = 1024 * 1024;
/// Bytes of one line from the client. A sidecar takes bodies of 1 MiB unless it is told otherwise; what is longer than that is
/// better refused by the sidecar, with its own words.
pub const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Characters of a JSON-RPC id (the sidecar's own bound).
pub const MAX_ID_CHARS: usize = 256;
/// Characters of a method's name (the sidecar's own bound).
pub const MAX_METHOD_CHARS: usize = 128;
/// Bytes of one message from a server: a picture or two in base64.
pub const MAX_ANSWER_BYTES: usize = 32 * 1024 * 1024;
/// Requests of the client that wait for their answers at one time. An agent has a handful.
pub const MAX_IN_FLIGHT: usize = 64;
/// Lines for the client that wait to be written; past it servers wait.
pub const MAX_LINES_WAITING: usize = 64;
/// Tools that are remembered of one server.
pub const MAX_TOOLS: usize = 4096;
/// Pages of one server's list of tools that are asked for where lists are put together.
pub const MAX_PAGES: usize = 64;
/// Upstreams, and credentials, in one configuration: what a person lists.
pub const MAX_ENTRIES: usize = 64;
/// Bytes of a session's id (MCP 2025-06-18 wants visible ASCII and names no length).
pub const MAX_SESSION_BYTES: usize = 1024;

/// Connections of local clients over HTTP. More wait in the system's queue.
pub const MAX_CONNECTIONS: usize = 128;
/// Bytes of the head of a local request: an address with its secret, and a dozen headers.
pub const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Headers of a local request.
pub const MAX_HEADERS: usize = 64;
/// How long a local client may take to send the head of a request.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long it may take to send the body.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// Silence after which a stream to a local client gets a comment, and a request whose answer is not here yet becomes a stream.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Pause after the system gave no connection: too many open files, most likely.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Sessions of local clients that are known at once; the one that was idle longest makes way.
pub const MAX_SESSIONS: usize = 64;
/// Bytes of the local secret: twice the 128 bits that nobody guesses.
pub const SECRET_BYTES: usize = 32;
/// Characters that a local secret of one's own must have: 22 of base64url are 132 bits.
pub const MIN_SECRET_CHARS: usize = 22;
/// Characters that it may have.
pub const MAX_SECRET_CHARS: usize = 256;

/// How long a server may take to accept a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may take to begin its answer: longer than the two minutes that a sidecar gives its tool server.
pub const ANSWER_TIMEOUT: Duration = Duration::from_mins(3);
/// How long an answer that has begun may stay silent: longer than the five minutes of a sidecar.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(6);
/// How long a message that has no answer may take to be accepted.
pub const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long calls may run on once the client has closed its side.
pub const DRAIN: Duration = Duration::from_secs(10);

/// How long a command may take to print a credential.
pub const COMMAND_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an issuer may take to make a credential anew.
pub const REISSUE_TIMEOUT: Duration = Duration::from_secs(30);
/// Characters of an issuer's own words that are passed on.
pub const MAX_TOLD_CHARS: usize = 300;
/// Least time between two attempts to get a credential anew after one has failed.
pub const SOURCE_COOLDOWN: Duration = Duration::from_secs(5);
/// Age at which a credential whose end cannot be read is got anew, where its source is asked.
pub const REFRESH_EVERY: Duration = Duration::from_mins(5);
/// A credential is got anew when the tenth part of its life is left, but no more than this.
pub const REFRESH_BEFORE_SECONDS: u64 = 300;
/// Least time between two looks at a server's tools because a call names one that is not known.
pub const LEARN_COOLDOWN: Duration = Duration::from_secs(10);

/// Seconds by which a sidecar's clock is followed: more is a wrong clock that somebody must set.
pub const MAX_CLOCK_OFFSET_SECONDS: u64 = 3600;
