//! A mandate becomes a credential that anyone can check offline.

pub mod biscuit;
mod link;
mod read_back;
pub mod tenuo;

#[cfg(test)]
pub(crate) mod tests;

use pact_mandate::{Action, Amount, Format, PublicKey, ScopeItem, UnixTime, ceilings::LimitName};

use crate::{
    limits::{DEFAULT_CREDENTIAL_SECONDS, MIN_CREDENTIAL_SECONDS},
    record::CredentialRecord,
};

/// What is asked of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    /// The agent's key: it must prove possession on every call.
    pub holder: PublicKey,
    /// The most seconds that the credential may live; the chain's own end comes first when it is earlier.
    /// Less than a minute counts as a minute.
    pub lifetime: u64,
    /// The time of the request.
    pub now: UnixTime,
}

/// A minted credential whose ids were not recorded yet: it leaves only through [`Export::release`].
#[must_use = "an export that is not released was minted for nothing"]
pub struct Export {
    record: CredentialRecord,
    text: String,
}

/// A credential that may leave: every id in it was recorded.
#[derive(Clone, PartialEq, Eq)]
pub struct Credential {
    record: CredentialRecord,
    text: String,
}

/// Every reason for which a chain cannot be exported. `link` counts from the root as 0.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The link grants nothing.
    #[error("link {link} grants nothing, so there is nothing to export")]
    EmptyScope {
        /// Which link.
        link: usize,
    },
    /// A scope of no known form.
    #[error("link {link}: the scope {item} is opaque; only action@project:name can be exported")]
    OpaqueScope {
        /// Which link.
        link: usize,
        /// The scope entry.
        item: ScopeItem,
    },
    /// A scope for more than one named tool.
    #[error("link {link}: the action of {item} is a pattern; name each tool instead")]
    PatternAction {
        /// Which link.
        link: usize,
        /// The scope entry.
        item: ScopeItem,
    },
    /// A tool name that the format keeps for itself.
    #[error("link {link}: {format} reserves the tool name {action} for itself")]
    ReservedTool {
        /// Which link.
        link: usize,
        /// The format.
        format: Format,
        /// The action.
        action: Action,
    },
    /// C4: the format's numbers cannot carry the amount exactly.
    #[error(
        "link {link}: the limit {name} of {amount} is not exact in {format} (below 2^53 millionths, at most what a double keeps)"
    )]
    InexactAmount {
        /// Which link.
        link: usize,
        /// The format.
        format: Format,
        /// The limit.
        name: LimitName,
        /// Its value.
        amount: Amount,
    },
    /// Tenuo: a child's capability names the same arguments as its parent's.
    #[error(
        "link {link} limits {name}, which no link above it does; Tenuo lets no link name an argument that its parent does not"
    )]
    LimitAddedBelow {
        /// Which link.
        link: usize,
        /// The limit.
        name: LimitName,
    },
    /// More of something than one credential of the format may have.
    #[error("link {link}: {count} {what}, a {format} credential has at most {limit}")]
    TooMany {
        /// Which link.
        link: usize,
        /// The format.
        format: Format,
        /// Of what.
        what: &'static str,
        /// How many there are.
        count: usize,
        /// The bound.
        limit: usize,
    },
    /// Larger than any verifier reads.
    #[error("the credential would be {bytes} bytes long, at most {limit} are read")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// A link ended.
    #[error("link {link} ended at {at}")]
    Expired {
        /// Which link.
        link: usize,
        /// When.
        at: UnixTime,
    },
    /// The crate that mints reads a clock of its own, and that clock disagrees with the time of the request.
    #[error(
        "the clock moved while minting: the request is of {asked}, the credential of {minted}; ask again"
    )]
    ClockDisagrees {
        /// The time of the request.
        asked: UnixTime,
        /// The time that the format's crate wrote.
        minted: UnixTime,
    },
    /// Tenuo's crate refused to mint.
    #[error("tenuo: {0}")]
    Tenuo(#[from] Box<::tenuo::Error>),
    /// Biscuit's crate refused to mint.
    #[error("biscuit: {0}")]
    Biscuit(#[from] Box<biscuit_auth::error::Token>),
    /// Mandates are not carried themselves.
    #[error("{0} is no form of a credential; tenuo and biscuit are")]
    NoCredential(Format),
    /// The signing key is none that the format takes.
    #[error("the signing key cannot sign {0} credentials")]
    UnusableKey(Format),
    /// What was minted was opened again as any verifier opens it, and refused. It did not leave.
    #[error("the minted {format} credential is refused by our own verifier ({refusal}); it was discarded")]
    Refused {
        /// The format.
        format: Format,
        /// Why.
        refusal: Box<pact_verifier::Refusal>,
    },
    /// What was minted was opened again and is not what was asked for. It did not leave.
    #[error(
        "the minted {format} credential does not open as what was asked for ({what}); it was discarded, please report this"
    )]
    NotReadBack {
        /// The format.
        format: Format,
        /// Which part differs.
        what: &'static str,
    },
}

impl Order {
    /// An order for a credential of the usual lifetime.
    pub const fn new(holder: PublicKey, now: UnixTime) -> Order {
        Order { holder, lifetime: DEFAULT_CREDENTIAL_SECONDS, now }
    }

    /// The latest end of the credential.
    pub(crate) fn latest_end(&self) -> UnixTime {
        self.now.plus(self.lifetime.max(MIN_CREDENTIAL_SECONDS))
    }
}

impl Export {
    pub(crate) const fn new(record: CredentialRecord, text: String) -> Export {
        Export { record, text }
    }

    /// What must be recorded.
    pub fn record(&self) -> &CredentialRecord {
        &self.record
    }

    /// Hands the record to `keep`; only when that succeeds does the credential come out.
    pub fn release<E>(self, keep: impl FnOnce(&CredentialRecord) -> Result<(), E>) -> Result<Credential, E> {
        keep(&self.record)?;
        Ok(Credential { record: self.record, text: self.text })
    }
}

impl std::fmt::Debug for Export {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Export").field("record", &self.record).finish_non_exhaustive()
    }
}

impl Credential {
    /// The credential's text form: standard base64 with padding (Tenuo), URL-safe base64 with padding (Biscuit).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What was recorded.
    pub fn record(&self) -> &CredentialRecord {
        &self.record
    }
}

impl std::fmt::Debug for Credential {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credential").field("record", &self.record).finish_non_exhaustive()
    }
}
