//! Files of receipts in a folder: `00000001.jsonl` and on. One is written at a time, the oldest are removed.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use pact_mandate::{
    Monotonic, Now, UnixTime,
    chainlog::{ChainReader, LineHash, Linked},
    limits::MAX_LOG_LINE_BYTES,
};
use pact_revocation::disk;
use pact_verifier::receipt::{After, Entry};

use super::Failure;
use crate::config::ReceiptsConfig;

const SUFFIX: &str = ".jsonl";

/// The folder, and the file that is being written.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    rotate_bytes: u64,
    rotate_after: Duration,
    keep: usize,
    file: Arc<File>,
    number: u64,
    /// What of the file is whole lines of ours.
    bytes: u64,
    /// When it was opened here, and the age that it had then.
    opened: Monotonic,
    age: Duration,
    /// Nothing more goes into it: it is gone, or was changed, or cannot be relied on.
    given_up: bool,
    _lock: File,
    /// In tests: the disk takes half a line and no more.
    #[cfg(test)]
    pub(super) full: bool,
}

/// The folder as it was found, and what its last file goes on from.
pub(super) struct Found {
    pub(super) folder: Folder,
    pub(super) after: Option<After>,
}

/// Why the folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Another sidecar writes there.
    #[error("another process writes receipts in {0}; each sidecar needs a folder of its own")]
    InUse(PathBuf),
    /// The system.
    #[error("receipts cannot be written in {path}: {fault}")]
    Io {
        /// Which folder.
        path: PathBuf,
        /// What it said.
        fault: io::Error,
    },
}

/// How a file ends.
struct Tail {
    last: LineHash,
    torn: u64,
    bytes: u64,
}

impl Folder {
    /// Goes on in the last file, if that ends in a whole line and is neither too long nor too old; else in a new one.
    pub(super) fn open(config: &ReceiptsConfig, now: Now) -> Result<Found, FolderError> {
        let path = config.folder.clone();
        let failed = |fault| FolderError::Io { path: config.folder.clone(), fault };
        fs::create_dir_all(&path).map_err(failed)?;
        let lock = lock(&path)?;
        let newest = numbers(&path).map_err(failed)?.last().copied();
        let mut after = None;
        let mut going_on = None;
        if let Some(number) = newest {
            let tail = Tail::read(&place(&path, number)).map_err(failed)?;
            let age = age(&place(&path, number), now.wall).map_err(failed)?;
            let torn = (tail.torn > 0).then_some(tail.torn);
            after = Some(After { file: number, last: tail.last, torn });
            let fits = torn.is_none() && tail.bytes < config.rotate_bytes;
            going_on =
                age.filter(|age| fits && *age < config.rotate_after).map(|age| (number, tail.bytes, age));
        }
        let (number, bytes, age) =
            going_on.unwrap_or((newest.unwrap_or(0).saturating_add(1), 0, Duration::ZERO));
        let file = append(&place(&path, number), going_on.is_none()).map_err(failed)?;
        let folder = Folder {
            path,
            rotate_bytes: config.rotate_bytes,
            rotate_after: config.rotate_after,
            keep: config.keep,
            file: Arc::new(file),
            number,
            bytes,
            opened: now.monotonic,
            age,
            given_up: false,
            _lock: lock,
            #[cfg(test)]
            full: false,
        };
        folder.remove_old();
        Ok(Found { folder, after })
    }

    /// The number of the file that is being written.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Adds a line by one `write`, so that a process that is killed leaves it whole or not at all. What of it went in when
    /// the disk is full is cut off again.
    pub(super) fn append(&mut self, line: &[u8]) -> Result<(), Failure> {
        let written = self.write(line);
        let whole = written.as_ref().is_ok_and(|count| *count == line.len());
        if whole {
            self.bytes = self.bytes.saturating_add(u64::try_from(line.len()).unwrap_or(u64::MAX));
            return Ok(());
        }
        if self.file.set_len(self.bytes).is_err() {
            self.given_up = true;
        }
        Err(Failure::new(
            "write a line",
            written.err().map_or(io::ErrorKind::StorageFull, |error| error.kind()),
        ))
    }

    fn write(&self, line: &[u8]) -> io::Result<usize> {
        #[cfg(test)]
        if self.full {
            return (&*self.file).write(line.get(..line.len() / 2).unwrap_or_default());
        }
        (&*self.file).write(line)
    }

    /// Whether it is time for the next file.
    pub(super) fn is_full(&self, now: Monotonic) -> bool {
        self.bytes >= self.rotate_bytes
            || self.age.saturating_add(now.since(self.opened)) >= self.rotate_after
    }

    /// Whether the file is still there, under no other hands: what was removed or cut holds no receipts.
    pub(super) fn is_sound(&self) -> bool {
        let as_left = self.file.metadata().is_ok_and(|it| it.nlink() > 0 && it.len() == self.bytes);
        as_left && !self.given_up
    }

