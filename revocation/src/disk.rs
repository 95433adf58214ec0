//! Files that others depend on: replaced whole or not at all, and read up to a bound.
//!
//! Nothing here knows what a file means. The errors are the system's; who calls says which file it was.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

/// The mode of files that are nobody else's.
pub const PRIVATE: u32 = 0o600;
/// The mode of files that everybody may read.
pub const PUBLIC: u32 = 0o644;

/// Puts a whole file in its place: written beside it, synced, renamed, its folder synced. Whenever the power fails, readers
/// see the old file or the new one. Two writers of one file need a lock between them.
pub fn replace(path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
    let folder = folder_of(path)?;
    let beside = beside(path)?;
    // Left by a crash, maybe with another mode.
    match fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
    file.write_all(content)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    sync_folder(folder)
}

/// Makes what was created, renamed or removed in a folder outlive the power.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// The content of a file of at most so many bytes; a longer one is [`io::ErrorKind::FileTooLarge`].
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_from(File::open(path)?, most)
}

/// All that comes, at most so many bytes; more is [`io::ErrorKind::FileTooLarge`].
pub fn read_from(source: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length <= most) {
        Ok(bytes)
    } else {
        Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("longer than {most} bytes")))
    }
}

/// The folder that a file is in; of a bare name it is the present one.
fn folder_of(path: &Path) -> io::Result<&Path> {
    let folder = path.parent().ok_or_else(|| no_file(path))?;
    Ok(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Where a file is written before it is renamed: a name that no pattern for the file itself matches.
fn beside(path: &Path) -> io::Result<PathBuf> {
    let mut name = OsString::from(".");
    name.push(path.file_name().ok_or_else(|| no_file(path))?);
    name.push(".new");
    Ok(path.with_file_name(name))
}

fn no_file(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, format!("{} names no file", path.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_is_replaced_whole_under_its_mode_and_nothing_stays_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"old and long", PRIVATE).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"old and long".to_vec(), PRIVATE));
        // What a crash left is neither the file nor in the way, whatever its mode.
        fs::write(beside(&path).unwrap(), "half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old and long");
        replace(&path, b"new", PRIVATE).unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"new".to_vec(), PRIVATE));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_file_that_cannot_be_replaced_stays_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        replace(&path, b"old", PRIVATE).unwrap();
        fs::create_dir(beside(&path).unwrap()).unwrap();
        assert!(replace(&path, b"new", PRIVATE).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(replace(Path::new("/"), b"", PRIVATE).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }

    #[test]
    fn c1_what_is_longer_than_the_bound_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "1234").unwrap();
        assert_eq!(read(&path, 4).unwrap(), b"1234");
        assert_eq!(read(&path, 3).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read_from(io::repeat(0), 1 << 20).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(read(&folder.path().join("none"), 4).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
