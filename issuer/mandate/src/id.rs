//! Ids, each its own type with one textual form.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::MAX_ID_CHARS;

/// The id of a mandate: a UUID, written in lower case with dashes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct MandateId(Uuid);

/// A text that is not an id of the wanted kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not {kind}: {wanted}")]
pub struct IdError {
    kind: &'static str,
    wanted: &'static str,
}

impl MandateId {
    /// A version 4 UUID made of 16 random bytes.
    pub fn from_random(bytes: [u8; 16]) -> MandateId {
        MandateId(uuid::Builder::from_random_bytes(bytes).into_uuid())
    }

    /// The 16 bytes.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl FromStr for MandateId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<MandateId, IdError> {
        let error = IdError { kind: "a mandate id", wanted: "a UUID in lower case with dashes" };
        let id = Uuid::try_parse(text).map_err(|_| error.clone())?;
        if id.as_hyphenated().to_string() == text { Ok(MandateId(id)) } else { Err(error) }
    }
}

impl TryFrom<String> for MandateId {
    type Error = IdError;

    fn try_from(text: String) -> Result<MandateId, IdError> {
        text.parse()
    }
}

impl From<MandateId> for String {
    fn from(id: MandateId) -> String {
        id.to_string()
    }
}

impl fmt::Display for MandateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_hyphenated().fmt(f)
    }
}

impl fmt::Debug for MandateId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MandateId({self})")
    }
}

/// A type around one checked text: `$test` decides, `$wanted` says what would have been right.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $kind:literal, $wanted:literal, $test:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<$name, IdError> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<$name, IdError> {
                let test: fn(&str) -> bool = $test;
                if test(&text) { Ok($name(text)) } else { Err(IdError { kind: $kind, wanted: $wanted }) }
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self.0)
            }
        }
    };
}

text_id!(
    /// A registered person. Every chain of authority starts with one.
    HumanId,
    "a person's id",
    "1 to 200 printable characters without spaces",
    is_plain
);
text_id!(
    /// A software identity that holds mandates.
    AgentId,
    "an agent's id",
    "1 to 63 of a-z, 0-9 and '-', not starting with '-'",
    is_slug
);
text_id!(
    /// Who publishes keys and lists and signs credentials, by the name that a verifier's configuration gives it.
    IssuerId,
    "an issuer's id",
    "1 to 200 printable characters without spaces",
    is_plain
);

text_id!(
    /// One request to get a credential anew: 16 random bytes, so that it counts once.
    ReissueId,
    "a request's id",
    "32 digits of lower-case hex",
    |text| text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
);

impl ReissueId {
    /// The id of 16 random bytes.
    pub fn from_random(bytes: [u8; 16]) -> ReissueId {
        ReissueId(crate::hex::encode(&bytes))
    }
}

/// 1 to 200 characters, none of them white space or a control.
fn is_plain(text: &str) -> bool {
    let mut chars = text.chars();
    !text.is_empty()
        && chars.by_ref().take(MAX_ID_CHARS).all(|c| !c.is_whitespace() && !c.is_control())
        && chars.next().is_none()
}

/// `[a-z0-9][a-z0-9-]{0,62}`: the form of agents' ids and of projects.
pub(crate) fn is_slug(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    text.len() <= 63 && text.bytes().next().is_some_and(plain) && text.bytes().all(|b| plain(b) || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mandate_id_has_one_text() {
        let text = "11111111-1111-4111-8111-11111111111a";
        assert_eq!(text.parse::<MandateId>().unwrap().to_string(), text);
        for other in [
            "11111111-1111-4111-8111-11111111111A",
            "1111111111114111811111111111111a",
            "{11111111-1111-4111-8111-11111111111a}",
            "",
        ] {
            assert!(other.parse::<MandateId>().is_err(), "{other}");
        }
    }

    #[test]
    fn ids_are_bounded_and_printable() {
        assert!("code-web".parse::<AgentId>().is_ok());
        for bad in ["", "-a", "A", "a b", "ä", &"a".repeat(64)] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
        assert!("boss@example.org".parse::<HumanId>().is_ok());
        for bad in ["", "a b", "a\u{7}", "a\u{a0}", &"a".repeat(201)] {
            assert!(bad.parse::<HumanId>().is_err(), "{bad}");
        }
    }
}
