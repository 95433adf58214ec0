//! What a local client must know. It is shown once, where it was made, and nowhere else.

use std::{fmt, net::SocketAddr, path::Path};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use pact_mandate::keyfile::{read_private, write_private};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::place::ListenError;
use crate::limits::{MAX_SECRET_CHARS, MIN_SECRET_CHARS, SECRET_BYTES};

/// A text that nobody guesses. It is wiped when dropped.
pub(super) struct Secret(Zeroizing<String>);

impl Secret {
    /// A new one; or that of the file, which is made with a new one where it is not there yet. Says whether it is new.
    pub(super) fn take(file: Option<&Path>) -> Result<(Secret, bool), ListenError> {
        let Some(file) = file else { return Ok((Secret::random()?, true)) };
        if file.exists() {
            let limit = u64::try_from(MAX_SECRET_CHARS.saturating_add(2)).unwrap_or(u64::MAX);
            return Ok((Secret::parse(&read_private(file, limit)?)?, false));
        }
        let secret = Secret::random()?;
        write_private(file, Zeroizing::new(format!("{}\n", *secret.0)).as_bytes())?;
        Ok((secret, true))
    }

    fn random() -> Result<Secret, ListenError> {
        let mut bytes = Zeroizing::new([0; SECRET_BYTES]);
        getrandom::fill(&mut *bytes)?;
        Ok(Secret(Zeroizing::new(URL_SAFE_NO_PAD.encode(*bytes))))
    }

    /// One of an operator's own: as long as 128 random bits at the least, and nothing that an address would have to escape.
    fn parse(text: &str) -> Result<Secret, ListenError> {
        let text = text.trim_end();
        let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if plain && (MIN_SECRET_CHARS..=MAX_SECRET_CHARS).contains(&text.len()) {
            Ok(Secret(Zeroizing::new(text.to_owned())))
        } else {
            Err(ListenError::NotASecret)
        }
    }

    /// In a time that says nothing of where two texts differ.
    pub(super) fn is(&self, said: &str) -> bool {
        self.0.as_bytes().ct_eq(said.as_bytes()).into()
    }

    /// The address for a client's configuration.
    pub(super) fn url(&self, address: SocketAddr) -> Zeroizing<String> {
        Zeroizing::new(format!("http://{address}/{}/mcp", *self.0))
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn a_secret_is_made_once_and_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("secret");
        let (made, is_new) = Secret::take(Some(&file)).unwrap();
        assert!(is_new && made.0.len() == 43);
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let (read, is_new) = Secret::take(Some(&file)).unwrap();
        assert!(!is_new && read.is(&made.0) && !read.is(&made.0[1..]) && !read.is(""));
        assert_ne!(*Secret::take(None).unwrap().0.0, *made.0);
        assert_eq!(format!("{made:?}"), "Secret");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(Secret::take(Some(&file)), Err(ListenError::File(_))));
    }

    #[test]
    fn a_secret_of_ones_own_is_long_and_plain() {
        assert!(Secret::parse("0123456789abcdefABCDE_-\n").is_ok());
        for bad in ["", "0123456789abcdefABCDE", "0123456789abcdef/ABCDEF", "0123456789abcdef ABCDEF"] {
            assert!(matches!(Secret::parse(bad), Err(ListenError::NotASecret)), "{bad}");
        }
    }
}
