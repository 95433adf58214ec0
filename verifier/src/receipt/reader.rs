//! Reads receipts back, line by line and file by file, in bounded memory.

use std::collections::BTreeSet;

use pact_mandate::{
    KeyId,
    chainlog::{ChainReader, LineHash, Linked, WhyBroken},
    jwks::KeySet,
};

use super::{Entry, Opened, ReceiptFault, Tally, WhyNoReceipt};
use crate::limits::MAX_RECEIPT_KEYS;

/// Who may have signed the checkpoints.
#[derive(Clone, Copy, Debug)]
pub enum Keys<'a> {
    /// One of these.
    Known(&'a KeySet),
    /// Nobody says, so no checkpoint seals anything.
    Unknown,
}

/// Everything that was read so far. After a fault nothing more can be said.
#[derive(Debug)]
pub struct ReceiptReader<'a> {
    keys: Keys<'a>,
    chain: ChainReader,
    tally: Tally,
    present: File,
    before: File,
}

/// How far a file was read.
#[derive(Clone, Copy, Debug)]
struct File {
    /// What it calls itself.
    number: Option<u64>,
    lines: u64,
    /// The hash of its last line.
    last: LineHash,
}

impl File {
    const EMPTY: File = File { number: None, lines: 0, last: LineHash::START };
}

impl<'a> ReceiptReader<'a> {
    /// Before the first file.
    pub fn new(keys: Keys<'a>) -> ReceiptReader<'a> {
        let (chain, tally) = (ChainReader::new(), Tally::default());
        ReceiptReader { keys, chain, tally, present: File::EMPTY, before: File::EMPTY }
    }

    /// The next file begins; files come in the order in which they were written.
    pub fn file(&mut self) {
        self.tally.files = self.tally.files.saturating_add(1);
        self.before = std::mem::replace(&mut self.present, File::EMPTY);
    }

    /// The next line of the file, without its newline.
    pub fn line(&mut self, line: &[u8]) -> Result<(), ReceiptFault> {
        self.present.lines = self.present.lines.saturating_add(1);
        self.judge(line).map_err(|why| ReceiptFault { line: self.present.lines, why })
    }

    /// The file ends in so many bytes without a newline. The next one must know of them.
    pub fn torn(&mut self, bytes: u64) {
        self.tally.torn = bytes;
    }

    /// What it amounts to.
    pub fn tally(&self) -> &Tally {
        &self.tally
    }

    fn judge(&mut self, line: &[u8]) -> Result<(), WhyNoReceipt> {
        let linked = match self.chain.link(line) {
            Err(broken) if matches!(broken.why, WhyBroken::OtherLog { .. }) => {
                self.begin_log(line, broken.why)?
            }
            linked => linked?,
        };
        let is_first = self.tally.logs == 0;
        if is_first {
            self.tally.logs = 1;
        }
        match linked {
            Linked::Entry(entry) => self.entry(&entry, is_first)?,
            Linked::Checkpoint(_) if self.present.lines == 1 => return Err(WhyNoReceipt::NotOpened),
            Linked::Checkpoint(signed) => {
                self.tally.checkpoints = self.tally.checkpoints.saturating_add(1);
                match self.keys {
                    Keys::Unknown => note(&mut self.tally.unverified_keys, signed.unverified_key_id()),
                    Keys::Known(keys) => {
                        let checkpoint = self.chain.seal(signed, keys)?;
                        self.tally.note_time(checkpoint.statement().at);
                        self.tally.sealed_at = Some(checkpoint.statement().at);
                        note(&mut self.tally.keys, checkpoint.key_id());
                    }
                }
            }
        }
        self.present.last = LineHash::of(line);
        self.tally.lines = self.tally.lines.saturating_add(1);
        self.tally.unsealed = self.chain.standing().map_or(0, |standing| standing.unsealed);
        Ok(())
    }

    /// A line that belongs to another log than the one before is the first of its own, or does not belong here.
    fn begin_log(&mut self, line: &[u8], why: WhyBroken) -> Result<Linked<Entry>, WhyNoReceipt> {
        let mut chain = ChainReader::new();
        let linked = chain.link(line)?;
        if chain.standing().is_none_or(|standing| standing.first != 0) {
            return Err(why.into());
        }
        let Linked::Entry(Entry::Opened(opened)) = &linked else { return Err(WhyNoReceipt::NotOpened) };
        self.check_after(opened)?;
        self.chain = chain;
        let tally = &mut self.tally;
        tally.unsealed_before = tally.unsealed_before.saturating_add(tally.unsealed);
        tally.killed = tally.killed.saturating_add(u64::from(!tally.closed));
        tally.logs = tally.logs.saturating_add(1);
        Ok(linked)
    }

    fn entry(&mut self, entry: &Entry, is_first: bool) -> Result<(), WhyNoReceipt> {
        let begins = self.chain.standing().is_some_and(|standing| standing.first == 0 && standing.lines == 1);
        match entry {
            // What comes before the first file is not known here.
            Entry::Opened(opened) if is_first && self.tally.files <= 1 => {
                self.tally.missing_before = opened.after.as_ref().map(|after| after.file);
            }
            // What begins a later log was judged when that log began.
            Entry::Opened(_) if begins && !is_first => {}
            Entry::Opened(opened) if self.present.lines == 1 => self.check_after(opened)?,
            Entry::Opened(_) => return Err(WhyNoReceipt::OpenedAgain),
            _ if self.present.lines == 1 || begins => return Err(WhyNoReceipt::NotOpened),
            _ => {}
        }
        if let Entry::Opened(opened) = entry {
            self.present.number = opened.file;
        }
        self.tally.torn = 0;
        self.tally.count(entry)
    }

    /// Whether it goes on where the lines before end.
    fn check_after(&self, opened: &Opened) -> Result<(), WhyNoReceipt> {
        let Some(after) = &opened.after else {
            // Standard output knows of no run before; a file does.
            return if opened.file.is_none() { Ok(()) } else { Err(WhyNoReceipt::FollowsNothing) };
        };
        let before = if self.present.lines == 1 { self.before } else { self.present };
        if after.last != before.last || before.number.is_some_and(|number| number != after.file) {
            return Err(WhyNoReceipt::NotAfter { file: after.file });
        }
        let (found, told) = (self.tally.torn, after.torn.unwrap_or(0));
        if found == told { Ok(()) } else { Err(WhyNoReceipt::Torn { found, told }) }
    }
}

/// Adds a key, if there is room for another.
fn note(keys: &mut BTreeSet<KeyId>, key: &KeyId) {
    if keys.len() < MAX_RECEIPT_KEYS && !keys.contains(key) {
        keys.insert(key.clone());
    }
}
