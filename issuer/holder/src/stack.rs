//! What a holder reads of a warrant stack: the id of the last warrant, which the proof names, and for what it is good until
//! when. Nothing here is verified; a holder believes its issuer, and the verifier believes nobody.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use pact_mandate::cbor::{CborError, Reader};

use crate::error::SignError;

#[cfg(feature = "bridge")]
mod leaf;

const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

/// The id of the stack's last warrant.
pub fn unverified_leaf_id(stack_text: &str) -> Result<[u8; 16], SignError> {
    id_of(last_payload(&decode(stack_text)?)?.ok_or(SignError::EmptyStack)?)
}

/// What the stack's last warrant says of itself.
#[cfg(feature = "bridge")]
pub(crate) fn unverified_leaf(stack_text: &str) -> Result<leaf::Leaf, SignError> {
    let bytes = decode(stack_text)?;
    let payload = last_payload(&bytes)?.ok_or(SignError::EmptyStack)?;
    id_of(payload)?;
    Ok(leaf::Leaf::read(payload))
}

fn decode(stack_text: &str) -> Result<Vec<u8>, SignError> {
    let alphabet = if stack_text.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, ANY_PADDING).decode(stack_text).map_err(|_| SignError::NotBase64)
}

/// A stack is an array of envelopes `[version, payload, signature]`.
fn last_payload(stack: &[u8]) -> Result<Option<&[u8]>, CborError> {
    let mut reader = Reader::new(stack);
    let last = reader.array(|reader, count| {
        let mut last = None;
        for _ in 0..count {
            last = Some(reader.tuple(3, |reader| {
                reader.skip()?;
                let payload = reader.bytes()?;
                reader.skip()?;
                Ok::<_, CborError>(payload)
            })?);
        }
        Ok::<_, CborError>(last)
    })?;
    reader.finish()?;
    Ok(last)
}

/// A payload is a map whose first entries are 0 (the version) and 1 (the id).
fn id_of(payload: &[u8]) -> Result<[u8; 16], SignError> {
    let mut reader = Reader::new(payload);
    reader.map(|reader, count| {
        for _ in 0..count.min(2) {
            if reader.unsigned()? == 1 {
                return Ok(*reader.byte_array::<16>()?);
            }
            reader.skip()?;
        }
        Err(SignError::NoWarrantId)
    })
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;
    use tenuo::{ConstraintSet, SigningKey, Warrant, wire};

    use super::*;

    #[test]
    fn the_id_is_that_of_the_last_warrant() {
        let key = SigningKey::from_bytes(&[7; 32]);
        let root = Warrant::builder()
            .capability("read", ConstraintSet::new())
            .holder(key.public_key())
            .ttl(std::time::Duration::from_mins(1))
            .build(&key)
            .unwrap();
        let stack = wire::encode_stack(&wire::WarrantStack(vec![root.clone()])).unwrap();
        for text in [STANDARD.encode(&stack), URL_SAFE_NO_PAD.encode(&stack)] {
            assert_eq!(unverified_leaf_id(&text).unwrap(), *root.id().as_bytes());
        }
    }

    #[test]
    fn what_is_no_stack_is_refused() {
        assert_eq!(unverified_leaf_id("*"), Err(SignError::NotBase64));
        assert_eq!(unverified_leaf_id(&STANDARD.encode([0x80])), Err(SignError::EmptyStack));
        assert!(matches!(
            unverified_leaf_id(&STANDARD.encode([0x83, 1, 2, 3])),
            Err(SignError::NotAStack(_))
        ));
    }

    proptest! {
        #[test]
        fn any_bytes_are_answered(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = unverified_leaf_id(&STANDARD.encode(bytes));
        }
    }
}
