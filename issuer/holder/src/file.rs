//! Text files and standard input, read with a bound.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
};

use crate::error::FileError;

/// Reads a text file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: usize) -> Result<String, FileError> {
    let source = File::open(path).map_err(|source| FileError::Io { path: path.to_owned(), source })?;
    read_from(source, path, limit)
}

/// Reads standard input to its end, at most `limit` bytes.
pub fn read_stdin(limit: usize) -> Result<String, FileError> {
    read_from(io::stdin(), Path::new("-"), limit)
}

fn read_from(source: impl Read, path: &Path, limit: usize) -> Result<String, FileError> {
    let mut text = String::new();
    // One byte more than allowed shows that there is more.
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = source.take(most).read_to_string(&mut text);
    let read = read.map_err(|source| FileError::Io { path: path.to_owned(), source })?;
    if read <= limit { Ok(text) } else { Err(FileError::TooLarge { path: path.to_owned(), limit }) }
}
