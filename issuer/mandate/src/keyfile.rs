//! The secret half of a key, and the file that keeps it (feature `keyfile`).

use std::{
    fmt,
    fs::{File, OpenOptions},
    io::{Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ed25519_dalek::{Signer as _, SigningKey};
use zeroize::Zeroizing;

use crate::key::{KeyError, KeyId, PublicKey, Signature, Signer, SignerUnavailable};

/// An Ed25519 key that signs. It is wiped when dropped and shows nothing of itself.
pub struct SecretKey {
    id: KeyId,
    public: PublicKey,
    signing: SigningKey,
}

/// Why a secret file is not read or written.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// Others may read it.
    #[error("{path} may be read by others (mode {mode:o}); run: chmod 600 {path}")]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// It belongs to somebody else.
    #[error("{path} belongs to another user (uid {uid}); only its owner's processes may use a key")]
    OtherOwner {
        /// The file.
        path: PathBuf,
        /// Who owns it.
        uid: u32,
    },
    /// Longer than any such file.
    #[error("{path} is longer than {limit} bytes")]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound.
        limit: u64,
    },
    /// The operating system refused.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What it said.
        source: std::io::Error,
    },
    /// The content is not a key.
    #[error("{path}: {fault}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: KeyError,
    },
}

impl SecretKey {
    /// The key of a 32-byte seed, named by its thumbprint.
    pub fn from_seed(seed: &[u8; 32]) -> Result<SecretKey, KeyError> {
        let signing = SigningKey::from_bytes(seed);
        let public = PublicKey::from_bytes(signing.verifying_key().as_bytes())?;
        Ok(SecretKey { id: public.thumbprint().into(), public, signing })
    }

    /// The same key under a name of the operator's choice.
    #[must_use]
    pub fn named(self, id: KeyId) -> SecretKey {
        SecretKey { id, ..self }
    }

    /// The key of a seed written in base64url without padding.
    pub fn from_text(text: &str) -> Result<SecretKey, KeyError> {
        let bytes = Zeroizing::new(URL_SAFE_NO_PAD.decode(text).map_err(|_| KeyError::NotAKey)?);
        let mut seed = Zeroizing::new([0; 32]);
        if bytes.len() != seed.len() {
            return Err(KeyError::NotAKey);
        }
        seed.copy_from_slice(&bytes);
        SecretKey::from_seed(&seed)
    }

    /// The seed, for a file of one's own or a format's crate that signs in process.
    pub fn seed(&self) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.signing.to_bytes())
    }

    /// Reads a key from a file of mode 0600 that holds its seed in base64url.
    pub fn read_file(path: &Path) -> Result<SecretKey, KeyFileError> {
        let content = read_private(path, 1024)?;
        SecretKey::from_text(content.trim_end())
            .map_err(|fault| KeyFileError::Content { path: path.to_owned(), fault })
    }

    /// Writes the seed to a new file of mode 0600; an existing file is left as it is and refused.
    pub fn write_file(&self, path: &Path) -> Result<(), KeyFileError> {
        let text = Zeroizing::new(format!("{}\n", URL_SAFE_NO_PAD.encode(*self.seed())));
        write_private(path, text.as_bytes())
    }
}

impl Signer for SecretKey {
    fn key_id(&self) -> &KeyId {
        &self.id
    }

    fn public_key(&self) -> &PublicKey {
        &self.public
    }

    fn sign(&self, message: &[u8]) -> Result<Signature, SignerUnavailable> {
        Ok(Signature::from_bytes(self.signing.sign(message).to_bytes()))
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({})", self.id)
    }
}

/// Reads a secret text file that only its owner, the owner of this process, may read.
pub fn read_private(path: &Path, limit: u64) -> Result<Zeroizing<String>, KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    let file = File::open(path).map_err(io)?;
    // The open file is asked, not the path: nobody can swap one for the other in between.
    let metadata = file.metadata().map_err(io)?;
    let mode = metadata.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(KeyFileError::ReadableByOthers { path: path.to_owned(), mode });
    }
    if metadata.uid() != own_uid().map_err(io)? {
        return Err(KeyFileError::OtherOwner { path: path.to_owned(), uid: metadata.uid() });
    }
    let mut text =
        Zeroizing::new(String::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0)));
    let read = file.take(limit + 1).read_to_string(&mut text).map_err(io)?;
    if u64::try_from(read).unwrap_or(u64::MAX) > limit {
        return Err(KeyFileError::TooLarge { path: path.to_owned(), limit });
    }
    Ok(text)
}

/// Writes a new file of mode 0600 and waits until it, and its name in its folder, are on the disk.
pub fn write_private(path: &Path, content: &[u8]) -> Result<(), KeyFileError> {
    let io = |source| KeyFileError::Io { path: path.to_owned(), source };
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path).map_err(io)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.and_then(|()| File::open(folder_of(path))?.sync_all()).map_err(io)
}

/// A name alone lies in the folder that the process works in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// The owner of a file that this process makes is this process's user.
fn own_uid() -> std::io::Result<u32> {
    std::fs::metadata("/proc/self").map(|metadata| metadata.uid())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_key_comes_back_from_its_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        let key = SecretKey::from_seed(&[7; 32]).unwrap();
        key.write_file(&path).unwrap();
        assert_eq!(SecretKey::read_file(&path).unwrap().public_key(), key.public_key());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(
            matches!(key.write_file(&path), Err(KeyFileError::Io { .. })),
            "an existing key was overwritten"
        );
    }

    #[test]
    fn a_file_that_others_may_read_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("key");
        SecretKey::from_seed(&[7; 32]).unwrap().write_file(&path).unwrap();
        for mode in [0o640, 0o604, 0o620, 0o601] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert!(matches!(SecretKey::read_file(&path), Err(KeyFileError::ReadableByOthers { .. })));
        }
    }

    #[test]
    fn the_folder_of_a_name_alone_is_the_one_that_the_process_works_in() {
        for (path, folder) in [("key", "."), ("./key", "."), ("keys/key", "keys"), ("/key", "/")] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder), "{path}");
        }
    }

    #[test]
    fn nothing_of_the_secret_is_shown() {
        let key = SecretKey::from_seed(&[7; 32]).unwrap();
        let seed = URL_SAFE_NO_PAD.encode([7; 32]);
        assert!(!format!("{key:?}").contains(&seed[..8]));
        let error = SecretKey::from_text(&seed[..20]).unwrap_err();
        assert!(!format!("{error} {error:?}").contains(&seed[..8]));
    }
}
