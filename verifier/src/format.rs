//! The formats of credentials: each has one `open` that turns bytes into facts, or refuses.

pub mod biscuit;
pub mod tenuo;

use pact_mandate::{Action, IssuerId, Judged, KeyId, PublicKey, UnixTime, key::Thumbprint};
use pact_revocation::Entry;

use crate::{policy::Open, refusal::Refusal};

/// What a format's walker found out about a credential whose every signature, link and lifetime it judged.
/// Seen inside this crate alone; `VerifiedChain` is made of it.
#[derive(Debug)]
pub(crate) struct Opened {
    /// Whose root it hangs from.
    pub(crate) issuer: IssuerId,
    /// The root key that really verified it.
    pub(crate) root: KeyId,
    /// That key's thumbprint, whatever its issuer calls it; `None` for bytes that no [`crate::TrustSnapshot`] holds.
    pub(crate) root_thumbprint: Option<Thumbprint>,
    /// The key that must prove possession; `None` for a Biscuit without a holder.
    pub(crate) holder: Option<PublicKey>,
    /// What the root gave out first: the first holder's key, or the first block where the format has one holder a token
    /// (protocol P6: the shares of the replay store).
    pub(crate) grant: Entry,
    /// Ids of its links or blocks, root first, in their format's text form.
    pub(crate) ids: Vec<String>,
    /// Everything by which a list could stop it: links or blocks, mandates, keys (root, issuers, holder).
    pub(crate) entries: Vec<Entry>,
    /// The earliest end of any link: it must be read again then.
    pub(crate) expires_at: UnixTime,
    /// The issuer that it was imported from (protocol C6).
    pub(crate) source: Option<IssuerId>,
    /// What it allows.
    pub(crate) authority: Authority,
}

/// What a credential allows, in its own format.
#[derive(Debug)]
pub(crate) enum Authority {
    /// The last warrant's capabilities.
    Tenuo(tenuo::Leaf),
    /// The token, for the engine.
    Biscuit(biscuit::Token),
}

impl Authority {
    /// Whether the credential allows the call at that time. Where something of the call is `open`, only what is certain
    /// counts: it is refused when every call that is known so far would be.
    pub(crate) fn permits(&self, call: &Judged, open: &Open, now: UnixTime) -> Result<(), Refusal> {
        match self {
            Authority::Tenuo(leaf) => Ok(leaf.permits(call, open)?),
            Authority::Biscuit(token) => Ok(token.permits(call, open, now)?),
        }
    }

    /// The arguments without which it allows no call of this action: what it limits.
    pub(crate) fn limit_keys(&self, action: &Action) -> Vec<&str> {
        match self {
            Authority::Tenuo(leaf) => leaf.limit_keys(action),
            Authority::Biscuit(token) => token.limit_keys().collect(),
        }
    }
}
