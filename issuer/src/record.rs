//! What is kept of each mandate and of each credential. The library takes records and returns records; where they are
//! kept (a data folder, a database) is the caller's affair.

use std::{fmt, str::FromStr};

use pact_mandate::{AgentId, Authentic, Format, KeyId, Mandate, MandateId, PublicKey, Signed, UnixTime, hex};
use pact_revocation::Entry;
use serde::{Deserialize, Serialize};

const WARRANT_PREFIX: &str = "tnu_wrt_";

/// A mandate as it was signed, with what must be known of it without opening it.
///
/// The copies beside the signed text find records and draw trees; nothing is believed because of them:
/// [`crate::UnrevokedChain::verify`] opens the text itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MandateRecord {
    /// Its id.
    pub id: MandateId,
    /// The mandate that it was made from; none at the root.
    pub parent: Option<MandateId>,
    /// Who granted it: a person at the root, else the parent's holder.
    pub granted_by: String,
    /// Who holds it.
    pub holder: AgentId,
    /// First second at which it no longer counts.
    pub expires_at: UnixTime,
    /// The mandate itself.
    pub signed: Signed<Mandate>,
    /// When it was revoked by name. What stands below a revoked mandate is dead without a mark of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<UnixTime>,
}

/// One credential: the ids that were minted for it, and for which mandates. The credential's text is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CredentialRecord {
    /// Its form.
    pub format: Format,
    /// The mandate that was exported.
    pub mandate: MandateId,
    /// The key that must prove possession.
    pub holder: PublicKey,
    /// The mandate key that signed it.
    pub key: KeyId,
    /// When it was minted.
    pub issued_at: UnixTime,
    /// First second at which it no longer counts.
    pub expires_at: UnixTime,
    /// Its links or blocks, root first. Never empty: the last id names the credential.
    pub minted: Vec<Minted>,
}

/// One link or block of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Minted {
    /// The mandate that it stands for.
    pub mandate: MandateId,
    /// Its own id.
    pub id: CredentialId,
    /// First second at which it no longer counts.
    pub expires_at: UnixTime,
}

/// The id by which a credential's link or block is revoked.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum CredentialId {
    /// A Tenuo warrant: `tnu_wrt_` and 32 lower-case hex digits.
    Warrant([u8; 16]),
    /// A Biscuit block, by its signature: 128 lower-case hex digits.
    Block([u8; 64]),
}

/// A text that is no credential's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a credential's id is tnu_wrt_ and 32 lower-case hex digits (Tenuo), or 128 lower-case hex digits (Biscuit)"
)]
pub struct NotACredentialId;

impl From<&Authentic<Mandate>> for MandateRecord {
    fn from(authentic: &Authentic<Mandate>) -> MandateRecord {
        let mandate = authentic.statement();
        MandateRecord {
            id: mandate.id(),
            parent: mandate.parent_id(),
            granted_by: mandate.issuer().to_owned(),
            holder: mandate.holder().clone(),
            expires_at: mandate.validity().expires_at,
            signed: authentic.signed().clone(),
            revoked_at: None,
        }
    }
}

impl CredentialRecord {
    /// The id of its last link or block, which names the whole credential.
    pub fn id(&self) -> Option<CredentialId> {
        self.minted.last().map(|minted| minted.id)
    }
}

impl CredentialId {
    /// Of which format it is.
    pub fn format(&self) -> Format {
        match self {
            CredentialId::Warrant(_) => Format::Tenuo,
            CredentialId::Block(_) => Format::Biscuit,
        }
    }

    /// What our list holds of it.
    pub fn entry(&self) -> Entry {
        match self {
            CredentialId::Warrant(id) => Entry::of_warrant(id),
            CredentialId::Block(signature) => Entry::of_block(signature),
        }
    }
}

impl FromStr for CredentialId {
    type Err = NotACredentialId;

    fn from_str(text: &str) -> Result<CredentialId, NotACredentialId> {
        match text.strip_prefix(WARRANT_PREFIX) {
            Some(digits) => Ok(CredentialId::Warrant(hex::decode_exactly(digits).ok_or(NotACredentialId)?)),
            None => Ok(CredentialId::Block(hex::decode_exactly(text).ok_or(NotACredentialId)?)),
        }
    }
}

impl TryFrom<String> for CredentialId {
    type Error = NotACredentialId;

    fn try_from(text: String) -> Result<CredentialId, NotACredentialId> {
        text.parse()
    }
}

impl From<CredentialId> for String {
    fn from(id: CredentialId) -> String {
        id.to_string()
    }
}

impl fmt::Display for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (prefix, bytes) = match self {
            CredentialId::Warrant(id) => (WARRANT_PREFIX, id.as_slice()),
            CredentialId::Block(signature) => ("", signature.as_slice()),
        };
        write!(f, "{prefix}{}", hex::encode(bytes))
    }
}

impl fmt::Debug for CredentialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CredentialId({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_credential_id_has_one_text() {
        for text in ["tnu_wrt_000102030405060708090a0b0c0d0eff", &"0f".repeat(64)] {
            assert_eq!(text.parse::<CredentialId>().unwrap().to_string(), text);
        }
        let upper = "tnu_wrt_000102030405060708090A0B0C0D0EFF";
        for text in ["", "tnu_wrt_", "00", upper, &"0F".repeat(64), &"0f".repeat(65), &"ä".repeat(64)] {
            assert_eq!(text.parse::<CredentialId>(), Err(NotACredentialId), "{text}");
        }
    }
}
