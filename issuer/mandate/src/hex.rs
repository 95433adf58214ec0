//! Hexadecimal in its one spelling here: lower case, two digits a byte. Ids, digests and lists are written in it.

/// The digits of `bytes`.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).map(char::from).collect()
}

/// The bytes of lower-case digits; `None` for anything else.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().copied().map(byte).collect()
}

/// Exactly `N` bytes of lower-case digits; `None` for anything else.
pub fn decode_exactly<const N: usize>(text: &str) -> Option<[u8; N]> {
    let (pairs, []) = text.as_bytes().as_chunks::<2>() else { return None };
    if pairs.len() != N {
        return None;
    }
    let mut bytes = [0; N];
    for (to, pair) in bytes.iter_mut().zip(pairs) {
        *to = byte(*pair)?;
    }
    Some(bytes)
}

fn byte([high, low]: [u8; 2]) -> Option<u8> {
    Some(value(high)? << 4 | value(low)?)
}

fn digit(nibble: u8) -> u8 {
    if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 }
}

fn value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_spelling() {
        assert_eq!(encode(&[0, 0x9a, 0xff]), "009aff");
        assert_eq!(decode("009aff"), Some(vec![0, 0x9a, 0xff]));
        assert_eq!(decode_exactly("009aff"), Some([0, 0x9a, 0xff]));
        assert_eq!(decode(""), Some(Vec::new()));
        for bad in ["0", "0g", "0A", "0x", "+a", "é"] {
            assert_eq!(decode(bad), None, "{bad}");
            assert_eq!(decode_exactly::<1>(bad), None, "{bad}");
        }
        for other_length in ["", "009a", "009aff00"] {
            assert_eq!(decode_exactly::<3>(other_length), None, "{other_length}");
        }
    }
}
