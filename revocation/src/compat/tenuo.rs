//! Tenuo's signed revocation list, read strictly and written so that Tenuo's own verifiers accept it.
//!
//! ```text
//! {"payload": {"revoked_ids": [text…], "version": uint, "issued_at": text, "issuer": [1, bytes 32]},
//!  "signature": [1, bytes 64]}
//! ```
//! CBOR, members in this order. The signature is over `tenuo-warrant-v1`, `tenuo-srl-v1` and the payload's bytes. Tenuo's
//! verifiers write the payload anew before they check it, so its time must be spelled as they spell it: UTC with `Z` and 0, 3,
//! 6 or 9 digits of a second, the fewest that are exact.

use pact_mandate::{
    PublicKey, Signature, Signer, UnixTime,
    cbor::{CborError, Reader, Writer},
    hex,
    jwks::KeySet,
    key::{KeyError, SignerUnavailable},
};

use super::CompatibleList;
use crate::{
    entry::Entry,
    limits::{MAX_COMPATIBLE_BYTES, MAX_COMPATIBLE_ENTRIES},
    list::ListVersion,
};

const PREFIX: &[u8] = b"tenuo-warrant-v1tenuo-srl-v1";
const ID_PREFIX: &str = "tnu_wrt_";
/// Tenuo's number for Ed25519.
const ED25519: u64 = 1;

/// Why a Tenuo list is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TenuoListError {
    /// Longer than the bound.
    #[error("longer than {MAX_COMPATIBLE_BYTES} bytes")]
    TooLarge,
    /// More ids than the bound.
    #[error("more than {MAX_COMPATIBLE_ENTRIES} ids")]
    TooMany,
    /// Not the CBOR of such a list.
    #[error("{0}")]
    Cbor(#[from] CborError),
    /// A member is missing, unknown or out of order.
    #[error("expected the member {wanted}")]
    Member {
        /// Which one.
        wanted: &'static str,
    },
    /// A key or signature of another algorithm.
    #[error("a key or signature is not Ed25519")]
    Algorithm,
    /// The issuer is no key.
    #[error("the issuer: {0}")]
    Issuer(#[from] KeyError),
    /// The issuer is not pinned in this role.
    #[error("signed by a key that is not pinned for this issuer")]
    UnknownKey,
    /// The signature does not hold.
    #[error("the signature does not hold")]
    BadSignature,
    /// A time in another spelling than Tenuo's.
    #[error("issued_at is not in the one spelling that Tenuo's verifiers write")]
    Time,
    /// An id in a spelling that would revoke nothing.
    #[error("revoked id {at} is not tnu_wrt_ and 32 lower-case hex digits, so it would revoke nothing")]
    Id {
        /// Which one, from 0.
        at: usize,
    },
    /// A number past 2^53 − 1.
    #[error("the version is out of range")]
    Version,
}

/// What a Tenuo list says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TenuoList {
    /// Its number.
    pub version: ListVersion,
    /// When it is signed.
    pub issued_at: UnixTime,
    /// The warrants that it revokes, in the order in which they are listed.
    pub warrants: Vec<[u8; 16]>,
}

impl TenuoList {
    /// The signed list, as Tenuo's verifiers load it.
    pub fn sign(&self, signer: &dyn Signer) -> Result<Vec<u8>, SignerUnavailable> {
        let payload = self.payload(signer.public_key());
        let signature = signer.sign(&[PREFIX, &payload].concat())?;
        let mut list = Writer::new();
        list.map(2);
        list.text("payload");
        let mut list = Writer::after([list.into_bytes(), payload].concat());
        list.text("signature");
        list.array(2);
        list.unsigned(ED25519);
        list.bytes(signature.as_bytes());
        Ok(list.into_bytes())
    }

    fn payload(&self, issuer: &PublicKey) -> Vec<u8> {
        let mut payload = Writer::new();
        payload.map(4);
        payload.text("revoked_ids");
        payload.array(self.warrants.len());
        self.warrants.iter().for_each(|id| payload.text(&format!("{ID_PREFIX}{}", hex::encode(id))));
        payload.text("version");
        payload.unsigned(self.version.get());
        payload.text("issued_at");
        payload.text(&self.issued_at.rfc3339());
        payload.text("issuer");
        payload.array(2);
        payload.unsigned(ED25519);
        payload.bytes(issuer.as_bytes());
        payload.into_bytes()
    }
}

