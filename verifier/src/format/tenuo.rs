//! Tenuo warrant stacks.

use pact_mandate::{Judged, UnixTime};

use super::Opened;
use crate::trust::TrustSnapshot;

/// Why a stack is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenuoFault {}

impl TenuoFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match *self {}
    }

    /// Whose fault it is.
    pub fn class(&self) -> crate::refusal::Class {
        match *self {}
    }

    /// The link at fault.
    pub fn link(&self) -> Option<usize> {
        match *self {}
    }
}

/// The last warrant: who holds it and what it allows.
#[derive(Debug)]
pub(crate) struct Leaf {}

impl Leaf {
    pub(crate) fn warrant_id(&self) -> &[u8; 16] {
        unimplemented!()
    }

    pub(crate) fn permits(&self, call: &Judged) -> Result<(), TenuoFault> {
        unimplemented!("{call:?}")
    }
}

/// Judges a stack of warrants, root first (protocol C2).
pub(crate) fn open(stack: &[u8], trust: &TrustSnapshot, now: UnixTime) -> Result<Opened, TenuoFault> {
    unimplemented!("{stack:?} {trust:?} {now}")
}
