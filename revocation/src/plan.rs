//! What to fetch for a head, decided without any I/O.

use std::fmt;

use crate::{
    head::{DeltaName, Head},
    limits::MIN_DELTA_ALLOWANCE,
    list::ListVersion,
    name::BodyName,
};

/// The one step from the entries that are held to those that a head names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The head is the one that is held.
    Nothing,
    /// The head names the entries that are held: a refresh.
    Refresh,
    /// Fetch a delta.
    Delta {
        /// Its name, which is its place below the head.
        name: BodyName,
        /// The list that it starts from.
        from: ListVersion,
        /// The most bytes that it may have.
        limit: u64,
    },
    /// Fetch the whole body.
    Body {
        /// Its name, which is its place below the head.
        name: BodyName,
        /// Its size: neither more nor fewer bytes.
        size: u64,
    },
}

impl Step {
    /// The whole body.
    pub(crate) fn body(head: &Head) -> Step {
        Step::Body { name: head.entries().sha256, size: head.entries().bytes }
    }

    /// A delta from the held list where there is one, else the whole body.
    pub(crate) fn to_change(head: &Head, base: ListVersion) -> Step {
        match head.delta_from(base) {
            Some(DeltaName { from, sha256 }) => {
                let limit = head.entries().bytes.max(MIN_DELTA_ALLOWANCE);
                Step::Delta { name: *sha256, from: *from, limit }
            }
            None => Step::body(head),
        }
    }

    /// What to fetch: its name, and the most bytes that it may have.
    pub fn fetches(&self) -> Option<(BodyName, u64)> {
        match *self {
            Step::Nothing | Step::Refresh => None,
            Step::Delta { name, limit, .. } => Some((name, limit)),
            Step::Body { name, size } => Some((name, size)),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Nothing => f.write_str("nothing: the head is held"),
            Step::Refresh => f.write_str("nothing to fetch: the entries are held, the head is newer"),
            Step::Delta { name, from, .. } => write!(f, "fetch the delta {name} from list {from}"),
            Step::Body { name, size } => write!(f, "fetch the body {name} ({size} bytes)"),
        }
    }
}
