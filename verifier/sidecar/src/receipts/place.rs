//! Where lines go.

use std::{
    fs::File,
    io::{self, Write},
    os::fd::AsFd,
    sync::Arc,
};

use pact_mandate::{Monotonic, chainlog::LineHash};
use pact_verifier::receipt::After;

use super::{Failure, folder, folder::Folder};

/// A folder, or standard output.
#[derive(Debug)]
pub(super) enum Place {
    Folder(Box<Folder>),
    Stdout(Stdout),
}

/// Standard output. What was written of a line cannot be taken back.
#[derive(Debug)]
pub(super) struct Stdout {
    file: File,
    torn: bool,
}

impl Place {
    /// Standard output under a handle of our own: the library's own takes a closed one for a good one.
    pub(super) fn stdout() -> io::Result<Place> {
        let file = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Place::Stdout(Stdout { file, torn: false }))
    }

    /// Adds a line, whole or not at all.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<(), Failure> {
        match self {
            Place::Folder(folder) => folder.append(line),
            Place::Stdout(stdout) => stdout.append(line),
        }
    }

    /// Whether the next line belongs into another file.
    pub(super) fn is_full(&self, now: Monotonic) -> bool {
        matches!(self, Place::Folder(folder) if folder.is_full(now))
    }

    /// Whether what was written is still there to be added to.
    pub(super) fn is_sound(&self) -> bool {
        match self {
            Place::Folder(folder) => folder.is_sound(),
            Place::Stdout(stdout) => !stdout.torn,
        }
    }

    /// Whether the file is still found under its name.
    pub(super) fn is_in_place(&self) -> bool {
        matches!(self, Place::Stdout(_)) || matches!(self, Place::Folder(folder) if folder.is_in_place())
    }

    /// Writes no more into the present file.
    pub(super) fn give_up(&mut self) {
        if let Place::Folder(folder) = self {
            folder.give_up();
        }
    }

    /// Begins the next file; `None` on standard output, which has none.
    pub(super) fn next(
        &mut self,
        last: LineHash,
        now: Monotonic,
    ) -> Result<Option<(Arc<File>, After)>, Failure> {
        match self {
            Place::Folder(folder) => folder.next(last, now).map(Some),
            Place::Stdout(_) => {
                Err(Failure::new("finish a line on standard output", io::ErrorKind::WriteZero))
            }
        }
    }

    /// The number of the file.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Place::Folder(folder) => Some(folder.number()),
            Place::Stdout(_) => None,
        }
    }

    /// Its name.
    pub(super) fn name(&self) -> Option<String> {
        self.number().map(folder::name)
    }

    /// What to sync; nothing of standard output.
    pub(super) fn file(&self) -> Option<Arc<File>> {
        match self {
            Place::Folder(folder) => Some(folder.file()),
            Place::Stdout(_) => None,
        }
    }

    /// The folder, to be synced once a file was begun in it.
    pub(super) fn folder(&self) -> Option<Arc<File>> {
        match self {
            Place::Folder(folder) => folder.handle().ok().map(Arc::new),
            Place::Stdout(_) => None,
        }
    }
}

impl Stdout {
    fn append(&mut self, mut line: &[u8]) -> Result<(), Failure> {
        let whole = line.len();
        while !line.is_empty() {
            let kind = match self.file.write(line) {
                Ok(0) => io::ErrorKind::WriteZero,
                Ok(count) => {
                    line = line.get(count..).unwrap_or_default();
                    continue;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => error.kind(),
            };
            self.torn |= line.len() < whole;
            return Err(Failure::new("write a line to standard output", kind));
        }
        Ok(())
    }
}
