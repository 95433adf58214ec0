//! Signed statements: canonical bytes, a `typ` inside them, and a signature `ed25519:<kid>:<base64url>` beside them (protocol K7).

use std::{collections::BTreeMap, fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::{
    canonical::{self, CanonicalError},
    key::{BadSignature, KeyError, KeyId, PublicKey, Signature, Signer, SignerUnavailable},
    limits::MAX_STATEMENT_BYTES,
};

/// A kind of statement that is signed. Its struct denies unknown members and has the two members of [`Extensions`].
pub trait Statement: Serialize + DeserializeOwned {
    /// What `typ` must say: a name and `/n`, so that one kind never passes for another.
    const TYP: &'static str;
    /// The largest accepted form, in bytes.
    const MAX_BYTES: usize = MAX_STATEMENT_BYTES;

    /// The `typ` that this statement carries.
    fn typ(&self) -> &str;
    /// The names in `crit`: members of `ext` that the reader must understand.
    fn crit(&self) -> &[String];
}

/// Members that a reader ignores, unless `crit` names them: then a reader that does not know them refuses.
pub type Extensions = BTreeMap<String, serde_json::Value>;

/// Keys by their id, for one role.
pub trait KeyRing {
    /// The key of that id; `None` refuses.
    fn key(&self, id: &KeyId) -> Option<&PublicKey>;
}

impl KeyRing for BTreeMap<KeyId, PublicKey> {
    fn key(&self, id: &KeyId) -> Option<&PublicKey> {
        self.get(id)
    }
}

/// The text `ed25519:<kid>:<base64url>`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct SignatureText {
    key: KeyId,
    signature: Signature,
}

/// A statement and a signature as they came: the signature was not checked, so nothing of the content can be read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Signed<T> {
    payload: String,
    signature: SignatureText,
    #[serde(skip)]
    kind: PhantomData<fn() -> T>,
}

/// A statement whose signature, by a key of the right role, was checked. Made by [`Signed::open`] and [`Prepared`] alone.
#[derive(Clone, PartialEq, Eq)]
pub struct Authentic<T> {
    statement: T,
    signed: Signed<T>,
    key: PublicKey,
}

/// The exact bytes of a statement that is about to be signed; used up by the signing.
pub struct Prepared<T> {
    statement: T,
    payload: String,
}

/// Why a signed statement is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SignedError {
    /// Longer than its kind may be.
    #[error("the statement is {bytes} bytes long, at most {limit} are accepted")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// Not `{"payload":…,"signature":…}`.
    #[error("not a signed statement: {0}")]
    Envelope(CanonicalError),
    /// Signed by a key that is not one of this issuer's in this role.
    #[error("no key {0} is known in this role")]
    UnknownKey(KeyId),
    /// The signature does not hold.
    #[error(transparent)]
    BadSignature(#[from] BadSignature),
    /// Content outside its structure or not in canonical form.
    #[error("the signed content is refused: {0}")]
    Content(CanonicalError),
    /// A statement of another kind.
    #[error("the statement is of another kind than {wanted}")]
    WrongType {
        /// The kind that was expected.
        wanted: &'static str,
    },
    /// `crit` names an extension that this reader does not know.
    #[error("the statement depends on an extension that is not known here")]
    UnknownCritical,
    /// The keeper of the key gave no signature.
    #[error(transparent)]
    Signer(#[from] SignerUnavailable),
}

impl SignatureText {
    /// The text of a signature by the key of that id.
    pub fn new(key: KeyId, signature: Signature) -> SignatureText {
        SignatureText { key, signature }
    }

    /// Whether this is a signature over `message` by the key of its id in `keys`; the key that verified it.
    pub fn verify(&self, message: &[u8], keys: &impl KeyRing) -> Result<PublicKey, SignedError> {
        let key = *keys.key(&self.key).ok_or_else(|| SignedError::UnknownKey(self.key.clone()))?;
        key.verify(message, &self.signature)?;
        Ok(key)
    }

    /// The id of the key that is said to have signed.
    pub fn unverified_key_id(&self) -> &KeyId {
        &self.key
    }
}

impl FromStr for SignatureText {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<SignatureText, KeyError> {
        let rest = text.strip_prefix("ed25519:").ok_or(KeyError::NotASignature)?;
        let (key, signature) = rest.split_once(':').ok_or(KeyError::NotASignature)?;
        Ok(SignatureText { key: key.parse()?, signature: signature.parse()? })
    }
}

impl TryFrom<String> for SignatureText {
    type Error = KeyError;

    fn try_from(text: String) -> Result<SignatureText, KeyError> {
        text.parse()
    }
}

impl From<SignatureText> for String {
    fn from(text: SignatureText) -> String {
        format!("ed25519:{}:{}", text.key, text.signature)
    }
}

impl fmt::Debug for SignatureText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignatureText(ed25519:{}:…)", self.key)
    }
}

