//! Biscuit tokens.

use pact_mandate::{Judged, UnixTime};

use super::Opened;
use crate::trust::TrustSnapshot;

/// Why a token is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BiscuitFault {}

impl BiscuitFault {
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

/// A verified token, ready for the engine.
#[derive(Debug)]
pub(crate) struct Token {}

impl Token {
    pub(crate) fn permits(&self, call: &Judged, now: UnixTime) -> Result<(), BiscuitFault> {
        unimplemented!("{call:?} {now}")
    }
}

/// Judges a token's structure, then its signatures (protocol C3).
pub(crate) fn open(token: &[u8], trust: &TrustSnapshot, now: UnixTime) -> Result<Opened, BiscuitFault> {
    unimplemented!("{token:?} {trust:?} {now}")
}
