//! Why the shared store could not record, each with a stable name.

use std::io;

use pact_verifier::replay::StoreFailure;

/// What the shared store could not do. To a caller each is `replay_store_failed`; `/readyz` and the metrics tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SharedFault {
    /// Nothing has come back since the start.
    NotYet,
    /// No connection.
    Unreachable(io::ErrorKind),
    /// No answer in time.
    TimedOut,
    /// The connection ended before the answer.
    Cut,
    /// What came is no answer to what was asked.
    Garbage,
    /// The password file cannot be used.
    PasswordFile(io::ErrorKind),
    /// The server wants a password, or another one.
    Password,
    /// The user may not do what is needed.
    Permission,
    /// A replica that cannot be written to.
    ReadOnly,
    /// The server reads its data after a start.
    Loading,
    /// The server stopped writes because it cannot save.
    CannotSave,
    /// The server's memory is full.
    MemoryFull,
    /// The server is held up by a script.
    Busy,
    /// A node of a cluster that our keys do not belong to.
    Cluster,
    /// The server was told to forget our script.
    ScriptLost,
    /// P7: the server may forget what it was told to remember.
    Eviction,
    /// T1: its clock and ours differ by more than replicas may.
    ClocksApart,
    /// T1: the last record reaches further ahead of the clock than can be waited for.
    ClockBehind,
    /// Any other error of the server's.
    Refused,
    /// Too many wait already.
    Crowded,
    /// The thread that speaks to the server has died.
    ThreadDied,
}

impl SharedFault {
    /// The stable name, for `/readyz` and metrics.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            SharedFault::NotYet => "not_yet",
            SharedFault::Unreachable(_) => "unreachable",
            SharedFault::TimedOut => "timed_out",
            SharedFault::Cut => "cut",
            SharedFault::Garbage => "garbage",
            SharedFault::PasswordFile(_) => "password_file",
            SharedFault::Password => "password",
            SharedFault::Permission => "permission",
            SharedFault::ReadOnly => "read_only",
            SharedFault::Loading => "loading",
            SharedFault::CannotSave => "cannot_save",
            SharedFault::MemoryFull => "memory_full",
            SharedFault::Busy => "busy",
            SharedFault::Cluster => "cluster",
            SharedFault::ScriptLost => "script_lost",
            SharedFault::Eviction => "eviction",
            SharedFault::ClocksApart => "clocks_apart",
            SharedFault::ClockBehind => "clock_behind",
            SharedFault::Refused => "refused",
            SharedFault::Crowded => "crowded",
            SharedFault::ThreadDied => "thread_died",
        }
    }

    /// What is told of an error that the server answered with. Its first word is its kind.
    pub(super) fn of_error(text: &[u8]) -> SharedFault {
        match text.split(|byte| *byte == b' ').next().unwrap_or_default() {
            b"NOAUTH" | b"WRONGPASS" => SharedFault::Password,
            // How servers before version 6 say it.
            b"ERR" if text.starts_with(b"ERR invalid password") => SharedFault::Password,
            b"NOPERM" => SharedFault::Permission,
            b"READONLY" => SharedFault::ReadOnly,
            b"LOADING" | b"MASTERDOWN" => SharedFault::Loading,
            b"MISCONF" | b"NOREPLICAS" => SharedFault::CannotSave,
            b"OOM" => SharedFault::MemoryFull,
            b"BUSY" => SharedFault::Busy,
            b"MOVED" | b"ASK" | b"CLUSTERDOWN" | b"TRYAGAIN" | b"CROSSSLOT" => SharedFault::Cluster,
            b"NOSCRIPT" => SharedFault::ScriptLost,
            _ => SharedFault::Refused,
        }
    }

    pub(super) fn of_io(error: &io::Error) -> SharedFault {
        match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => SharedFault::TimedOut,
            io::ErrorKind::InvalidData => SharedFault::Garbage,
            _ => SharedFault::Cut,
        }
    }

    /// Whether the same connection serves on: the answer was one, and those to the next questions follow it.
    pub(super) fn keeps_the_line(self) -> bool {
        matches!(
            self,
            SharedFault::MemoryFull
                | SharedFault::CannotSave
                | SharedFault::Eviction
                | SharedFault::ClocksApart
                | SharedFault::ClockBehind
        )
    }
}

impl From<SharedFault> for StoreFailure {
    fn from(fault: SharedFault) -> StoreFailure {
        use io::ErrorKind as Kind;
        let (doing, kind) = match fault {
            SharedFault::NotYet => ("hear from Redis since the start", Kind::NotConnected),
            SharedFault::Unreachable(kind) => ("connect to Redis", kind),
            SharedFault::TimedOut => ("hear from Redis in time", Kind::TimedOut),
            SharedFault::Cut => ("keep the connection to Redis", Kind::ConnectionAborted),
            SharedFault::Garbage => ("understand what Redis answers", Kind::InvalidData),
            SharedFault::PasswordFile(kind) => ("use the file with the password for Redis", kind),
            SharedFault::Password => ("log in to Redis with this password", Kind::PermissionDenied),
            SharedFault::Permission => {
                ("run our script in Redis as this user (see the README)", Kind::PermissionDenied)
            }
            SharedFault::ReadOnly => ("write to Redis, which is a replica", Kind::ReadOnlyFilesystem),
            SharedFault::Loading => ("use Redis while it reads its data", Kind::ResourceBusy),
            SharedFault::CannotSave => ("write to Redis, which cannot save or copy its data", Kind::Other),
            SharedFault::MemoryFull => ("write to Redis, whose memory is full", Kind::StorageFull),
            SharedFault::Busy => ("use Redis, which a script holds up", Kind::ResourceBusy),
            SharedFault::Cluster => ("use this node of a cluster for our keys", Kind::Other),
            SharedFault::ScriptLost => ("find our script in Redis, which has dropped it", Kind::NotFound),
            SharedFault::Eviction => {
                ("rely on Redis, whose maxmemory-policy is not noeviction", Kind::Unsupported)
            }
            SharedFault::ClocksApart => {
                ("rely on Redis, whose clock and ours are too far apart", Kind::InvalidData)
            }
            SharedFault::ClockBehind => {
                ("begin a new record in Redis, since the last one reaches far ahead", Kind::InvalidData)
            }
            SharedFault::Refused => ("have our script run by Redis", Kind::Other),
            SharedFault::Crowded => ("wait for Redis behind so many others", Kind::ResourceBusy),
            SharedFault::ThreadDied => ("speak to Redis: restart the sidecar", Kind::BrokenPipe),
        };
        StoreFailure { doing, kind }
    }
}
