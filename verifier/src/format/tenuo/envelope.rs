//! The outermost layer: signed payloads, root first. Nothing within a payload is looked at here but the issuer's key.

use pact_mandate::{
    Signature,
    cbor::{CborError, Reader},
};

use super::fault::{FormFault, StackFault, TenuoFault};
use crate::limits::{MAX_STACK_BYTES, MAX_WARRANT_BYTES, MAX_WARRANTS};

/// The context of every signature by which Tenuo's keys sign.
const CONTEXT: &[u8] = b"tenuo-warrant-v1";
const VERSION: u8 = 1;
const ED25519: u64 = 1;
const ISSUER_FIELD: u64 = 5;

/// One signed warrant, nothing of it believed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<'a> {
    pub(super) payload: &'a [u8],
    pub(super) signature: Signature,
}

/// Takes a stack apart. A single warrant, which begins with a number instead of a warrant, is a stack of one.
pub(super) fn split(stack: &[u8]) -> Result<Vec<Envelope<'_>>, TenuoFault> {
    if stack.len() > MAX_STACK_BYTES {
        return Err(StackFault::TooLarge(stack.len()).into());
    }
    let mut reader = Reader::new(stack);
    let envelopes = if is_single(stack) {
        vec![Envelope::read(&mut reader).map_err(|fault| TenuoFault::Form { link: 0, fault })?]
    } else {
        reader.array(read_all).map_err(|Found(fault)| fault)?
    };
    reader.finish().map_err(StackFault::Encoding)?;
    Ok(envelopes)
}

/// A fault of the stack or of one of its warrants.
struct Found(TenuoFault);

impl From<CborError> for Found {
    fn from(error: CborError) -> Found {
        Found(StackFault::Encoding(error).into())
    }
}

/// Three parts, of which the first is a version. A stack of three begins with an array.
fn is_single(stack: &[u8]) -> bool {
    matches!(stack, [0x83, first, ..] if first >> 5 == 0)
}

fn read_all<'a>(reader: &mut Reader<'a>, count: usize) -> Result<Vec<Envelope<'a>>, Found> {
    match count {
        0 => Err(Found(StackFault::Empty.into())),
        1..=MAX_WARRANTS => {
            let one = |link| Envelope::read(reader).map_err(|fault| Found(TenuoFault::Form { link, fault }));
            (0..count).map(one).collect()
        }
        _ => Err(Found(StackFault::TooDeep(count).into())),
    }
}

impl<'a> Envelope<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Envelope<'a>, FormFault> {
        let start = reader.position();
        let envelope = reader.tuple(3, |reader| {
            match reader.unsigned()? {
                1 => {}
                other => return Err(FormFault::UnknownVersion(other)),
            }
            let payload = reader.bytes()?;
            let signature = Signature::from_bytes(*read_ed25519(reader)?);
            Ok(Envelope { payload, signature })
        })?;
        let bytes = reader.position() - start;
        if bytes > MAX_WARRANT_BYTES { Err(FormFault::TooLarge(bytes)) } else { Ok(envelope) }
    }

    /// The bytes that were signed.
    pub(super) fn signed_bytes(&self) -> Vec<u8> {
        [CONTEXT, &[VERSION], self.payload].concat()
    }

    /// The key that the payload names as its issuer: a hint, which says under which root the signature is tried.
    pub(super) fn unverified_issuer(&self) -> Result<&'a [u8; 32], FormFault> {
        let mut reader = Reader::new(self.payload);
        reader.map(|reader, count| {
            for _ in 0..count {
                if reader.unsigned()? == ISSUER_FIELD {
                    return read_ed25519(reader);
                }
                reader.skip()?;
            }
            Err(FormFault::MissingField(ISSUER_FIELD))
        })
    }
}

/// `[1, bytes]`: a key or a signature with its algorithm.
pub(super) fn read_ed25519<'a, const N: usize>(reader: &mut Reader<'a>) -> Result<&'a [u8; N], FormFault> {
    reader.tuple(2, |reader| match reader.unsigned()? {
        ED25519 => Ok(reader.byte_array()?),
        other => Err(FormFault::UnknownAlgorithm(other)),
    })
}
