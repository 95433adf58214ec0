//! Rung 0: a credential as it came. Its size and its text form were looked at, and nothing else, so it answers nothing
//! but a hint that says so.

use std::{fmt, sync::Arc};

use base64::{
    Engine,
    engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD},
};
use pact_mandate::Format;
use sha2::{Digest, Sha256};

use crate::limits::{MAX_STACK_BYTES, MAX_TOKEN_BYTES};

/// A credential of which only size and text form are known.
#[derive(Clone)]
pub struct Presented {
    bytes: Arc<[u8]>,
    /// A Biscuit's text as it was sent, which the proof covers (protocol P4, `ath`). Tenuo's proofs cover an id.
    text: Option<Arc<str>>,
    format: Format,
    /// The SHA-256 of the bytes: what names it in logs, and by which its chain is cached (protocol C7).
    digest: [u8; 32],
}

/// What may be said of a credential that nobody verified: for logs, never for a decision (protocol M6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnverifiedHint {
    format: Format,
    bytes: usize,
    fingerprint: u64,
}

/// Why a text is no credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresentedFault {
    /// Nothing there.
    #[error("the {0} credential is empty")]
    Empty(Format),
    /// Longer than its format may be (protocol C1).
    #[error("the {format} credential is {found} characters long, at most {limit} are accepted")]
    TooLong {
        /// The format.
        format: Format,
        /// Its length as text.
        found: usize,
        /// The bound.
        limit: usize,
    },
    /// Not base64, or not the one text of its bytes.
    #[error(
        "the {0} credential is not base64 in its one form: one alphabet, full padding or none, no spaces"
    )]
    NotBase64(Format),
}

impl Presented {
    /// A Tenuo warrant stack: base64 in the standard or the url-safe alphabet, with its padding or without.
    pub fn tenuo(text: &str) -> Result<Presented, PresentedFault> {
        let bytes = decode(Format::Tenuo, text, MAX_STACK_BYTES, alphabet_of(text))?;
        Ok(Presented::new(bytes, None, Format::Tenuo))
    }

    /// A Biscuit token: base64 in the url-safe alphabet, with its padding or without, after an optional `biscuit:`.
    pub fn biscuit(text: &str) -> Result<Presented, PresentedFault> {
        let encoded = text.strip_prefix("biscuit:").unwrap_or(text);
        let bytes = decode(Format::Biscuit, encoded, MAX_TOKEN_BYTES, Alphabet::UrlSafe)?;
        Ok(Presented::new(bytes, Some(text.into()), Format::Biscuit))
    }

    fn new(bytes: Arc<[u8]>, text: Option<Arc<str>>, format: Format) -> Presented {
        let digest = Sha256::digest(&bytes).into();
        Presented { bytes, text, format, digest }
    }

    /// Its form, as its carrier named it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// What a log may say of it.
    pub fn unverified_hint(&self) -> UnverifiedHint {
        let fingerprint = self.digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte));
        UnverifiedHint { format: self.format, bytes: self.bytes.len(), fingerprint }
    }

    /// The SHA-256 of its bytes.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// For the walkers of this crate alone.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text as it was sent, where a proof covers it.
    pub(crate) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

impl fmt::Debug for Presented {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Presented({})", self.unverified_hint())
    }
}

impl UnverifiedHint {
    /// What its carrier called it.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The first 8 bytes of its SHA-256.
    pub fn fingerprint(&self) -> [u8; 8] {
        self.fingerprint.to_be_bytes()
    }
}

impl fmt::Display for UnverifiedHint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "unverified {} credential, {} bytes, sha256 {:016x}…",
            self.format, self.bytes, self.fingerprint
        )
    }
}

impl PresentedFault {
    /// The stable name of the refusal.
    pub fn code(&self) -> &'static str {
        match self {
            PresentedFault::Empty(_) => "credential_empty",
            PresentedFault::TooLong { .. } => "credential_too_long",
            PresentedFault::NotBase64(_) => "credential_not_base64",
        }
    }
}

/// Which of the two alphabets of RFC 4648 a text is written in.
#[derive(Clone, Copy)]
enum Alphabet {
    Standard,
    UrlSafe,
}

/// A text with both alphabets' own characters fails in either, so each text has at most one reading.
fn alphabet_of(text: &str) -> Alphabet {
    // Without an early end, so that the compiler looks at many bytes at once.
    let found = text.bytes().fold(0, |found, byte| found | u8::from(matches!(byte, b'-' | b'_')));
    if found > 0 { Alphabet::UrlSafe } else { Alphabet::Standard }
}

