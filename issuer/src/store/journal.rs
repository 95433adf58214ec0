//! A file of lines that only grows.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use pact_mandate::canonical::{self, CanonicalError};
use pact_revocation::disk;

use super::{StoreError, error::JournalFault, event::Line, folder::sync_dir, lock::Lock};

/// The file, and how far it was read.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    /// End of the last whole line that was read or written.
    offset: u64,
    /// Lines up to there.
    lines: u64,
    /// The last of them, with its line feed: another one may stand in its place when its writer's disk failed.
    last: Vec<u8>,
}

impl Journal {
    pub(super) const fn new(path: PathBuf) -> Journal {
        Journal { path, offset: 0, lines: 0, last: Vec::new() }
    }

    pub(super) const fn offset(&self) -> u64 {
        self.offset
    }

    /// The whole lines after those that were read. What stands after the last line feed was cut off or is being written:
    /// it does not count.
    pub(super) fn read_new(&mut self) -> Result<Vec<Line>, StoreError> {
        let bytes = self.read_from_offset()?;
        let mut lines = Vec::new();
        let mut rest = bytes.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (text, after) = rest.split_at(end);
            let line: Line = canonical::from_bytes(text).map_err(|fault| self.damaged(fault.into()))?;
            if line.n != self.lines {
                return Err(self.damaged(JournalFault::OutOfOrder(line.n)));
            }
            lines.push(line);
            self.took(text);
            rest = after.get(1..).unwrap_or_default();
        }
        Ok(lines)
    }

    fn read_from_offset(&self) -> Result<Vec<u8>, StoreError> {
        let io = || StoreError::io(&self.path);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound && self.offset == 0 => return Ok(Vec::new()),
            Err(error) => return Err(io()(error)),
        };
        if file.metadata().map_err(io())?.len() < self.offset {
            return Err(self.damaged(JournalFault::Shorter));
        }
        let known = u64::try_from(self.last.len()).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(self.offset.saturating_sub(known))).map_err(io())?;
        file.read_to_end(&mut bytes).map_err(io())?;
        let new = bytes.strip_prefix(self.last.as_slice());
        Ok(new.ok_or_else(|| self.damaged(JournalFault::TakenBack))?.to_vec())
    }

    /// Counts a line, given without its line feed.
    fn took(&mut self, text: &[u8]) {
        self.last.clear();
        self.last.extend_from_slice(text);
        self.last.push(b'\n');
        self.offset = self.offset.saturating_add(u64::try_from(self.last.len()).unwrap_or(u64::MAX));
        self.lines += 1;
    }

    /// Writes one line after the last whole one and waits until it is on the disk. Only the holder of the lock may, and
    /// only after reading all there was.
    pub(super) fn append(&mut self, line: &Line, _lock: &Lock) -> Result<(), StoreError> {
        let text = canonical::to_bytes(line).map_err(|fault| self.damaged(fault.into()))?;
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).mode(disk::PRIVATE).open(&self.path);
        let mut file = file.map_err(StoreError::io(&self.path))?;
        if self.offset == 0 {
            self.path.parent().map_or(Ok(()), sync_dir)?;
        }
        if let Err(error) = self.write(&mut file, &text) {
            // Nobody was told that it happened, so it must not be there later.
            let _ = file.set_len(self.offset).and_then(|()| file.sync_all());
            return Err(StoreError::io(&self.path)(error));
        }
        self.took(&text);
        Ok(())
    }

    fn write(&self, file: &mut File, text: &[u8]) -> std::io::Result<()> {
        // Cuts off what a crashed writer left behind.
        file.set_len(self.offset)?;
        file.seek(SeekFrom::Start(self.offset))?;
        file.write_all(&[text, b"\n"].concat())?;
        file.sync_data()
    }

    fn damaged(&self, fault: JournalFault) -> StoreError {
        StoreError::Journal { path: self.path.clone(), line: self.lines + 1, fault }
    }
}

/// A whole journal.
pub(super) fn bytes(path: &Path, lines: &[Line]) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    for line in lines {
        let fault = |fault: CanonicalError| StoreError::Journal {
            path: path.to_owned(),
            line: line.n.saturating_add(1),
            fault: fault.into(),
        };
        bytes.extend(canonical::to_bytes(line).map_err(fault)?);
        bytes.push(b'\n');
    }
    Ok(bytes)
}
