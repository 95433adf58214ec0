//! Receipts: each decision becomes a line before its call is forwarded (protocol M6, M7).
//!
//! A line is in the page cache before the call leaves, so that no kill of this process loses it; within a second it is
//! sealed by a checkpoint and synced, so that the power may fail as well.

use std::{
    fs::File,
    io,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
    },
};

use pact_mandate::chainlog::LogId;
use pact_mandate::{Now, chainlog};
use pact_verifier::{
    Known, Receipt,
    receipt::{Credential, Decision},
};
use serde::Serialize;

use crate::{
    config::{Config, OnFull, ReceiptsTo},
    fault::Fault,
    gate::Gate,
    limits::{RECEIPTS_EVERY, SAMPLED_REFUSALS_PER_SECOND},
    metrics::Written,
    request_id::RequestId,
    sampler::Sampler,
};

mod account;
mod failure;
mod folder;
mod journal;
mod keys;
mod place;

pub(crate) use account::Account;
pub(crate) use failure::Failure;
pub use folder::FolderError;
pub use keys::{DigestKey, ReceiptKeyError};

use folder::Folder;
use journal::Journal;
use keys::ReceiptKey;
use place::Place;

/// The writer of receipts, or nothing where the operator switched them off.
pub(crate) struct Receipts(Option<Writer>);

struct Writer {
    journal: Mutex<Journal>,
    /// What the journal says of itself, for whoever does not want to wait for it.
    failed: AtomicBool,
    key: ReceiptKey,
    digest: DigestKey,
    to: ReceiptsTo,
    on_full: OnFull,
    sampler: Sampler,
}

/// Why receipts cannot be written from the start.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptsError {
    /// The keys.
    #[error(transparent)]
    Key(#[from] ReceiptKeyError),
    /// The folder.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// Standard output.
    #[error("standard output cannot be used: {0}")]
    Stdout(io::Error),
    /// The first line.
    #[error("{0}")]
    FirstLine(String),
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
}

/// What `/readyz` says of receipts.
#[derive(Debug, Serialize)]
pub(crate) struct ReceiptsHealth {
    pub(crate) ok: bool,
    to: ReceiptsTo,
    on_full: OnFull,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Decisions without a line that no line tells of yet.
    lost: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
}

impl Receipts {
    /// Opens what the configuration names; the first line is written before this comes back.
    pub(crate) fn open(config: &Config, now: Now) -> Result<Receipts, ReceiptsError> {
        let wanted = &config.receipts;
        let (place, after) = match wanted.to {
            ReceiptsTo::Off => return Ok(Receipts(None)),
            ReceiptsTo::Stdout => (Place::stdout().map_err(ReceiptsError::Stdout)?, None),
            ReceiptsTo::File => {
                let found = Folder::open(wanted, now)?;
                (Place::Folder(Box::new(found.folder)), found.after)
            }
        };
        let (key, digest) = (ReceiptKey::open(&config.state_dir)?, DigestKey::open(&config.state_dir)?);
        let mut random = [0; 16];
        getrandom::fill(&mut random)?;
        let journal = Journal::begin(LogId::from_random(random), place, after, now, key.signer());
        let journal = journal.map_err(|failure| ReceiptsError::FirstLine(failure.to_string()))?;
        Ok(Receipts(Some(Writer {
            journal: Mutex::new(journal),
            failed: AtomicBool::new(false),
            key,
            digest,
            to: wanted.to,
            on_full: wanted.on_full,
            sampler: Sampler::new(SAMPLED_REFUSALS_PER_SECOND),
        })))
    }

    /// An account of one request, empty.
    pub(crate) fn account(&self) -> Account {
        Account::new(self.0.as_ref().map(|writer| writer.digest.clone()))
    }

    /// Whether a call that is permitted now would find its receipt written.
    pub(crate) fn check(&self) -> Result<(), Fault> {
        match &self.0 {
            Some(writer) if writer.on_full == OnFull::Refuse && writer.failed.load(Ordering::Relaxed) => {
                Err(Fault::NoReceipt)
            }
            _ => Ok(()),
        }
    }

    /// Writes the receipt of leave that was just given, for a call or an act: what is let through waits until this says so.
    pub(crate) fn permit(
        &self,
        gate: &Gate,
        granted: impl FnOnce() -> Known,
        account: &mut Account,
        request_id: RequestId,
        now: Now,
    ) -> Result<(), Fault> {
        let Some(writer) = &self.0 else { return Ok(()) };
        let granted = granted();
        account.permitted = true;
        let mut receipt = account.receipt(gate, Decision::Permit, request_id, now.wall);
        receipt.credential = Some(Credential::of(&granted.chain));
        receipt.proof = Some(granted.proof);
        receipt.list = granted.list.map(Into::into);
        match writer.write(gate, &receipt, Written::Permit, now) {
            Err(_) if writer.on_full == OnFull::Refuse => Err(Fault::NoReceipt),
            _ => Ok(()),
        }
    }

