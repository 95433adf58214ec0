//! The configuration as its file writes it, defaults filled in: what `--print-config` prints.

use std::{net::SocketAddr, path::PathBuf};

use pact_mandate::{Action, Format, IssuerId};
use serde::{Deserialize, Serialize};

use super::{OnFull, Period, PinnedKey, PinnedRoot, ReceiptsTo, redis::RawReplay, upstream::RawUpstream};
use crate::limits;

/// The whole file.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawConfig {
    pub(super) listen: SocketAddr,
    pub(super) admin_listen: SocketAddr,
    pub(super) audience: String,
    /// Whether the admin port, which asks nobody who they are, may be reached from elsewhere.
    #[serde(default)]
    pub(super) admin_remote: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) allowed_hosts: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<String>,
    pub(super) policy: PathBuf,
    pub(super) state_dir: PathBuf,
    pub(super) upstream: RawUpstream,
    #[serde(default)]
    pub(super) limits: RawLimits,
    #[serde(default)]
    pub(super) keys: RawKeys,
    #[serde(default)]
    pub(super) lists: RawLists,
    #[serde(default)]
    pub(super) receipts: RawReceipts,
    #[serde(default)]
    pub(super) replay: RawReplay,
    pub(super) issuers: Vec<RawIssuer>,
}

/// `[limits]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawLimits {
    pub(super) body_bytes: usize,
    pub(super) head_bytes: usize,
    pub(super) head_timeout: Period,
    pub(super) body_timeout: Period,
    pub(super) write_timeout: Period,
    pub(super) connections: usize,
    pub(super) requests: usize,
    pub(super) recheck: Period,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) drain_delay: Option<Period>,
    pub(super) keep_alive: Period,
    pub(super) sessions: usize,
    pub(super) session_idle: Period,
    pub(super) drain: Period,
}

/// `[keys]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawKeys {
    pub(super) soft: Period,
    pub(super) hard: Period,
    pub(super) cooldown: Period,
}

/// `[lists]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawLists {
    pub(super) every: Period,
}

/// `[receipts]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct RawReceipts {
    pub(super) to: ReceiptsTo,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<PathBuf>,
    pub(super) rotate_bytes: u64,
    pub(super) rotate_after: Period,
    pub(super) keep: usize,
    pub(super) on_full: OnFull,
}

/// One `[[issuers]]`.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawIssuer {
    pub(super) id: IssuerId,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) roots: Vec<PinnedRoot>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) keys_url: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) list_keys: Vec<PinnedKey>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) list_keys_url: Option<String>,
    pub(super) lists_url: String,
    #[serde(default)]
    pub(super) bearer: bool,
    pub(super) speaks: RawSpeaks,
}

/// `[issuers.speaks]`
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawSpeaks {
    pub(super) formats: Vec<Format>,
    pub(super) actions: Vec<Action>,
    pub(super) projects: Vec<String>,
}

impl Default for RawLimits {
    fn default() -> RawLimits {
        RawLimits {
            body_bytes: limits::BODY_BYTES,
            head_bytes: limits::HEAD_BYTES,
            head_timeout: limits::HEAD_TIMEOUT.into(),
            body_timeout: limits::BODY_TIMEOUT.into(),
            write_timeout: limits::WRITE_TIMEOUT.into(),
            connections: limits::CONNECTIONS,
            requests: limits::REQUESTS,
            recheck: limits::RECHECK.into(),
            drain_delay: None,
            keep_alive: limits::KEEP_ALIVE.into(),
            sessions: limits::SESSIONS,
            session_idle: limits::SESSION_IDLE.into(),
            drain: limits::DRAIN.into(),
        }
    }
}

impl Default for RawReceipts {
    fn default() -> RawReceipts {
        RawReceipts {
            to: ReceiptsTo::default(),
            path: None,
            rotate_bytes: limits::RECEIPTS_ROTATE_BYTES,
            rotate_after: limits::RECEIPTS_ROTATE_AFTER.into(),
            keep: limits::RECEIPTS_KEEP,
            on_full: OnFull::default(),
        }
    }
}

impl Default for RawLists {
    fn default() -> RawLists {
        RawLists { every: limits::LISTS_EVERY.into() }
    }
}

impl Default for RawKeys {
    fn default() -> RawKeys {
        RawKeys {
            soft: limits::KEYS_SOFT.into(),
            hard: limits::KEYS_HARD.into(),
            cooldown: limits::KEYS_COOLDOWN.into(),
        }
    }
}
