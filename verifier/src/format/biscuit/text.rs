//! The text form: URL-safe base64, with or without padding, perhaps after `biscuit:`.

use base64::{
    Engine,
    alphabet::URL_SAFE,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use super::fault::BiscuitFault;
use crate::limits::MAX_TOKEN_BYTES;

const PREFIX: &str = "biscuit:";
/// Both paddings occur in the wild; trailing bits must be zero, as the configuration has it.
const EITHER_PADDING: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of a token's text. Nothing longer than the largest token is decoded.
pub fn decode(text: &str) -> Result<Vec<u8>, BiscuitFault> {
    let text = text.strip_prefix(PREFIX).unwrap_or(text);
    if text.len() > MAX_TOKEN_BYTES.div_ceil(3) * 4 {
        return Err(BiscuitFault::TooLarge { limit: MAX_TOKEN_BYTES });
    }
    EITHER_PADDING.decode(text).map_err(|_| BiscuitFault::NotBase64)
}
