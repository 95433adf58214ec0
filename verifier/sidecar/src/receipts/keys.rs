//! The two keys of receipts, made at the first start: one signs checkpoints (role `receipt`, protocol K1), the other makes
//! the digests of calls. An auditor can be given the second without the first.

use std::{
    io,
    path::{Path, PathBuf},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac, digest::KeyInit};
use pact_mandate::{
    Call, Json, SecretKey, Signer, canonical,
    jwks::{KeySet, KeySetError},
    key::KeyError,
    keyfile::{KeyFileError, read_private},
};
use pact_revocation::disk;
use pact_verifier::receipt::Hex;
use sha2::Sha256;
use zeroize::Zeroizing;

const SIGNING: &str = "receipt.key";
const DIGEST: &str = "receipt-digest.key";

/// The key that signs checkpoints.
#[derive(Debug)]
pub(super) struct ReceiptKey {
    secret: SecretKey,
    published: String,
}

/// The key under which a call becomes a digest: whoever does not have it learns nothing from the digest, not even by trying
/// all likely calls.
#[derive(Clone)]
pub struct DigestKey(Hmac<Sha256>);

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
pub enum ReceiptKeyError {
    /// The file that holds it.
    #[error(transparent)]
    File(#[from] KeyFileError),
    /// It is there and holds no key.
    #[error("{path}: {fault}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        fault: KeyError,
    },
    /// It could not be made.
    #[error("{path} cannot be written: {fault}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        fault: io::Error,
    },
    /// No random bytes.
    #[error("the system gives no random bytes: {0}")]
    Random(#[from] getrandom::Error),
    /// It cannot be published.
    #[error("the receipt key cannot be published: {0}")]
    Set(#[from] KeySetError),
}

impl ReceiptKey {
    /// The one in the folder, or a new one.
    pub(super) fn open(folder: &Path) -> Result<ReceiptKey, ReceiptKeyError> {
        let path = folder.join(SIGNING);
        let seed = read_or_make(&path)?;
        let secret = SecretKey::from_seed(&seed).map_err(|fault| ReceiptKeyError::Content { path, fault })?;
        let set = KeySet::new(vec![(secret.key_id().clone(), *secret.public_key())])?;
        Ok(ReceiptKey { secret, published: set.to_document() })
    }

    /// What signs.
    pub(super) fn signer(&self) -> &SecretKey {
        &self.secret
    }

    /// The document that publishes its public half.
    pub(super) fn published(&self) -> &str {
        &self.published
    }
}

impl DigestKey {
    /// The one in the folder, or a new one.
    pub(super) fn open(folder: &Path) -> Result<DigestKey, ReceiptKeyError> {
        let path = folder.join(DIGEST);
        Ok(DigestKey::from_bytes(&*read_or_make(&path)?))
    }

    /// The key of these bytes.
    pub fn from_bytes(bytes: &[u8; 32]) -> DigestKey {
        // RFC 2104: a key shorter than a block is filled up with zeros.
        let mut block = Zeroizing::new([0_u8; 64]);
        block.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        DigestKey(<Hmac<Sha256> as KeyInit>::new((&*block).into()))
    }

    /// HMAC-SHA-256 over [`DigestKey::canonical`].
    pub fn digest(&self, call: &Call) -> Option<Hex<32>> {
        let mut mac = self.0.clone();
        mac.update(&DigestKey::canonical(call)?);
        Some(Hex(mac.finalize().into_bytes().into()))
    }

    /// The canonical JSON `{"asked":{"arguments":…,"params":…,"tool":…},"judged":{"action":…,"arguments":…}}`. `None` for a
    /// number that has no canonical form; such a call holds by no proof.
    pub fn canonical(call: &Call) -> Option<Vec<u8>> {
        let mut text = Vec::with_capacity(1024);
        text.extend_from_slice(b"{\"asked\":{\"arguments\":");
        canonical::write(&call.asked.arguments, &mut text).ok()?;
        let params = URL_SAFE_NO_PAD.encode(call.asked.params);
        for (name, value) in [(",\"params\":", &params), (",\"tool\":", &call.asked.tool)] {
            text.extend_from_slice(name.as_bytes());
            canonical::write(&Json::String(value.clone()), &mut text).ok()?;
        }
        text.extend_from_slice(b"},\"judged\":{\"action\":");
        canonical::write(&Json::String(call.judged.action.as_str().to_owned()), &mut text).ok()?;
        text.extend_from_slice(b",\"arguments\":");
        write_judged(call, &mut text)?;
        text.extend_from_slice(b"}}");
        Some(text)
    }
}

fn write_judged(call: &Call, text: &mut Vec<u8>) -> Option<()> {
    let mut arguments: Vec<(&String, &Json)> = call.judged.arguments.iter().collect();
    arguments.sort_by(|(a, _), (b, _)| a.encode_utf16().cmp(b.encode_utf16()));
    text.push(b'{');
    for (at, (name, value)) in arguments.into_iter().enumerate() {
        if at > 0 {
            text.push(b',');
        }
        canonical::write(&Json::String(name.clone()), text).ok()?;
        text.push(b':');
        canonical::write(value, text).ok()?;
    }
    text.push(b'}');
    Some(())
}

/// 32 bytes in base64url in a file of mode 0600. One that is made appears whole or not at all.
fn read_or_make(path: &Path) -> Result<Zeroizing<[u8; 32]>, ReceiptKeyError> {
    let mut bytes = Zeroizing::new([0; 32]);
    if path.try_exists().is_ok_and(|there| !there) {
        getrandom::fill(bytes.as_mut_slice())?;
        let text = Zeroizing::new(format!("{}\n", URL_SAFE_NO_PAD.encode(bytes.as_slice())));
        let written = disk::replace(path, text.as_bytes(), disk::PRIVATE);
        written.map_err(|fault| ReceiptKeyError::Write { path: path.to_owned(), fault })?;
        return Ok(bytes);
    }
    let text = read_private(path, 1024)?;
    let content = || ReceiptKeyError::Content { path: path.to_owned(), fault: KeyError::NotAKey };
    let decoded = Zeroizing::new(URL_SAFE_NO_PAD.decode(text.trim_end()).map_err(|_| content())?);
    if decoded.len() != bytes.len() {
        return Err(content());
    }
    bytes.copy_from_slice(&decoded);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, fs, os::unix::fs::PermissionsExt};

    use pact_mandate::{Asked, Judged};
    use serde_json::json;

    use super::*;

    #[test]
    fn k1_the_receipt_key_is_made_once_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let first = ReceiptKey::open(folder.path()).unwrap();
        let again = ReceiptKey::open(folder.path()).unwrap();
        assert_eq!(first.published(), again.published());
        let path = folder.path().join(SIGNING);
        let seed = fs::read_to_string(&path).unwrap();
        assert!(!first.published().contains(seed.trim()) && !format!("{first:?}").contains(seed.trim()));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(matches!(ReceiptKey::open(folder.path()), Err(ReceiptKeyError::File(_))));
        fs::remove_file(&path).unwrap();
        assert_ne!(ReceiptKey::open(folder.path()).unwrap().published(), first.published());
    }

    #[test]
    fn a_key_file_that_holds_no_key_is_refused_and_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "AAAA\n", "not base64 at all"] {
            let path = folder.path().join(DIGEST);
            disk::replace(&path, text.as_bytes(), disk::PRIVATE).unwrap();
            assert!(
                matches!(DigestKey::open(folder.path()), Err(ReceiptKeyError::Content { .. })),
                "{text:?}"
            );
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn m7_the_digest_is_an_hmac_over_the_canonical_call() {
        let folder = tempfile::tempdir().unwrap();
        let key = DigestKey::open(folder.path()).unwrap();
        let call = Call {
            asked: Asked {
                tool: "read \"it\"".to_owned(),
                arguments: Json::parse(br#"{"z": 1.0, "a": ["x"]}"#).unwrap(),
                params: [7; 32],
            },
            judged: Judged {
                action: "task.read".parse().unwrap(),
                arguments: BTreeMap::from([
                    ("\u{10000}".to_owned(), Json::Null),
                    ("\u{ffff}".to_owned(), Json::Bool(true)),
                ]),
            },
        };
        let whole = json!({
            "asked": {"arguments": {"a": ["x"], "z": 1}, "params": URL_SAFE_NO_PAD.encode([7; 32]), "tool": "read \"it\""},
            "judged": {"action": "task.read", "arguments": {"\u{10000}": null, "\u{ffff}": true}},
        });
        let mut mac = key.0.clone();
        mac.update(&canonical::to_bytes(&whole).unwrap());
        assert_eq!(key.digest(&call), Some(Hex(mac.finalize().into_bytes().into())));
        let other = tempfile::tempdir().unwrap();
        assert_ne!(DigestKey::open(other.path()).unwrap().digest(&call), key.digest(&call));
    }
}
