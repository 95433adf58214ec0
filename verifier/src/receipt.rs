//! Receipts: what a sidecar writes down of each decision (protocol M6, M7), and how that is read back.
//!
//! A receipt says who was allowed or refused what, by which lists, roots and policy. It holds no argument, no token and no
//! proof: the call is a keyed digest. Members that nobody verified are named `unverified_…`.

use std::fmt;

use pact_mandate::{Action, Format, IssuerId, KeyId, UnixTime, hex};
use serde::{Deserialize, Serialize};

use crate::act::ActName;

mod chain;
mod entry;
mod fault;
mod lines;
mod reader;
mod tally;
#[cfg(test)]
mod tests;

pub use entry::{After, Closed, Entry, Gap, Opened};
pub use fault::{ReceiptFault, WhyNoReceipt};
pub use lines::{Line, Lines};
pub use reader::{Keys, ReceiptReader};
pub use tally::Tally;

/// Bytes in lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hex<const N: usize>(pub [u8; N]);

/// The stable code of a refusal: 1 to 64 of a-z, 0-9 and `_`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Code(String);

/// A text that is no [`Code`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a code is 1 to 64 of a-z, 0-9 and '_'")]
pub struct NotACode;

/// One decision. Members are declared in their canonical order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// What was done to a session (protocol M4); such a decision has no call and no action.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub act: Option<ActName>,
    /// What the call amounts to by the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// When it was decided, by the sidecar's wall clock.
    pub at: UnixTime,
    /// HMAC-SHA-256 over the canonical call, under a key that only the sidecar has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Hex<32>>,
    /// Why not; absent in a permit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The credential, once its chain was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Credential>,
    /// What was decided.
    pub decision: Decision,
    /// In a sampled receipt: how many like it were not written since the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<u64>,
    /// The list that was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list: Option<ListAsked>,
    /// The digest of the policy.
    pub policy: Hex<32>,
    /// How possession was proven, once the chain was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof: Option<ProofMark>,
    /// The request's id, as its answer and the log have it.
    pub request: Hex<16>,
    /// The trace that the caller says it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Hex<16>>,
    /// The digest of the roots and of what each issuer may speak for.
    pub trust: Hex<32>,
    /// `pact-receipt/1`.
    pub typ: ReceiptTyp,
    /// What was presented, when nothing of it was verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unverified_credential: Option<Unverified>,
}

/// What a receipt's `typ` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReceiptTyp {
    /// The one version so far.
    #[default]
    #[serde(rename = "pact-receipt/1")]
    One,
}

/// What was decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// The call was let through; the receipt was written before it was forwarded.
    Permit,
    /// It was not.
    Refuse,
    /// An answer that was open was ended, because what had permitted it no longer held (protocol R9).
    End,
}

/// A credential whose chain was verified up to a trusted root.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Credential {
    /// Its format.
    pub format: Format,
    /// The thumbprint of the key that must prove possession; absent when none is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holder: Option<KeyId>,
    /// The ids of its warrants or blocks, root first.
    pub ids: Vec<String>,
    /// Whose root it hangs from.
    pub issuer: IssuerId,
    /// The thumbprint of that root's key.
    pub root: KeyId,
    /// The issuer that it was imported from (protocol C6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<IssuerId>,
}

/// How possession was proven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProofMark {
    /// By a proof for this one call at this one place (protocol P1, P4).
    Fresh,
    /// By a stock Tenuo client's proof (protocol P3).
    Stock,
    /// Not at all, as the configuration allows for this issuer (protocol P8).
    Bearer,
    /// Not at all: the call was refused.
    None,
}

/// A revocation list that was fresh when it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListAsked {
    /// Its age in whole seconds, by both clocks.
    pub age: u64,
    /// Its version.
    pub version: u64,
}

/// A credential of which only its bytes are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unverified {
    /// How many bytes.
    pub bytes: u64,
    /// What its carrier called it.
    pub format: Format,
    /// The first 8 bytes of their SHA-256.
    pub sha256: Hex<8>,
}

impl Receipt {
    /// Whether it holds what a decision of its kind has, and nothing that such a decision cannot have.
    pub fn is_consistent(&self) -> bool {
        let verified = self.credential.is_some();
        let refused = self.code.is_some();
        let marked = self.proof.is_some() == verified && !(verified && self.unverified_credential.is_some());
        let sampled = self.left_out.is_none() || !verified;
        marked
            && sampled
            && match self.decision {
                Decision::Permit => {
                    let called = self.action.is_some() && self.call.is_some() && self.act.is_none();
                    let acted = self.action.is_none() && self.call.is_none() && self.act.is_some();
                    let whole = verified && (called || acted);
                    whole && self.list.is_some() && !refused && self.proof != Some(ProofMark::None)
                }
                Decision::Refuse => {
                    let told = self.list.is_some() || self.call.is_some() || self.act.is_some();
                    refused && (verified || !told)
                }
                Decision::End => refused && self.left_out.is_none(),
            }
    }
}

impl Code {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Code {
    type Error = NotACode;

    fn try_from(text: String) -> Result<Code, NotACode> {
        let plain = text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        if plain && (1..=64).contains(&text.len()) { Ok(Code(text)) } else { Err(NotACode) }
    }
}

impl From<Code> for String {
    fn from(code: Code) -> String {
        code.0
    }
}

impl<const N: usize> fmt::Display for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl<const N: usize> fmt::Debug for Hex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl<const N: usize> Serialize for Hex<N> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de, const N: usize> Deserialize<'de> for Hex<N> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Hex<N>, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = hex::decode_exactly(&text);
        bytes
            .map(Hex)
            .ok_or_else(|| serde::de::Error::custom("not lower-case hexadecimal of the right length"))
    }
}
