//! Every bound of this crate, each with its source. Those that an operator may change are defaults here and stand in
//! the configuration's `[limits]`, `[keys]` and `[upstream]`.

use std::time::Duration;

/// Bytes of the configuration file (an honest one is a few kilobytes).
pub const MAX_CONFIG_BYTES: u64 = 256 * 1024;
/// Bytes of the policy file: one table a tool, thousands of tools.
pub const MAX_POLICY_BYTES: u64 = 1024 * 1024;
/// How often both files are looked at for changes; a change counts at the second look that sees it.
pub(crate) const RELOAD_LOOK: Duration = Duration::from_secs(1);
/// Issuers in one configuration; each costs two watchers.
pub const MAX_ISSUERS: usize = 64;

/// The longest period that a configuration may name.
pub const LONGEST_PERIOD: Duration = Duration::from_hours(24);
/// Until when a revocation must have ended every open answer (protocol R9): the fetch that brings it, and then either the
/// next judging or, where nobody reads, the closed connection.
pub const OPEN_ANSWERS_END: Duration = Duration::from_mins(1);

/// Bytes of one request's body: the largest warrant stack (256 KiB, a third more in base64) beside a large argument.
pub const BODY_BYTES: usize = 1024 * 1024;
/// Bytes of one request's head: a 16 KiB token and its proof with room to spare.
pub const HEAD_BYTES: usize = 64 * 1024;
/// The most that either may be set to: what one machine holds of [`REQUESTS`] bodies.
pub const MOST_BODY_BYTES: usize = 64 * 1024 * 1024;
/// The same for a head, where nothing honest comes near.
pub const MOST_HEAD_BYTES: usize = 1024 * 1024;
/// The most connections, and the most requests in work: what a process may open on an ordinary system.
pub const MOST_CONNECTIONS: usize = 65_536;
/// Header lines of one request (hyper's own default).
pub const MAX_HEADERS: usize = 100;
/// How long a client may take to send a head.
pub const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take to send a body.
pub const BODY_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may take no byte of its answer: inside the 60 s of protocol R9, because nothing else ends an answer that
/// nobody reads.
pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);
/// Open connections on the traffic port.
pub const CONNECTIONS: usize = 4096;
/// Requests in work at once, open streams among them.
pub const REQUESTS: usize = 1024;
/// Open connections on the admin port: a scraper, a kubelet and a person.
pub const ADMIN_CONNECTIONS: u32 = 64;
/// How long the admin port drains: what is asked there is answered at once.
pub const ADMIN_DRAIN: Duration = Duration::from_secs(1);
/// How long accepting pauses when the system has no more file descriptors: accepting again at once would only spin.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long open answers may still run once the sidecar was told to stop.
pub const DRAIN: Duration = Duration::from_secs(10);
/// Silence after which an open event stream gets a comment: what proxies allow by default, halved.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Sessions of the 2025 protocol that are known at once, half of them at the most without an owner.
pub const SESSIONS: usize = 4096;
/// How long one may be idle: a person thinks for that long between two calls.
pub const SESSION_IDLE: Duration = Duration::from_hours(1);
/// Sessions of one holder's key: the windows of one person's editor many times over. One more, and the idlest is forgotten.
pub const MAX_SESSIONS_PER_HOLDER: usize = 64;
/// Bytes of a session's id; real servers send a UUID.
pub const MAX_SESSION_ID_BYTES: usize = 256;
/// Bytes of the id of an event after which a stream is taken up again.
pub const MAX_EVENT_ID_BYTES: usize = 1024;
/// What one session's tool server may wait for at once: it asks for one thing a call, as a rule.
pub const MAX_REQUESTS_PER_SESSION: usize = 64;
/// Characters of a JSON-RPC id; real clients count, or send a UUID.
pub const MAX_RPC_ID_CHARS: usize = 256;
/// Characters of a method's name (the longest of the MCP schemas has 40).
pub const MAX_METHOD_CHARS: usize = 128;

/// Bytes of verified chains that are kept (protocol C7): some ten thousand of an ordinary size.
pub const CACHE_BYTES: u64 = 32 * 1024 * 1024;
/// How often what the histograms recorded is moved into their buckets.
pub const METRICS_UPKEEP: Duration = Duration::from_secs(5);

