//! What values of the configuration may be, alone and beside each other.

use std::time::Duration;

use super::{ConfigError, raw::RawConfig};
use crate::limits;

/// Refuses the first value that is out of its range or does not fit beside the others.
pub(super) fn check(raw: &RawConfig) -> Result<(), ConfigError> {
    let out_of_range = |key, wanted| Err(ConfigError::OutOfRange(key, wanted));
    if !(1024..=limits::MOST_BODY_BYTES).contains(&raw.limits.body_bytes) {
        return out_of_range("limits.body_bytes", "1024 to 67108864");
    }
    if !(8192..=limits::MOST_HEAD_BYTES).contains(&raw.limits.head_bytes) {
        return out_of_range("limits.head_bytes", "8192 to 1048576");
    }
    if !(1..=limits::MOST_CONNECTIONS).contains(&raw.limits.connections) {
        return out_of_range("limits.connections", "1 to 65536");
    }
    if !(1..=limits::MOST_CONNECTIONS).contains(&raw.limits.requests) {
        return out_of_range("limits.requests", "1 to 65536");
    }
    if !(2..=limits::MOST_CONNECTIONS).contains(&raw.limits.sessions) {
        return out_of_range("limits.sessions", "2 to 65536");
    }
    check_periods(raw)?;
    check_places(raw)
}

/// The periods that must fit together.
fn check_periods(raw: &RawConfig) -> Result<(), ConfigError> {
    let out_of_range = |key, wanted| Err(ConfigError::OutOfRange(key, wanted));
    if raw.keys.hard.get() <= raw.keys.soft.get() {
        return out_of_range("keys.hard", "longer than keys.soft");
    }
    if !(Duration::from_millis(100)..=limits::MOST_LISTS_EVERY).contains(&raw.lists.every.get()) {
        return out_of_range(
            "lists.every",
            "100ms to 20s, so that a failed fetch does not make a list stale",
        );
    }
    // A fetch comes up to a fifth late.
    let left = limits::OPEN_ANSWERS_END.saturating_sub(raw.lists.every.get() * 6 / 5);
    let so_that =
        "together with six fifths of lists.every 60s at the most, so that open answers end within a minute";
    if raw.limits.recheck.get() > left {
        return out_of_range("limits.recheck", so_that);
    }
    if raw.limits.write_timeout.get() > left {
        return out_of_range("limits.write_timeout", so_that);
    }
    Ok(())
}

/// Where the ports listen, and under which names.
fn check_places(raw: &RawConfig) -> Result<(), ConfigError> {
    let out_of_range = |key, wanted| Err(ConfigError::OutOfRange(key, wanted));
    if raw.listen.port() != 0 && raw.listen == raw.admin_listen {
        return out_of_range("admin_listen", "another address than listen");
    }
    if !raw.admin_listen.ip().is_loopback() && !raw.admin_remote {
        return out_of_range(
            "admin_listen",
            "a loopback address, since it asks nobody who they are; `admin_remote = true` where only operators reach it",
        );
    }
    if !raw.allowed_hosts.iter().all(|host| is_host(host)) {
        return out_of_range(
            "allowed_hosts",
            "names as `Host` has them: example.org, example.org:8080, or \"*\" for any",
        );
    }
    Ok(())
}

/// `*`, or a host as the header names it, with or without a port.
fn is_host(text: &str) -> bool {
    text == "*"
        || text.parse::<http::uri::Authority>().is_ok_and(|authority| !authority.as_str().contains('@'))
}

/// A path that reads the same to everybody.
pub(super) fn is_plain_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/!$&'()*+,=:@".contains(&b);
    let segments = || path.split('/').skip(1);
    let last = segments().count().saturating_sub(1);
    path.starts_with('/')
        && path.bytes().all(plain)
        && segments()
            .enumerate()
            .all(|(at, segment)| segment != "." && segment != ".." && (at == last || !segment.is_empty()))
}