fn decode(format: Format, text: &str, most: usize, alphabet: Alphabet) -> Result<Arc<[u8]>, PresentedFault> {
    let limit = most.div_ceil(3).saturating_mul(4);
    if text.is_empty() {
        return Err(PresentedFault::Empty(format));
    }
    if text.len() > limit {
        return Err(PresentedFault::TooLong { format, found: text.len(), limit });
    }
    let bytes = engine(alphabet, text.ends_with('=')).decode(text);
    let bytes = bytes.map_err(|_| PresentedFault::NotBase64(format))?;
    if bytes.len() > most {
        Err(PresentedFault::TooLong { format, found: text.len(), limit })
    } else {
        Ok(bytes.into())
    }
}

/// Each engine wants the padding that its name says, whole, and refuses bits that no byte needs.
fn engine(alphabet: Alphabet, padded: bool) -> &'static GeneralPurpose {
    match (alphabet, padded) {
        (Alphabet::Standard, true) => &STANDARD,
        (Alphabet::Standard, false) => &STANDARD_NO_PAD,
        (Alphabet::UrlSafe, true) => &URL_SAFE,
        (Alphabet::UrlSafe, false) => &URL_SAFE_NO_PAD,
    }
}

/// The 64 bytes of a signature in any of the text forms in which a stack may come.
pub(crate) fn decode_signature(text: &str) -> Option<[u8; 64]> {
    // 64 bytes are 86 characters and two of padding.
    if text.len() > 88 {
        return None;
    }
    engine(alphabet_of(text), text.ends_with('=')).decode(text).ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn c1_a_credential_is_bounded_before_it_is_decoded() {
        let long = "A".repeat(MAX_TOKEN_BYTES * 2);
        assert!(matches!(Presented::biscuit(&long), Err(PresentedFault::TooLong { .. })));
        let just_over = URL_SAFE_NO_PAD.encode(vec![0; MAX_TOKEN_BYTES + 1]);
        assert!(matches!(Presented::biscuit(&just_over), Err(PresentedFault::TooLong { .. })));
        let whole = URL_SAFE_NO_PAD.encode(vec![0; MAX_TOKEN_BYTES]);
        assert!(Presented::biscuit(&whole).is_ok());
        let stack = STANDARD.encode(vec![0; MAX_STACK_BYTES + 1]);
        assert!(matches!(Presented::tenuo(&stack), Err(PresentedFault::TooLong { .. })));
        assert_eq!(Presented::tenuo("").unwrap_err(), PresentedFault::Empty(Format::Tenuo));
        assert_eq!(Presented::biscuit("biscuit:").unwrap_err(), PresentedFault::Empty(Format::Biscuit));
    }

    #[test]
    fn c2_a_stack_has_one_decoding_in_four_spellings() {
        for text in ["+/8=", "+/8", "-_8=", "-_8"] {
            assert_eq!(Presented::tenuo(text).unwrap().bytes(), [0xfb, 0xff], "{text}");
        }
        for text in ["+_8", "-/8=", "+/9=", "+/8==", "+/8 ", " +/8", "+/8=\n", "+/\n8", "=", "+", "+/8=+/8="]
        {
            assert_eq!(
                Presented::tenuo(text).unwrap_err(),
                PresentedFault::NotBase64(Format::Tenuo),
                "{text}"
            );
        }
    }

    #[test]
    fn c3_a_token_is_url_safe_and_keeps_its_text() {
        for text in ["-_8=", "-_8", "biscuit:-_8"] {
            let token = Presented::biscuit(text).unwrap();
            assert_eq!((token.bytes(), token.text()), (&[0xfb, 0xff][..], Some(text)));
        }
        for text in ["+/8=", "biscuit:biscuit:-_8", "Biscuit:-_8", "-_8=="] {
            assert_eq!(
                Presented::biscuit(text).unwrap_err(),
                PresentedFault::NotBase64(Format::Biscuit),
                "{text}"
            );
        }
    }

    #[test]
    fn m6_a_hint_says_unverified_and_shows_no_credential() {
        let token = Presented::biscuit("c2VjcmV0").unwrap();
        let shown = format!("{token:?} {}", token.unverified_hint());
        assert!(shown.contains("unverified") && !shown.contains("c2VjcmV0") && !shown.contains("secret"));
    }

    proptest! {
        #[test]
        fn whatever_text_comes_it_is_judged(text in "\\PC{0,64}") {
            let _ = (Presented::tenuo(&text), Presented::biscuit(&text), decode_signature(&text));
        }

        #[test]
        fn what_is_accepted_is_the_one_text_of_its_bytes(text in "[A-Za-z0-9+/=_-]{0,12}") {
            if let Ok(presented) = Presented::tenuo(&text) {
                let again = engine(alphabet_of(&text), text.ends_with('=')).encode(presented.bytes());
                // Without a padding there may be none to write.
                prop_assert!(again == text || URL_SAFE_NO_PAD.encode(presented.bytes()) == text
                    || STANDARD_NO_PAD.encode(presented.bytes()) == text);
            }
        }
    }
}