/// How long a connection to the tool server may idle between two calls.
pub const POOL_IDLE: Duration = Duration::from_secs(30);
/// Connections to it that are kept for the next call.
pub const POOL_CONNECTIONS: usize = 64;
/// How long the tool server may take to accept a connection.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the tool server may take to begin its answer.
pub const ANSWER_TIMEOUT: Duration = Duration::from_mins(2);
/// Processes of a tool server that the sidecar starts: one for each session or holder, 60 MB each where it runs on Node.
pub const MAX_CHILDREN: usize = 32;
/// The most that this may be set to.
pub const MOST_CHILDREN: usize = 1024;
/// Bytes of one message of such a server, which is held whole: a file of 3 MB in base64.
pub const MESSAGE_BYTES: usize = 4 * 1024 * 1024;
/// The most that this may be set to.
pub const MOST_MESSAGE_BYTES: usize = 64 * 1024 * 1024;
/// Messages that wait to be written to one process.
pub(crate) const MAX_WAITING_LINES: usize = 64;
/// Messages before the answer that one caller may be behind with; what comes then is dropped.
pub(crate) const MAX_WAITING_MESSAGES: usize = 16;
/// How long a process may take to end once its standard input is closed, and again once it got SIGTERM.
pub const CHILD_GRACE: Duration = Duration::from_secs(2);
/// How long what a process has left in its pipes is read after it ended.
pub(crate) const CHILD_DRAIN: Duration = Duration::from_millis(250);
/// How long a caller waits for a place among [`MAX_CHILDREN`]: as long as an ended process may take, and a little more.
pub(crate) const PLACE_TIMEOUT: Duration = Duration::from_secs(5);
/// After a start that failed: how long until the next, doubled by each failure in a row.
pub const BACKOFF_FIRST: Duration = Duration::from_secs(1);
/// The longest that this becomes.
pub const BACKOFF_MOST: Duration = Duration::from_mins(1);
/// A process that ran for so long was started well.
pub const RAN_WELL: Duration = Duration::from_secs(30);
/// How often processes that nobody uses any more are looked for.
pub(crate) const CHILD_SWEEP: Duration = Duration::from_secs(1);
/// Bytes of one line of a tool server's standard error that go to the log.
pub(crate) const MAX_STDERR_LINE_BYTES: usize = 1024;
/// Lines of it in a second; the rest is counted.
pub(crate) const STDERR_LINES_PER_SECOND: u32 = 20;
/// Bytes of one page of the tool server's list of tools, which is held whole to be filtered: a thousand tools of a
/// thoroughly documented server.
pub const MAX_TOOLS_LIST_BYTES: usize = 4 * 1024 * 1024;
/// Tools in one page of it: each may take one evaluation of a token's Datalog.
pub const MAX_LISTED_TOOLS: usize = 1024;
/// Tools whose definition is remembered, to tell of a change; those that a policy names a definition of count beyond it.
pub const MAX_REMEMBERED_DEFINITIONS: usize = 4096;
/// Changed definitions written to the log each second; the rest is counted.
pub const TOOL_CHANGES_TOLD_PER_SECOND: u32 = 5;
/// How long an answer that has begun may stay silent.
pub const IDLE_TIMEOUT: Duration = Duration::from_mins(5);
/// Bytes of an answer after which no more of what is there is joined to them: what one write to a socket takes.
pub(crate) const MAX_GATHERED_BYTES: usize = 32 * 1024;
/// How often an open answer's chain is judged again: well inside the 60 s of protocol R9.
pub const RECHECK: Duration = Duration::from_secs(1);

/// Time between two fetches of a list, a fifth of it more or less (protocol R2).
pub const LISTS_EVERY: Duration = Duration::from_secs(10);

/// The most between two fetches of a list: three of them fit into the 60 s of protocol R5, so that a failed one does not make
/// it stale.
pub const MOST_LISTS_EVERY: Duration = Duration::from_secs(20);
/// How often to look whether the keys that may sign a list are still the same ones, and how its watch goes.
pub const LISTS_LOOK: Duration = Duration::from_secs(1);