    /// Writes the receipt of a refusal: of each one whose credential was verified, and of a sample of the others.
    pub(crate) fn refuse(&self, gate: &Gate, fault: &Fault, account: &Account, request_id: RequestId) {
        let Some(writer) = &self.0 else { return };
        // What the tool server did with a call that was let through is no decision.
        if account.permitted {
            return;
        }
        let now = gate.clock.now();
        let left_out = if account.is_verified() {
            None
        } else {
            let Some(left_out) = writer.sampler.admit(now) else {
                return gate.metrics.receipt(Written::LeftOut);
            };
            Some(left_out)
        };
        let mut receipt = account.receipt(gate, Decision::Refuse, request_id, now.wall);
        receipt.left_out = left_out;
        account.refused(fault, &mut receipt);
        // It is refused either way.
        let _ = writer.write(gate, &receipt, Written::Refuse, now);
    }

    /// Writes that an answer was ended which a permit had begun (protocol R9).
    pub(crate) fn end(&self, gate: &Gate, fault: &Fault, request_id: RequestId) {
        let Some(writer) = &self.0 else { return };
        let now = gate.clock.now();
        let account = Account::new(None);
        let mut receipt = account.receipt(gate, Decision::End, request_id, now.wall);
        account.refused(fault, &mut receipt);
        let _ = writer.write(gate, &receipt, Written::End, now);
    }

    /// The document with the public half of the receipt key.
    pub(crate) fn published(&self) -> Option<&str> {
        self.0.as_ref().map(|writer| writer.key.published())
    }

    pub(crate) fn health(&self) -> ReceiptsHealth {
        let Some(writer) = &self.0 else { return ReceiptsHealth::off() };
        let (reason, file, lost) = match writer.journal() {
            Ok(journal) => (journal.failed(), journal.file(), journal.lost()),
            Err(failure) => (Some(failure), None, 0),
        };
        ReceiptsHealth {
            ok: reason.is_none(),
            to: writer.to,
            on_full: writer.on_full,
            file,
            lost,
            reason: reason.map(|failure| failure.to_string()),
        }
    }

    /// Writes the last lines of the run, and waits until the disk has them.
    pub(crate) fn close(&self, now: Now) {
        let Some(writer) = &self.0 else { return };
        let Ok(mut journal) = writer.journal() else { return };
        let unsynced = journal.close(writer.sampler.left_out(), now, writer.key.signer());
        drop(journal);
        if let Err(error) = sync(&unsynced) {
            tracing::error!(%error, "the last receipts could not be synced");
        }
    }
}

impl Writer {
    fn write(&self, gate: &Gate, receipt: &Receipt, written: Written, now: Now) -> Result<(), Failure> {
        let line = chainlog::Entry::of_sorted(receipt);
        let line = line.map_err(|_| Failure::new("make a line", io::ErrorKind::InvalidData));
        let done = line.and_then(|line| self.journal()?.write(&line, now, self.key.signer()));
        if done.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        gate.metrics.receipt(if done.is_ok() { written } else { Written::Lost });
        done
    }

    /// A panic in the middle of a line: nothing after it could be relied on.
    fn journal(&self) -> Result<MutexGuard<'_, Journal>, Failure> {
        let poisoned = Failure::new("rely on its receipts after a panic", io::ErrorKind::Other);
        self.journal.lock().map_err(|_| poisoned)
    }

    /// One turn of what is done behind the calls; what is to be synced.
    fn tend(&self, now: Now) -> Vec<Arc<File>> {
        let Ok(mut journal) = self.journal() else { return Vec::new() };
        let unsynced = journal.tend(now, self.key.signer());
        self.failed.store(journal.failed().is_some(), Ordering::Relaxed);
        unsynced
    }

    fn not_synced(&self) {
        self.failed.store(true, Ordering::Relaxed);
        if let Ok(mut journal) = self.journal() {
            journal.not_synced();
        }
    }
}

impl ReceiptsHealth {
    fn off() -> ReceiptsHealth {
        let (to, on_full) = (ReceiptsTo::Off, OnFull::Permit);
        ReceiptsHealth { ok: true, to, on_full, file: None, lost: 0, reason: None }
    }

    /// Whether calls go through as far as it depends on receipts.
    pub(crate) fn lets_calls_through(&self) -> bool {
        self.ok || self.on_full == OnFull::Permit
    }
}

/// Seals, syncs, turns to the next file, and tries again what failed. Never done.
pub(crate) async fn tend(gate: Arc<Gate>) {
    loop {
        tokio::time::sleep(RECEIPTS_EVERY).await;
        let Some(writer) = &gate.receipts.0 else { return std::future::pending().await };
        let unsynced = writer.tend(gate.clock.now());
        if unsynced.is_empty() {
            continue;
        }
        // A disk takes its time, and the server's own threads have none.
        let synced = tokio::task::spawn_blocking(move || sync(&unsynced)).await;
        if !matches!(synced, Ok(Ok(()))) {
            writer.not_synced();
        }
    }
}

fn sync(files: &[Arc<File>]) -> io::Result<()> {
    files.iter().try_for_each(|file| file.sync_all())
}
