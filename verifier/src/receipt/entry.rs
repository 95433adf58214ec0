//! What a line of a receipts' log holds beside checkpoints: a receipt, or a word of the log about itself.

use pact_mandate::{UnixTime, chainlog::LineHash};
use serde::{Deserialize, Serialize};

use super::Receipt;

/// The content of one line. Each kind is known by its `typ`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Entry {
    /// A decision.
    Receipt(Box<Receipt>),
    /// A file, or a run of the sidecar, begins.
    Opened(Opened),
    /// Lines were lost.
    Gap(Gap),
    /// The sidecar stopped in order.
    Closed(Closed),
}

/// The first line of every file, and of every log in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opened {
    /// What was there before; absent when nothing was, or when that cannot be known (standard output).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<After>,
    /// When.
    pub at: UnixTime,
    /// The number of the file; absent on standard output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<u64>,
    /// `pact-receipts-opened/1`.
    pub typ: OpenedTyp,
}

/// What a file or log goes on from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct After {
    /// The number of the file that it stands in.
    pub file: u64,
    /// The hash of its last whole line; that of no line when it has none.
    pub last: LineHash,
    /// Bytes of a line that was never finished, behind that one: the writer was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub torn: Option<u64>,
}

/// Lines could not be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gap {
    /// When lines could be written again.
    pub at: UnixTime,
    /// How many decisions have no line.
    pub lost: u64,
    /// `pact-receipts-gap/1`.
    pub typ: GapTyp,
}

/// The last line but one of a run that was stopped in order; a checkpoint follows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Closed {
    /// When.
    pub at: UnixTime,
    /// Refusals that no sampled receipt has told of yet.
    pub left_out: u64,
    /// `pact-receipts-closed/1`.
    pub typ: ClosedTyp,
}

/// What an [`Opened`]'s `typ` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpenedTyp {
    /// The one version so far.
    #[default]
    #[serde(rename = "pact-receipts-opened/1")]
    One,
}

/// What a [`Gap`]'s `typ` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum GapTyp {
    /// The one version so far.
    #[default]
    #[serde(rename = "pact-receipts-gap/1")]
    One,
}

/// What a [`Closed`]'s `typ` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ClosedTyp {
    /// The one version so far.
    #[default]
    #[serde(rename = "pact-receipts-closed/1")]
    One,
}

impl Entry {
    /// When it was written.
    pub fn at(&self) -> UnixTime {
        match self {
            Entry::Receipt(receipt) => receipt.at,
            Entry::Opened(opened) => opened.at,
            Entry::Gap(gap) => gap.at,
            Entry::Closed(closed) => closed.at,
        }
    }
}
