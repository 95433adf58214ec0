//! What kept a receipt from being written.

use std::{fmt, io};

/// What could not be done, and what the system said. It names no path and no content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) struct Failure {
    doing: &'static str,
    kind: io::ErrorKind,
}

impl Failure {
    pub(super) const fn new(doing: &'static str, kind: io::ErrorKind) -> Failure {
        Failure { doing, kind }
    }

    /// For `map_err`.
    pub(super) fn of(doing: &'static str) -> impl Fn(io::Error) -> Failure {
        move |error| Failure::new(doing, error.kind())
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the sidecar could not {}: {}", self.doing, self.kind)
    }
}
