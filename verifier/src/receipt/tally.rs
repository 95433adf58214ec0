//! What a log amounts to, in numbers.

use std::collections::{BTreeMap, BTreeSet};

use pact_mandate::{KeyId, UnixTime};
use serde::Serialize;

use super::{Decision, Entry, Receipt, WhyNoReceipt};
use crate::limits::MAX_RECEIPT_CODES;

/// Counts over everything that was read; its size is bounded, whatever that was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Files that were read.
    pub files: u64,
    /// Runs of the sidecar: each is a log of its own.
    pub logs: u64,
    /// Lines, of every kind.
    pub lines: u64,
    /// Checkpoints among them.
    pub checkpoints: u64,
    /// Calls let through.
    pub permitted: u64,
    /// Acts on sessions let through.
    pub acts: u64,
    /// Requests refused, each with a receipt.
    pub refused: u64,
    /// Open answers ended.
    pub ended: u64,
    /// Refusals and ends by their code.
    pub codes: BTreeMap<String, u64>,
    /// Calls let through to whoever had the credential (protocol P8).
    pub bearer: u64,
    /// Refusals that were sampled: counted, and not written (protocol M6).
    pub left_out: u64,
    /// Decisions that could not be written down.
    pub lost: u64,
    /// When the first line was written.
    pub first_at: Option<UnixTime>,
    /// When the last one was.
    pub last_at: Option<UnixTime>,
    /// How often a line is older than the one before it: the clock was set back.
    pub clock_set_back: u64,
    /// When the last checkpoint that was judged was signed.
    pub sealed_at: Option<UnixTime>,
    /// The keys that signed checkpoints.
    pub keys: BTreeSet<KeyId>,
    /// The keys that checkpoints say to be signed by, where no key was there to judge them.
    pub unverified_keys: BTreeSet<KeyId>,
    /// Lines of the last log behind its last checkpoint that holds: nobody is known to have signed for them.
    pub unsealed: u64,
    /// The same of the logs before.
    pub unsealed_before: u64,
    /// Bytes of an unfinished line at the very end.
    pub torn: u64,
    /// Logs before the last that were not stopped in order: the sidecar was killed.
    pub killed: u64,
    /// Whether the last log was stopped in order; not while it is being written.
    pub closed: bool,
    /// The number of the file that comes before the first one that was read.
    pub missing_before: Option<u64>,
}

impl Tally {
    pub(super) fn count(&mut self, entry: &Entry) -> Result<(), WhyNoReceipt> {
        self.note_time(entry.at());
        self.closed = matches!(entry, Entry::Closed(_));
        match entry {
            Entry::Receipt(receipt) => self.receipt(receipt)?,
            Entry::Gap(gap) => self.lost = self.lost.saturating_add(gap.lost),
            Entry::Closed(closed) => self.left_out = self.left_out.saturating_add(closed.left_out),
            Entry::Opened(_) => {}
        }
        Ok(())
    }

    pub(super) fn note_time(&mut self, at: UnixTime) {
        if self.last_at.is_some_and(|last| at < last) {
            self.clock_set_back = self.clock_set_back.saturating_add(1);
        }
        self.first_at.get_or_insert(at);
        self.last_at = Some(at);
    }

    fn receipt(&mut self, receipt: &Receipt) -> Result<(), WhyNoReceipt> {
        if !receipt.is_consistent() {
            return Err(WhyNoReceipt::Inconsistent);
        }
        let decided = match receipt.decision {
            Decision::Permit if receipt.act.is_some() => &mut self.acts,
            Decision::Permit => &mut self.permitted,
            Decision::Refuse => &mut self.refused,
            Decision::End => &mut self.ended,
        };
        *decided = decided.saturating_add(1);
        if receipt.decision == Decision::Permit && receipt.proof == Some(super::ProofMark::Bearer) {
            self.bearer = self.bearer.saturating_add(1);
        }
        self.left_out = self.left_out.saturating_add(receipt.left_out.unwrap_or(0));
        let Some(code) = &receipt.code else { return Ok(()) };
        if let Some(count) = self.codes.get_mut(code.as_str()) {
            *count = count.saturating_add(1);
            return Ok(());
        }
        if self.codes.len() >= MAX_RECEIPT_CODES {
            return Err(WhyNoReceipt::TooManyCodes);
        }
        self.codes.insert(code.as_str().to_owned(), 1);
        Ok(())
    }
}
