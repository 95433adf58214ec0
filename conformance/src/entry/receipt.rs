//! Files of receipts, and what stands in their lines.

use std::sync::LazyLock;

use pact_mandate::{
    SecretKey, Signer, canonical,
    chainlog::{self, ChainLog, LogId},
    jwks::KeySet,
};
use pact_verifier::receipt::{Entry, Keys, Line, Lines, Opened, ReceiptReader, Tally};

use super::{Answer, reason};
use crate::golden::{Fault, receipt};

/// A file of receipts; or the content of one line, which is put into a log that holds in every other respect.
///
/// # Panics
///
/// When a file that holds under its key reads otherwise without one, or when what was read is written back as other bytes.
pub fn receipts(bytes: &[u8]) -> Answer {
    file(bytes).or_else(|_| content(bytes))
}

fn file(bytes: &[u8]) -> Answer {
    let (_, keys) = signer()?;
    let sealed = read(bytes, Keys::Known(keys))?;
    let linked = read(bytes, Keys::Unknown).map(|tally| (tally.lines, tally.codes));
    assert_eq!(linked, Ok((sealed.lines, sealed.codes)), "a file reads otherwise without its key");
    Ok(())
}

fn content(bytes: &[u8]) -> Answer {
    let (key, keys) = signer()?;
    let entry = canonical::from_bytes::<Entry>(bytes).map_err(reason)?;
    if let Entry::Receipt(receipt) = &entry {
        let fast = chainlog::Entry::of_sorted(receipt).map_err(reason)?;
        assert_eq!(fast.as_bytes(), bytes, "a receipt is written otherwise than it was read");
    }
    let opened = Opened { after: None, at: entry.at(), file: None, typ: <_>::default() };
    let mut log = ChainLog::begin(LogId::from_random([1; 16]));
    let mut text = Vec::new();
    for content in [chainlog::Entry::new(&opened), chainlog::Entry::new(&entry)] {
        let line = log.entry(&content.map_err(reason)?).map_err(reason)?;
        text.extend_from_slice(line.bytes());
        log.written(&line);
    }
    text.extend_from_slice(log.checkpoint(entry.at(), key).map_err(reason)?.bytes());
    read(&text, Keys::Known(keys)).map(|_| ())
}

fn read(mut bytes: &[u8], keys: Keys<'_>) -> Result<Tally, String> {
    let mut reader = ReceiptReader::new(keys);
    reader.file();
    let mut lines = Lines::new(&mut bytes);
    loop {
        match lines.next().map_err(reason)? {
            Line::Whole(line) => reader.line(line).map_err(reason)?,
            Line::Torn(bytes) => reader.torn(bytes),
            Line::End => break,
        }
    }
    // Nothing at all is no file of receipts.
    if reader.tally().lines > 0 { Ok(reader.tally().clone()) } else { Err("there is no line".to_owned()) }
}

fn signer() -> Result<&'static (SecretKey, KeySet), String> {
    static SIGNER: LazyLock<Result<(SecretKey, KeySet), Fault>> = LazyLock::new(|| {
        let key = receipt::receipt_key()?;
        let keys = KeySet::new(vec![(key.key_id().clone(), *key.public_key())])?;
        Ok((key, keys))
    });
    SIGNER.as_ref().map_err(reason)
}