/// Age at which a key set is fetched again (protocol K4, soft).
pub const KEYS_SOFT: Duration = Duration::from_mins(1);
/// Age at which a key set is empty (protocol K4, hard): an issuer's outage of an hour is survived, a stolen key is not kept for a day.
pub const KEYS_HARD: Duration = Duration::from_hours(1);
/// Least time between two fetches of one key set, whether they worked or not (protocol K4).
pub const KEYS_COOLDOWN: Duration = Duration::from_secs(10);
/// Keys of one issuer in one role that are remembered as its own (protocol K3): a key a day for more than a year. A set that
/// brings more is refused until a restart.
pub const MAX_KEYS_SEEN: usize = 512;
/// Root keys not known that are remembered, so that each causes one early fetch at the most (protocol K4, negative cache).
pub const MAX_MISSES: usize = 128;
/// How long they are remembered.
pub const MISS_MEMORY: Duration = Duration::from_mins(5);

/// Refusals before rung 1 that are written to the log in one second (protocol M6); the rest is counted only.
pub const SAMPLED_REFUSALS_PER_SECOND: u32 = 5;
/// Seconds after which a caller may try again when we could not judge: one fetch of a list.
pub const RETRY_AFTER_SECONDS: u64 = 10;

/// Bytes after which receipts go on in another file: some seventy thousand of them.
pub const RECEIPTS_ROTATE_BYTES: u64 = 64 * 1024 * 1024;
/// Time after which receipts go on in another file.
pub const RECEIPTS_ROTATE_AFTER: Duration = Duration::from_hours(24);
/// Files of receipts that are kept: 2 GB at the most. Older ones are removed.
pub const RECEIPTS_KEEP: usize = 32;
/// Lines of receipts after which a checkpoint follows, which is the next line (protocol M7: every 256 lines).
pub const RECEIPTS_UNSEALED: u64 = 255;
/// How often receipts are sealed and synced: twice in the second of protocol M7, so that a late turn keeps within it.
pub const RECEIPTS_EVERY: Duration = Duration::from_millis(500);
/// Where a Redis server listens when nothing else is said.
pub const REDIS_PORT: u16 = 6379;
/// How long one question to the shared record may take: some hundred times what it takes on a healthy network.
pub const REDIS_TIMEOUT: Duration = Duration::from_millis(250);
/// The least that this may be set to.
pub const SHORTEST_REDIS_TIMEOUT: Duration = Duration::from_millis(10);
/// The most: each call waits for it, and its place among [`REQUESTS`] is taken for as long.
pub const LONGEST_REDIS_TIMEOUT: Duration = Duration::from_secs(5);
/// Bytes of a password file.
pub const MAX_PASSWORD_BYTES: u64 = 4096;
/// Characters of the prefix of our keys.
pub const MAX_PREFIX_CHARS: usize = 64;
/// Bytes of one text in an answer of Redis: the longest of ours names a server's run and its part in replication.
pub const MAX_REPLY_BYTES: usize = 1024;
/// Parts of one answer; ours have seven.
pub const MAX_REPLY_ITEMS: usize = 16;
/// Proofs that are asked about in one go: what a server of Redis does in about 5 ms, so that nobody waits long.
pub const MAX_ASKED_AT_ONCE: usize = 64;
/// Calls that may wait for the shared record: as many as may be in work.
pub const MAX_WAITING_FOR_REDIS: usize = REQUESTS;
/// How often it is looked how the shared record is while nobody asks.
pub const SHARED_LOOK: Duration = Duration::from_secs(1);
/// How long it is not tried to connect again after a failure; everything is refused at once in the meantime.
pub const SHARED_RETRY: Duration = Duration::from_millis(200);
/// Seconds by which the clocks of a replica and of Redis may differ: what is accepted of lists and proofs (protocol T2).
pub const SHARED_CLOCKS_APART_SECONDS: u64 = 5;
/// Seconds after which Redis may drop a record that nobody looks at any more: hundreds of times what a proof lives.
pub const SHARED_KEEP_SECONDS: u64 = 24 * 60 * 60;

/// Pages of a tool server's list that a suggestion reads, and tools on all of them: ten times what the largest servers have.
pub const MAX_SUGGESTED_PAGES: u64 = 64;
/// The same for tools.
pub const MAX_SUGGESTED_TOOLS: usize = 4096;
/// Arguments of one tool that a person would still read.
pub const MAX_SUGGESTED_ARGUMENTS: usize = 128;
/// Characters of a name that a person would still read (MCP asks for 128 at the most).
pub const MAX_SUGGESTED_NAME_CHARS: usize = 128;