impl<T: Statement> Signed<T> {
    /// Reads the envelope: the canonical JSON `{"payload":TEXT,"signature":TEXT}`.
    pub fn from_bytes(bytes: &[u8]) -> Result<Signed<T>, SignedError> {
        // Escaping can make every byte of the payload into six, the signature is shorter than a kibibyte.
        let limit = T::MAX_BYTES.saturating_mul(6).saturating_add(1024);
        if bytes.len() > limit {
            return Err(SignedError::TooLarge { bytes: bytes.len(), limit });
        }
        canonical::from_bytes(bytes).map_err(SignedError::Envelope)
    }

    /// The envelope's bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SignedError> {
        canonical::to_bytes(self).map_err(SignedError::Envelope)
    }

    /// The id of the key that is said to have signed.
    pub fn unverified_key_id(&self) -> &KeyId {
        &self.signature.key
    }

    /// Checks the signature first, then reads what it covers.
    pub fn open(self, keys: &impl KeyRing) -> Result<Authentic<T>, SignedError> {
        if self.payload.len() > T::MAX_BYTES {
            return Err(SignedError::TooLarge { bytes: self.payload.len(), limit: T::MAX_BYTES });
        }
        let key = self.signature.verify(self.payload.as_bytes(), keys)?;
        let statement = read(&self.payload)?;
        Ok(Authentic { statement, signed: self, key })
    }
}

/// Reads signed bytes: canonical, of the wanted kind, without floats or integers that some readers would change.
fn read<T: Statement>(payload: &str) -> Result<T, SignedError> {
    let statement: T = canonical::from_bytes(payload.as_bytes()).map_err(SignedError::Content)?;
    canonical::check_numbers(payload).map_err(SignedError::Content)?;
    check_kind(&statement)?;
    Ok(statement)
}

fn check_kind<T: Statement>(statement: &T) -> Result<(), SignedError> {
    if statement.typ() != T::TYP {
        return Err(SignedError::WrongType { wanted: T::TYP });
    }
    // No extension is known yet, so any critical one is unknown.
    if statement.crit().is_empty() { Ok(()) } else { Err(SignedError::UnknownCritical) }
}

impl<T> fmt::Debug for Signed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signed({} bytes, {:?})", self.payload.len(), self.signature)
    }
}

impl<T> Authentic<T> {
    /// What was signed.
    pub fn statement(&self) -> &T {
        &self.statement
    }

    /// The form in which it travels.
    pub fn signed(&self) -> &Signed<T> {
        &self.signed
    }

    /// The signed bytes.
    pub fn payload(&self) -> &[u8] {
        self.signed.payload.as_bytes()
    }

    /// The key that really verified it.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The id under which that key was found.
    pub fn key_id(&self) -> &KeyId {
        &self.signed.signature.key
    }
}

impl<T: fmt::Debug> fmt::Debug for Authentic<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Authentic").field(&self.statement).finish()
    }
}

impl<T: Statement> Prepared<T> {
    /// Fixes the bytes. What could not be read back is refused here, before any key is used.
    #[expect(clippy::needless_pass_by_value, reason = "what is prepared cannot be changed any more")]
    pub fn new(statement: T) -> Result<Prepared<T>, SignedError> {
        let bytes = canonical::to_bytes(&statement).map_err(SignedError::Content)?;
        if bytes.len() > T::MAX_BYTES {
            return Err(SignedError::TooLarge { bytes: bytes.len(), limit: T::MAX_BYTES });
        }
        let payload =
            String::from_utf8(bytes).map_err(|_| SignedError::Content(CanonicalError::NotCanonical))?;
        let statement = read(&payload)?;
        Ok(Prepared { statement, payload })
    }

    /// The bytes to be signed.
    pub fn bytes(&self) -> &[u8] {
        self.payload.as_bytes()
    }

    /// Accepts a signature that was made elsewhere, after checking it.
    pub fn issue(
        self,
        id: KeyId,
        key: &PublicKey,
        signature: Signature,
    ) -> Result<Authentic<T>, SignedError> {
        key.verify(self.payload.as_bytes(), &signature)?;
        let signature = SignatureText { key: id, signature };
        let signed = Signed { payload: self.payload, signature, kind: PhantomData };
        Ok(Authentic { statement: self.statement, signed, key: *key })
    }

    /// Signs with `signer` and checks what it gave.
    pub fn sign(self, signer: &dyn Signer) -> Result<Authentic<T>, SignedError> {
        let signature = signer.sign(self.bytes())?;
        self.issue(signer.key_id().clone(), signer.public_key(), signature)
    }
}

#[cfg(test)]
mod tests;