/// Reads a list that one of `keys` signed.
pub fn open(bytes: &[u8], keys: &KeySet) -> Result<CompatibleList, TenuoListError> {
    if u64::try_from(bytes.len()).is_ok_and(|length| length > MAX_COMPATIBLE_BYTES) {
        return Err(TenuoListError::TooLarge);
    }
    let mut reader = Reader::new(bytes);
    let (payload, unverified, signature) = reader.map(|reader, members| {
        member_count(members, 2)?;
        name(reader, "payload")?;
        let start = reader.position();
        let unverified = UnverifiedPayload::read(reader)?;
        let payload = reader.since(start);
        name(reader, "signature")?;
        Ok::<_, TenuoListError>((payload, unverified, Signature::from_bytes(*ed25519::<64>(reader)?)))
    })?;
    reader.finish()?;
    let key = PublicKey::from_bytes(&unverified.issuer)?;
    if !keys.contains(&key) {
        return Err(TenuoListError::UnknownKey);
    }
    key.verify(&[PREFIX, payload].concat(), &signature).map_err(|_| TenuoListError::BadSignature)?;
    Ok(CompatibleList {
        key: key.thumbprint(),
        version: ListVersion::try_from(unverified.version).map_err(|_| TenuoListError::Version)?,
        issued_at: time(unverified.issued_at)?,
        entries: entries(&unverified.ids)?,
    })
}

/// The payload's members before its signature was checked.
struct UnverifiedPayload<'a> {
    ids: Vec<&'a str>,
    version: u64,
    issued_at: &'a str,
    issuer: [u8; 32],
}

impl<'a> UnverifiedPayload<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<UnverifiedPayload<'a>, TenuoListError> {
        reader.map(|reader, members| {
            member_count(members, 4)?;
            name(reader, "revoked_ids")?;
            let ids = reader.array(|reader, count| {
                if count > MAX_COMPATIBLE_ENTRIES {
                    return Err(TenuoListError::TooMany);
                }
                (0..count).map(|_| Ok(reader.text()?)).collect()
            })?;
            name(reader, "version")?;
            let version = reader.unsigned()?;
            name(reader, "issued_at")?;
            let issued_at = reader.text()?;
            name(reader, "issuer")?;
            let issuer = *ed25519::<32>(reader)?;
            Ok(UnverifiedPayload { ids, version, issued_at, issuer })
        })
    }
}

fn member_count(found: usize, wanted: usize) -> Result<(), TenuoListError> {
    if found == wanted {
        Ok(())
    } else {
        Err(TenuoListError::Member { wanted: "count of the published structure" })
    }
}

fn name(reader: &mut Reader<'_>, wanted: &'static str) -> Result<(), TenuoListError> {
    if reader.text()? == wanted { Ok(()) } else { Err(TenuoListError::Member { wanted }) }
}

/// `[1, bytes]`.
fn ed25519<'a, const N: usize>(reader: &mut Reader<'a>) -> Result<&'a [u8; N], TenuoListError> {
    reader.tuple(2, |reader| {
        if reader.unsigned()? != ED25519 {
            return Err(TenuoListError::Algorithm);
        }
        Ok(reader.byte_array::<N>()?)
    })
}

/// The whole seconds of a time in Tenuo's spelling.
fn time(text: &str) -> Result<UnixTime, TenuoListError> {
    let time = UnixTime::from_rfc3339(text).ok_or(TenuoListError::Time)?;
    let whole = time.rfc3339();
    let fraction = whole
        .strip_suffix('Z')
        .and_then(|seconds| text.strip_prefix(seconds))
        .and_then(|rest| rest.strip_suffix('Z'))
        .ok_or(TenuoListError::Time)?;
    if is_shortest_fraction(fraction) { Ok(time) } else { Err(TenuoListError::Time) }
}

/// Nothing, or a point and 3, 6 or 9 digits of which the last three are not all zero.
fn is_shortest_fraction(fraction: &str) -> bool {
    match fraction.strip_prefix('.') {
        None => fraction.is_empty(),
        Some(digits) => {
            let all_digits = digits.bytes().all(|digit| digit.is_ascii_digit());
            matches!(digits.len(), 3 | 6 | 9) && all_digits && !digits.ends_with("000")
        }
    }
}

fn entries(ids: &[&str]) -> Result<Vec<Entry>, TenuoListError> {
    let entry = |(at, id): (usize, &&str)| {
        let digits = id.strip_prefix(ID_PREFIX).and_then(hex::decode);
        let id: [u8; 16] = digits.and_then(|bytes| bytes.try_into().ok()).ok_or(TenuoListError::Id { at })?;
        Ok(Entry::of_warrant(&id))
    };
    ids.iter().enumerate().map(entry).collect()
}
