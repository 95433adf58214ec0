//! What stands for itself in a JSON string. Most of a message is that, so it is looked at in blocks.

/// As many bytes as the compiler compares at once, or twice that.
const BLOCK: usize = 32;

/// How many bytes of the text come before the first that ends a string, begins an escape, or must be escaped.
pub(crate) fn plain_length(text: &[u8]) -> usize {
    let (blocks, _) = text.as_chunks::<BLOCK>();
    // Without an early end within a block, so that there is no branch for each byte.
    let is_plain = |block: &&[u8; BLOCK]| {
        block.iter().fold(0, |special, byte| special | u8::from(is_special(*byte))) == 0
    };
    let skipped = blocks.iter().take_while(is_plain).count().saturating_mul(BLOCK);
    let rest = text.get(skipped..).unwrap_or_default();
    skipped.saturating_add(rest.iter().position(|byte| is_special(*byte)).unwrap_or(rest.len()))
}

fn is_special(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_find_what_bytes_find(mut text in proptest::collection::vec(0x20u8..=255, 0..100), at in 0usize..100, special in prop_oneof![0u8..0x20, Just(b'"'), Just(b'\\')]) {
            if let Some(byte) = text.get_mut(at) {
                *byte = special;
            }
            let expected = text.iter().position(|byte| is_special(*byte)).unwrap_or(text.len());
            prop_assert_eq!(plain_length(&text), expected);
        }
    }
}
