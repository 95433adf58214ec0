//! The board's way of naming keys: `PACT_BOARD_KEYS` and the key derived from `PACT_SIGNING_KEY` (board rule 2.3).

use pact_mandate::{KeyId, SecretKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Characters of `PACT_SIGNING_KEY`, at the least.
const MIN_SIGNING_KEY_CHARS: usize = 32;
const DERIVED_KEY_ID: &str = "derived-1";
const DERIVATION: &[u8] = b"pact-board-ed25519/";

/// Why the board's keys cannot be read. Which entry, and never a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoardKeysError {
    /// Nothing in it.
    #[error(
        "PACT_BOARD_KEYS holds no key; write kid=<base64url of a 32-byte seed>, newest first, separated by commas"
    )]
    Empty,
    /// Not `kid=seed`.
    #[error("entry {0} of PACT_BOARD_KEYS is not kid=<base64url of a 32-byte seed>")]
    NotAnEntry(usize),
    /// Not a key id.
    #[error(
        "entry {0} of PACT_BOARD_KEYS: the kid is 1 to 128 printable ASCII characters without ':' or spaces"
    )]
    NotAKeyId(usize),
    /// Not a seed.
    #[error("entry {0} of PACT_BOARD_KEYS: the seed is not 32 bytes in base64url")]
    NotASeed(usize),
    /// A name twice.
    #[error("entry {0} of PACT_BOARD_KEYS repeats an earlier kid")]
    RepeatedKeyId(usize),
    /// Too short to derive from.
    #[error("PACT_SIGNING_KEY must be at least {MIN_SIGNING_KEY_CHARS} characters long")]
    SigningKeyTooShort,
}

/// Reads `PACT_BOARD_KEYS`: `kid=<base64url of a 32-byte seed>`, separated by commas, newest first. The first signs, all
/// verify. Entries count from 1 in errors.
pub fn parse_board_keys(text: &str) -> Result<Vec<SecretKey>, BoardKeysError> {
    if text.trim().is_empty() {
        return Err(BoardKeysError::Empty);
    }
    let mut keys: Vec<SecretKey> = Vec::new();
    for (at, entry) in (1..).zip(text.split(',')) {
        let (kid, seed) = entry.trim().split_once('=').ok_or(BoardKeysError::NotAnEntry(at))?;
        let kid: KeyId = kid.parse().map_err(|_| BoardKeysError::NotAKeyId(at))?;
        if keys.iter().any(|key| *pact_mandate::Signer::key_id(key) == kid) {
            return Err(BoardKeysError::RepeatedKeyId(at));
        }
        // Its writers pad or do not pad.
        let seed = seed.strip_suffix('=').unwrap_or(seed);
        keys.push(SecretKey::from_text(seed).map_err(|_| BoardKeysError::NotASeed(at))?.named(kid));
    }
    Ok(keys)
}

/// The board's key when it has no `PACT_BOARD_KEYS`: `derived-1`, from `PACT_SIGNING_KEY`.
pub fn derived_key(signing_key: &str) -> Result<SecretKey, BoardKeysError> {
    if signing_key.chars().count() < MIN_SIGNING_KEY_CHARS {
        return Err(BoardKeysError::SigningKeyTooShort);
    }
    let digest = Sha256::new().chain_update(DERIVATION).chain_update(signing_key).finalize();
    let seed: Zeroizing<[u8; 32]> = Zeroizing::new(digest.into());
    let key = SecretKey::from_seed(&seed).map_err(|_| BoardKeysError::NotASeed(1))?;
    let kid = DERIVED_KEY_ID.parse().map_err(|_| BoardKeysError::NotAKeyId(1))?;
    Ok(key.named(kid))
}