    /// The same, by its name: somebody may have put another file or none in its place.
    pub(super) fn is_in_place(&self) -> bool {
        let here = self.file.metadata().map(|it| (it.dev(), it.ino()));
        let there = fs::metadata(place(&self.path, self.number)).map(|it| (it.dev(), it.ino()));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }

    /// Writes no more into this file.
    pub(super) fn give_up(&mut self) {
        self.given_up = true;
    }

    /// Begins the next file, after this one's last line. The old one is handed over, to be synced.
    pub(super) fn next(&mut self, last: LineHash, now: Monotonic) -> Result<(Arc<File>, After), Failure> {
        let length = self.file.metadata().map_or(self.bytes, |it| it.len());
        let torn = length.saturating_sub(self.bytes);
        // Of this file, not of the log: it may have come to nothing.
        let last = if self.bytes == 0 { LineHash::START } else { last };
        let after = After { file: self.number, last, torn: (torn > 0).then_some(torn) };
        // Somebody may have removed the folder, or put files into it.
        fs::create_dir_all(&self.path).map_err(Failure::of("make the folder"))?;
        let newest = numbers(&self.path).map_err(Failure::of("read the folder"))?.last().copied();
        let number = newest.unwrap_or(0).max(self.number).saturating_add(1);
        let file = append(&place(&self.path, number), true).map_err(Failure::of("begin a file"))?;
        let before = std::mem::replace(&mut self.file, Arc::new(file));
        (self.number, self.bytes, self.opened, self.age) = (number, 0, now, Duration::ZERO);
        self.given_up = false;
        self.remove_old();
        Ok((before, after))
    }

    /// What must be synced for everything to outlive the power.
    pub(super) fn file(&self) -> Arc<File> {
        Arc::clone(&self.file)
    }

    /// The folder itself, which knows the names.
    pub(super) fn handle(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    /// A file that cannot be removed takes room, and does no other harm.
    fn remove_old(&self) {
        let Ok(numbers) = numbers(&self.path) else { return };
        let extra = numbers.len().saturating_sub(self.keep);
        for number in numbers.into_iter().take(extra) {
            let _ = fs::remove_file(place(&self.path, number));
        }
    }
}

impl Tail {
    /// Reads no more of a file than two lines can be.
    fn read(path: &Path) -> io::Result<Tail> {
        let mut file = File::open(path)?;
        let bytes = file.metadata()?.len();
        let most = u64::try_from(MAX_LOG_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1).saturating_mul(2);
        file.seek(SeekFrom::Start(bytes.saturating_sub(most)))?;
        let mut end = Vec::new();
        file.take(most).read_to_end(&mut end)?;
        let Some(newline) = end.iter().rposition(|byte| *byte == b'\n') else {
            return Ok(Tail { last: LineHash::START, torn: bytes, bytes });
        };
        let (lines, rest) = end.split_at(newline);
        let last = lines.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        let torn = u64::try_from(rest.len().saturating_sub(1)).unwrap_or(u64::MAX);
        Ok(Tail { last: LineHash::of(last), torn, bytes })
    }
}

/// How long ago a file was begun, by its first line; `None` when that is none of ours.
fn age(path: &Path, now: UnixTime) -> io::Result<Option<Duration>> {
    let most = u64::try_from(MAX_LOG_LINE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
    let mut first = Vec::new();
    BufReader::new(File::open(path)?).take(most).read_until(b'\n', &mut first)?;
    let line = first.strip_suffix(b"\n").unwrap_or(&first);
    let begun = match ChainReader::new().link::<Entry>(line) {
        Ok(Linked::Entry(entry @ Entry::Opened(_))) => Some(entry.at()),
        _ => None,
    };
    Ok(begun.map(|begun| Duration::from_secs(now.since(begun))))
}

fn lock(folder: &Path) -> Result<File, FolderError> {
    let failed = |fault| FolderError::Io { path: folder.to_owned(), fault };
    let mut options = OpenOptions::new();
    let file =
        options.create(true).append(true).mode(disk::PRIVATE).open(folder.join("lock")).map_err(failed)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(FolderError::InUse(folder.to_owned())),
        Err(TryLockError::Error(fault)) => Err(failed(fault)),
    }
}

fn append(path: &Path, anew: bool) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(anew).mode(disk::PRIVATE).open(path)
}

/// The numbers of the files, in order.
fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = Vec::new();
    for entry in fs::read_dir(folder)? {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(SUFFIX));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

pub(super) fn name(number: u64) -> String {
    format!("{number:08}{SUFFIX}")
}

fn place(folder: &Path, number: u64) -> PathBuf {
    folder.join(name(number))
}
